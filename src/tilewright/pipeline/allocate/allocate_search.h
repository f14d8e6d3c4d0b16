// What the searches of both shapes share: how an allocation is evaluated, and what they return.
#pragma once

#include <optional>

#include "tilewright/pipeline/allocate/allocate.h"

namespace tilewright::pipeline {

struct AllocationCandidate {
  Allocation allocation;
  Estimate estimate;
};

// Need against budget, for the five resources and the multipliers.
struct Shortage {
  const char* resource = "";
  int64_t need = 0, have = 0;
};

class Judge {
 public:
  Judge(const Budget& budget, Objective objective) : budget_(budget), objective_(objective) {}
  const Budget& budget() const { return budget_; }
  Objective objective() const { return objective_; }

  int64_t cycles(const Estimate& e) const {
    return objective_ == Objective::kLatency ? e.latency_cycles : e.interval_cycles;
  }
  // All that are over the budget.
  std::vector<Shortage> shortages(const Estimate& estimate) const;
  // The largest need as a share of what there is; at most 1 if it fits.
  double pressure(const synthesis::Resources& need, int64_t multipliers) const;
  double pressure(const Estimate& e) const { return pressure(e.resources, e.multipliers); }
  bool fits(const Estimate& e) const { return pressure(e) <= 1; }
  // Fitting before not fitting; then fewer cycles, or less pressure among those that do not fit.
  bool better(const Estimate& a, const Estimate& b) const;
  void keep(std::optional<AllocationCandidate>& best, const AllocationCandidate& candidate) const {
    if (!best || better(candidate.estimate, best->estimate)) best = candidate;
  }
  Judge for_other_objective() const {
    return {budget_, objective_ == Objective::kLatency ? Objective::kThroughput : Objective::kLatency};
  }

 private:
  Budget budget_;
  Objective objective_;
};

// What a search for one objective found. Its finds serve the other objective as well, so a design for one
// objective is never worse at it than a design for the other.
struct ShapeSearch {
  std::optional<AllocationCandidate> best;   // fits, or is the nearest to it
  std::optional<AllocationCandidate> other;  // the same, for the other objective
  bool proven = false;
  int64_t evaluated = 0;
  std::string obstacle;  // why the network has no such shape at all, where nothing was found

  void offer(const Judge& judge, const AllocationCandidate& candidate) {
    ++evaluated;
    judge.keep(best, candidate);
    judge.for_other_objective().keep(other, candidate);
  }
};

ShapeSearch search_stages(const Network& network, const Estimator& estimator, const Judge& judge,
                          const AllocateOptions& options);
ShapeSearch search_processors(const Network& network, const Estimator& estimator, const Judge& judge,
                              const AllocateOptions& options);

// Which layer got which multipliers and why; what bounds each layer.
std::string explain(const Network& network, const Budget& budget, const AllocationResult& result);

// All divisors, ascending.
std::vector<int64_t> divisors(int64_t n);

}  // namespace tilewright::pipeline
