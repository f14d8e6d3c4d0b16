// Exploration of hardware and schedules together: Algorithm 1 of the tuning paper (paper 002). The outer loop
// draws candidates - points of a space of machines - with a probability that grows with their predicted
// performance, and changes the most important knobs most often; the inner loop, a job on a worker, tunes the
// schedules of a whole network on one candidate. The backend defines its machines, area, clock and closed
// forms.
//
// The result is the front of latency against utilisation, the share of its scarcest resource that a machine
// takes of the device. A candidate whose lower bound a member of the front covers can never enter it: it is
// dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/search/knobs/knob_space.h"
#include "tilewright/search/pareto.h"
#include "tilewright/tune/fleet/executor.h"

namespace tilewright::tune {

// What closed forms say about a candidate.
struct CandidateFacts {
  double utilisation = 0;  // largest share of one of the device's resources; above 1 it does not fit
  int scarcest = 0;        // which one: an index into ExplorationBackend::resources()
  double clock_mhz = 0;
  double bound_s = 0;    // of the network: no schedules are faster
  double peak_gops = 0;  // two operations per multiply-accumulate
};

// What the inner loop found.
struct CandidateResult {
  KnobSpace::Point point = 0;
  std::string content;  // of the hardware when it was worked on (ExplorationBackend::content)
  int64_t cycles = 0;   // of the network; 0: it failed
  std::string failure;  // why
  int64_t trials = 0;   // schedules that were measured
  double worker_s = 0;
  std::string details;  // JSON of the backend: the schedules
};

class ExplorationBackend {
 public:
  virtual ~ExplorationBackend() = default;
  virtual const KnobSpace& space() const = 0;
  // Names of the device's resources, in the order of needs().
  virtual const std::vector<std::string>& resources() const = 0;
  // Called by several threads at once, as are the others.
  virtual CandidateFacts judge(KnobSpace::Point point) const = 0;
  struct Need {
    int64_t need = 0, have = 0;
  };
  virtual std::vector<Need> needs(KnobSpace::Point point) const = 0;
  // The text that a candidate's hardware is made of: equal texts, equal hardware.
  virtual std::string content(KnobSpace::Point point) const = 0;
  // The job that tunes the network on a candidate with this many trials per layer; 0: default schedules.
  virtual Job job(KnobSpace::Point point, int64_t trials) const = 0;
  // Reads a worker's reply: cycles, trials and details of the result. Errors (invalid input): another form.
  virtual CandidateResult read_reply(const std::string& reply) const = 0;
};

// A candidate that fits, with what decides whether it can still matter.
struct Candidate {
  KnobSpace::Point point = 0;
  float bound_s = 0, utilisation = 0;
};

// Every valid point of a space, evaluated; or, if time ran out, those of a random part of it.
struct Screening {
  bool complete = true;
  int64_t points = 0, valid = 0;
  std::vector<Candidate> fitting;  // by point
  std::vector<int64_t> short_of;   // by resource: valid points for which it is the most exceeded one
  KnobSpace::Point nearest = 0;    // of those that do not fit, the one that takes least
  double nearest_utilisation = 0;  // 0: all fit
  // A point that fits is in `fitting`.
  const Candidate* find(KnobSpace::Point point) const;
};
Screening screen(const ExplorationBackend& backend, int threads, const Deadline* deadline = nullptr);
// Throws an Error (infeasible) if no candidate fits: what the smallest one lacks, and how much of it.
void require_fitting(const ExplorationBackend& backend, const Screening& screening,
                     const std::string& device);

using ExplorationFront = ParetoFront<double, 2, KnobSpace::Point>;  // latency in s, utilisation

struct ExplorationOptions {
  int64_t trials = 32;     // per layer and candidate
  int64_t candidates = 0;  // at most this many are tuned, known ones included; 0: no limit
  double budget_s = 0;     // 0: no limit; the first round, a started one and known results always count
  const Deadline* deadline = nullptr;  // ends rounds too; of an interrupted round, finished results count
  int round = 8;                       // candidates drawn at a time
  double epsilon = 0.1;                // share of a round that is drawn evenly
  uint64_t seed = 1;
  std::vector<double> importance;  // by knob, known before; empty: all the same
};

struct ExplorationProgress {
  int64_t evaluated = 0, failed = 0, known = 0;  // known: from an earlier run
  int64_t alive = 0, pruned = 0;                 // not worked on: may still enter the front; cannot
  double seconds = 0;
  double best_s = 0;       // 0: none yet
  double model_error = 0;  // of the round's predictions of latency: median, relative
  size_t front = 0;
};

struct ExplorationResult {
  ExplorationProgress end;
  ExplorationFront front;
  std::vector<CandidateResult> evaluated;  // in the order drawn
  bool exhausted = false;                  // no candidate is left: no other can enter the front
  std::vector<double> importance;          // by knob: of the final model, for latency
};

// Known results, by point.
using KnownResults = std::map<KnobSpace::Point, CandidateResult>;

struct ExplorationHooks {
  // Of new results, each round's together, before anything is built on them.
  std::function<void(const std::vector<CandidateResult>&)> keep;
  // After every round; false ends the exploration.
  std::function<bool(const ExplorationProgress&)> progress;
};

// The same for the same seed, whatever part of it was `known`, unless a limit in seconds ends it. Errors:
// (invalid input) options out of range; (infeasible) every candidate of the first round failed.
ExplorationResult explore(const ExplorationBackend& backend, const Screening& screening,
                          JobExecutor& executor, const ExplorationOptions& options,
                          const KnownResults& known = {}, const ExplorationHooks& hooks = {});

// Works on exactly `points`; those that are known are taken from there. In the order of `points`; what
// `deadline`, if any, stops is left out, and the executor's jobs are dropped.
std::vector<CandidateResult> evaluate_candidates(const ExplorationBackend& backend, JobExecutor& executor,
                                                 const std::vector<KnobSpace::Point>& points, int64_t trials,
                                                 const KnownResults& known, const ExplorationHooks& hooks,
                                                 const Deadline* deadline = nullptr);

// The front of results, failures left out.
ExplorationFront front_of(const ExplorationBackend& backend, const std::vector<CandidateResult>& results);

}  // namespace tilewright::tune
