// What the searches of both shapes share: how an allocation is evaluated, and what they return.
#pragma once

#include <array>
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
  Judge(const Budget& budget, Objective objective, const AllocateOptions& options = {})
      : budget_(budget),
        objective_(objective),
        enough_cycles_(options.enough_cycles),
        sparing_(options.sparing) {}
  const Budget& budget() const { return budget_; }
  Objective objective() const { return objective_; }

  int64_t cycles(const Estimate& e) const {
    return counted(objective_ == Objective::kLatency ? e.latency_cycles : e.interval_cycles);
  }
  // As many as are enough, where they are fewer.
  int64_t counted(int64_t cycles) const { return std::max(enough_cycles_, cycles); }
  // All that are over the budget.
  std::vector<Shortage> shortages(const Estimate& estimate) const;
  // Needs as shares of what there is: LUT, FF, DSP, BRAM, URAM, multipliers.
  std::array<double, 6> shares(const synthesis::Resources& need, int64_t multipliers) const;
  // The largest of them; at most 1 if it fits.
  double pressure(const synthesis::Resources& need, int64_t multipliers) const;
  double pressure(const Estimate& e) const { return pressure(e.resources, e.multipliers); }
  bool fits(const Estimate& e) const { return pressure(e) <= 1; }
  // Of what fits in the same cycles, the least is the best: the pressure, or the share of what is to be
  // spared.
  double cost(const synthesis::Resources& need, int64_t multipliers) const;
  // Fitting before not fitting; then fewer cycles, or less pressure among those that do not fit.
  bool better(const Estimate& a, const Estimate& b) const;
  void keep(std::optional<AllocationCandidate>& best, const AllocationCandidate& candidate) const {
    if (!best || better(candidate.estimate, best->estimate)) best = candidate;
  }
  Judge for_other_objective() const {
    Judge other = *this;
    other.objective_ = objective_ == Objective::kLatency ? Objective::kThroughput : Objective::kLatency;
    return other;
  }

 private:
  Budget budget_;
  Objective objective_;
  int64_t enough_cycles_;
  int64_t synthesis::Resources::*sparing_;
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

// What holds for all designs of a shape that the allocator knows; of processors, for those of up to eight
// inputs and outputs at a time.
struct ShapeLimits {
  std::optional<synthesis::Resources> least;  // none needs less of a resource, each taken alone
  bool none_fits = false;                     // each is short of something
};
// Nothing is known of a shape that has no designs, or if the deadline came first.
ShapeLimits stage_limits(const Network& network, const Estimator& estimator, const Budget& budget,
                         const AllocateOptions& options);
ShapeLimits processor_limits(const Network& network, const Estimator& estimator, const Budget& budget,
                             const AllocateOptions& options);

// Which layer got which multipliers and why; what bounds each layer.
std::string explain(const Network& network, const Budget& budget, const AllocationResult& result);

// The smaller need of each resource.
synthesis::Resources smaller_of(const synthesis::Resources& a, const synthesis::Resources& b);

// All divisors, ascending.
std::vector<int64_t> divisors(int64_t n);

}  // namespace tilewright::pipeline
