// Groups micro-ops by a counting sort on the destination. Its tables have an entry per ACC element and are
// cleared by starting a new epoch. All plans are dropped when together they would exceed 2^22 steps.
#include "tilewright/overlay/isa/uop_plan.h"

#include <algorithm>

namespace tilewright::overlay {

void UopPlanCache::next_epoch() {
  if (stamp_.empty()) {
    stamp_.assign(accumulator_depth_, 0);
    group_of_.assign(accumulator_depth_, 0);
  }
  if (++epoch_ == 0) {
    std::fill(stamp_.begin(), stamp_.end(), 0);
    epoch_ = 1;
  }
}

void UopPlanCache::build(const std::vector<MicroOp>& uops, uint32_t begin, uint32_t end, UopPlan& plan) {
  cached_steps_ -= plan.steps.size();
  if (cached_steps_ + (end - begin) > kMaxCachedSteps) {
    for (UopPlan& slot : slots_) slot = UopPlan{};
    cached_steps_ = 0;
  }
  plan = UopPlan{};
  plan.begin = begin;
  plan.end = end;
  for (uint32_t u = begin; u < end; ++u) {
    plan.min_dst = std::min(plan.min_dst, uops[u].dst);
    plan.min_src = std::min(plan.min_src, uops[u].src);
    plan.max_dst = std::max(plan.max_dst, uops[u].dst);
    plan.max_src = std::max(plan.max_src, uops[u].src);
    plan.max_wgt = std::max(plan.max_wgt, uops[u].wgt);
    plan.any_overwrite |= uops[u].overwrite;
  }
  if (plan.max_dst >= accumulator_depth_) return;
  next_epoch();
  for (uint32_t u = begin; u < end; ++u) {
    const MicroOp& op = uops[u];
    if (stamp_[op.dst] != epoch_) {
      stamp_[op.dst] = epoch_;
      group_of_[op.dst] = uint32_t(plan.groups.size());
      plan.groups.push_back({op.dst, 0, 0, false});
    }
    GemmGroup& group = plan.groups[group_of_[op.dst]];
    if (op.overwrite) group = {op.dst, 0, 0, true};
    ++group.count;
  }
  uint32_t first = 0;
  for (GemmGroup& group : plan.groups) {
    group.first = first;
    first += group.count;
  }
  plan.steps.resize(first);
  // Filled from the back, so that what an overwrite made void is what finds no room.
  std::vector<uint32_t> room(plan.groups.size());
  for (size_t g = 0; g < room.size(); ++g) room[g] = plan.groups[g].count;
  for (uint32_t u = end; u-- > begin;) {
    const uint32_t g = group_of_[uops[u].dst];
    if (room[g] > 0) plan.steps[plan.groups[g].first + --room[g]] = {uops[u].src, uops[u].wgt};
  }
  cached_steps_ += plan.steps.size();
}

void UopPlanCache::invalidate(uint32_t begin, uint32_t end) {
  for (UopPlan& plan : slots_) {
    if (plan.begin < end && begin < plan.end) {
      cached_steps_ -= plan.steps.size();
      plan.begin = plan.end = 0;
      plan.steps.clear();
      plan.groups.clear();
    }
  }
}

bool UopPlanCache::destinations_distinct(const UopPlan& plan, const LoopNest& loop) {
  const uint64_t visits = uint64_t{loop.iter_out} * loop.iter_in * plan.groups.size();
  if (visits > accumulator_depth_) return false;
  if (loop.iter_out == 1 && loop.iter_in == 1) return true;
  next_epoch();
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      const uint32_t offset = y * loop.dst_factor_out + x * loop.dst_factor_in;
      for (const GemmGroup& group : plan.groups) {
        uint32_t& stamp = stamp_[group.dst + offset];
        if (stamp == epoch_) return false;
        stamp = epoch_;
      }
    }
  }
  return true;
}

}  // namespace tilewright::overlay
