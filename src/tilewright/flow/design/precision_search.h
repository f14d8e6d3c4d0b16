// Bits per layer for a budget: the least loss that a part of the 8-bit design's resources, or of its cycles,
// allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/flow/design/design_report.h"
#include "tilewright/flow/design/precision_study.h"
#include "tilewright/search/separable.h"

namespace tilewright {

// What a design may need: of resources that are not named as much as with 8 bits, of cycles, too.
struct PrecisionLimits {
  synthesis::Resources resources;
  int64_t cycles = 0;
};
// "lut=0.5,dsp=100,cycles=0.9": a number of at most 1 is a share of `reference`. Errors (invalid input): all
// names and numbers that are wrong.
PrecisionLimits precision_limits(const std::string& text, const pipeline::Estimate& reference,
                                 int64_t reference_cycles);
// The first resource that is named (the look-up tables, where none is): what the front is drawn over.
int64_t synthesis::Resources::*spared_resource(const std::string& text);
const char* resource_text(int64_t synthesis::Resources::*resource);

// Losses and needs that add up: the noise that each width alone adds to the outputs, and what each stage
// needs at its widths when it takes at most so many cycles of an image.
class PrecisionModel {
 public:
  // widths: ascending. The study must outlive it.
  PrecisionModel(PrecisionStudy& study, const pipeline::Budget& budget,
                 const std::vector<double>& stage_cycles, const std::vector<int>& widths, int threads);

  // Losses while everything else has the bits of `around`. Chosen from are those one step wider and up to
  // `steps` narrower.
  void measure(const PrecisionBits& around, int steps);

  struct Choice {
    PrecisionBits bits;
    double loss = 0;  // noise over signal, beside that around which it was measured
    synthesis::Resources need;
  };
  // Within the limits, by rising loss, each with less of the resource.
  std::vector<Choice> front(const synthesis::Resources& limits, int64_t synthesis::Resources::*resource,
                            const Deadline* deadline) const;

 private:
  struct Stage {
    std::vector<int> variables;
    std::vector<std::vector<synthesis::Resources>> needs;  // as SeparableProblem::Term::options
  };
  Choice choice_of(const SeparableSolution& solution) const;

  PrecisionStudy& study_;
  const std::vector<int> widths_;
  std::vector<Stage> stages_;
  synthesis::Resources frame_;
  PrecisionBits around_;  // of the losses
  int steps_ = 0;
  std::vector<std::vector<std::optional<double>>> losses_;  // by variable and width; none: not to be chosen
};

struct PrecisionSearchRequest {
  PrecisionStudy::Request study;  // what it spares: spared_resource(limits)
  std::string limits;             // of precision_limits
  std::vector<int> widths = {2, 3, 4, 5, 6, 7, 8};
  int64_t points = 8;  // of the front, besides those near the limit
  // What trains the weights at the bits that are chosen; none: nothing does. Its seconds are those of all
  // trainings together.
  std::optional<FineTuneOptions> fine_tune = FineTuneOptions{};
};

// How training went.
struct PrecisionTraining {
  std::string problem;    // why there was none; empty: there was, or none was wanted
  int64_t trained = 0;    // choices that keep the limits, the best ones
  bool kept = false;      // the chosen point is one of them after training
  PrecisionPoint before;  // the best point without training
};

struct PrecisionSearchResult {
  std::vector<std::string> layer_names, class_names;
  std::vector<int64_t> layer_weights;
  PrecisionPoint reference;  // 8 bits everywhere
  PrecisionLimits limits;
  int64_t synthesis::Resources::*resource = nullptr;
  int64_t reference_cycles = 0;
  bool latency = true, labelled = false;
  int64_t float_right = 0;
  // Measured, by what they need of the resource: each loses less than all before it.
  std::vector<PrecisionPoint> front;
  int64_t measured = 0;  // points, those beside the front included
  PrecisionPoint chosen;
  PrecisionTraining training;
  Graph quantized;  // QDQ
  QuantizeReport report;
};

// From 8 bits down towards the least that the model knows, in steps of the resource: each step takes the
// better of two choices, that of the model around 8 bits and that of the model around the step before, and is
// measured as a design and on the samples between. Near the limit the model is measured again around its own
// choice until nothing gets better. Of what keeps the limits, the points with the most right answers (of as
// many, those with the least noise) are trained on what they were fitted to, and the best of all is taken,
// trained or not. Errors: those of PrecisionStudy and precision_limits;
// (infeasible) no bits keep the limits, with the least that was reached; the deadline came before there was a
// choice.
PrecisionSearchResult search_precision(const Graph& float_graph, const PrecisionSearchRequest& request);

// What the report of a design says of the choice.
PrecisionPoints precision_points(const PrecisionSearchResult& result);
std::string to_string(const PrecisionSearchResult& result);
// An object; no newline behind it.
std::string to_json(const PrecisionSearchResult& result);

}  // namespace tilewright
