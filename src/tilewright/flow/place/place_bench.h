// All mappers on the same graphs, at equal evaluations and at equal processor time, compared with the proven
// optimum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/place/place.h"

namespace tilewright {

struct BenchGraph {
  std::string name;
  cgra::MappingProblem problem;
};

struct PlaceBenchRequest {
  std::vector<BenchGraph> graphs;
  PlaceMethod policy;                          // of policy_method
  std::vector<int64_t> evaluations{64, 1000};  // complete placements
  double processor_seconds = 0.1;              // the other budget, per graph and seed
  double most_seconds = 60;                    // of the exact mapper, per graph
  int seeds = 5;                               // of methods that draw
};

// One method on one graph with one budget.
struct BenchRun {
  std::string method, graph, budget;  // budget: evaluations as text, "time", or "own" (until it ends)
  uint64_t seed = 0;
  int makespan = 0;  // of a mapping that the checker accepts; 0: none
  double gap = 0;    // over the reference; 1 without a mapping
  int64_t evaluations = 0;
  double processor_seconds = 0;
};

struct BenchReference {
  std::string graph;
  int nodes = 0, ii = 0;
  int makespan = 0;     // the exact mapper's
  int reference = 0;    // what gaps are relative to: the proven optimum, otherwise the proven lower bound
  bool proven = false;  // makespan == reference
};

// Means over graphs and seeds.
struct BenchSummary {
  std::string method, budget;
  double gap = 0, processor_seconds = 0;
  int runs = 0, at_reference = 0, missing = 0;
};

struct PlaceBenchReport {
  std::vector<BenchReference> graphs;
  std::vector<BenchRun> runs;
  std::vector<BenchSummary> summary;  // by method, then budget
};

// For random places, annealing, evolution and the policy, the processor time is converted into the
// evaluations that fill it, from their speed in a shorter run; the runs report the time they took. List
// scheduling makes one schedule under every budget. Leaves of branch and bound are its evaluations, and
// processor_seconds its limit in clock time under every budget. Errors (infeasible): graphs that have no
// mapping, all at once.
PlaceBenchReport bench_methods(const PlaceBenchRequest& request);

// For people, for machines, one line per run, and the mean gaps as bars.
std::string bench_text(const PlaceBenchReport& report);
std::string bench_json(const PlaceBenchReport& report);
std::string bench_csv(const PlaceBenchReport& report);
std::string bench_picture(const PlaceBenchReport& report);

}  // namespace tilewright
