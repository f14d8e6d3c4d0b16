// Preparation of a range of micro-ops so that it can run fast: its largest indices (so that one comparison
// per instruction replaces one per operand), and for GEMM its micro-ops grouped by destination, so that a
// kernel keeps one accumulator in registers over a whole reduction. Accumulation is modular, so the order
// inside a GEMM is free; an overwriting micro-op cancels those before it on the same destination.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

struct GemmStep {
  uint32_t src = 0, wgt = 0;
};
struct GemmGroup {
  uint32_t dst = 0;
  uint32_t first = 0, count = 0;  // in steps
  bool overwrite = false;         // starts from zero instead of from ACC[dst]
};

struct UopPlan {
  uint32_t begin = 0, end = 0;
  uint32_t max_dst = 0, max_src = 0, max_wgt = 0;
  uint32_t min_dst = UINT32_MAX, min_src = UINT32_MAX;
  bool any_overwrite = false;
  std::vector<GemmGroup> groups;  // one per distinct dst
  std::vector<GemmStep> steps;
};

// Plans by micro-op range, dropped when a load changes a micro-op inside.
class UopPlanCache {
 public:
  explicit UopPlanCache(int64_t accumulator_depth) : accumulator_depth_(size_t(accumulator_depth)) {}
  // The plan of uops[begin, end), begin < end. `dst` beyond the ACC depth is reported through max_dst; such a
  // plan has no groups. Valid until the next call.
  const UopPlan& get(const std::vector<MicroOp>& uops, uint32_t begin, uint32_t end) {
    UopPlan& plan = slots_[(begin * 31 + end) % kSlots];
    if (plan.begin != begin || plan.end != end) build(uops, begin, end, plan);
    return plan;
  }
  void invalidate(uint32_t begin, uint32_t end);
  // Whether (y, x, group) -> ACC index hits no index twice, so that the groups may run in any order.
  bool destinations_distinct(const UopPlan& plan, const LoopNest& loop);

 private:
  static constexpr size_t kSlots = 128;
  static constexpr size_t kMaxCachedSteps = size_t{1} << 22;
  void build(const std::vector<MicroOp>& uops, uint32_t begin, uint32_t end, UopPlan& plan);
  size_t accumulator_depth_;
  std::vector<UopPlan> slots_ = std::vector<UopPlan>(kSlots);
  size_t cached_steps_ = 0;
  // group_of_[dst] is valid where stamp_[dst] == epoch_.
  std::vector<uint32_t> group_of_, stamp_;
  uint32_t epoch_ = 0;
  void next_epoch();
};

}  // namespace tilewright::overlay
