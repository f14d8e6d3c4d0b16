// The choices of a dimension are found once, from the innermost slot outwards, by following every reachable
// cover; those from which the dimension cannot be completed are dropped on the way back.
#include "tilewright/spatial/mapspace/mapspace_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/search/deadline.h"
#include "tilewright/spatial/cost/cost.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxEntries = 4'000'000;

int64_t fixed_factor(const std::vector<int64_t>& fixed, int dimension) {
  return fixed.empty() ? kFree : fixed[size_t(dimension)];
}

}  // namespace

MapspaceChoices::MapspaceChoices(const Mapspace& mapspace, const Deadline* deadline)
    : mapspace_(mapspace),
      levels_(int(mapspace.hardware.levels.size())),
      dimensions_(mapspace.workload.dimension_count()),
      constraints_(mapspace.constraints) {
  constraints_.resize(size_t(levels_));
  const Hierarchy hierarchy = array_hierarchy(mapspace.hardware, mapspace.workload);
  const int spaces = mapspace.workload.data_space_count();
  for (int l = 0; l < levels_; ++l) {
    uint32_t must = constraints_[size_t(l)].must_keep, may = hierarchy.levels[size_t(l)].may_keep;
    may &= ~constraints_[size_t(l)].must_bypass & ((1u << spaces) - 1);
    for (int space = 0; space < spaces; ++space) {
      const uint32_t role = 1u << int(data_role(mapspace.workload, space));
      if (l == 0 || (mapspace.hardware.levels[size_t(l)].must_keep & role) != 0) must |= 1u << space;
    }
    keeps_.emplace_back();
    for (uint32_t kept = 0; kept < (1u << spaces); ++kept) {
      if ((kept & ~may) == 0 && (must & ~kept) == 0) keeps_.back().push_back(kept);
    }
  }
  choices_.resize(size_t(slots() * dimensions_));
  for (int d = 0; d < dimensions_; ++d) complete(0, d, 1, deadline);
}

bool MapspaceChoices::allowed(int slot, int dimension, int64_t covered, int64_t factor) const {
  const int level = level_of(slot);
  const LevelConstraints& limits = constraints_[size_t(level)];
  const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
  const int64_t left = ceil_div(mapspace_.workload.dimensions[size_t(dimension)].size, covered);
  if (factor > left || (!mapspace_.imperfect && left % factor != 0)) return false;
  const SlotKind kind = kind_of(slot);
  if (kind == SlotKind::kX && factor > machine.fanout_x) return false;
  if (kind == SlotKind::kY && factor > machine.fanout_y) return false;
  const int64_t fixed = fixed_factor(kind == SlotKind::kX   ? limits.spatial_x
                                     : kind == SlotKind::kY ? limits.spatial_y
                                                            : limits.temporal,
                                     dimension);
  return fixed == kFree || fixed == factor;
}

bool MapspaceChoices::complete(int slot, int dimension, int64_t covered, const Deadline* deadline) {
  const int64_t size = mapspace_.workload.dimensions[size_t(dimension)].size;
  if (slot == slots()) return covered >= size;
  const auto key = size_t(slot * dimensions_ + dimension);
  if (const auto known = choices_[key].find(covered); known != choices_[key].end()) {
    return known->second.completes;
  }
  if (deadline != nullptr) deadline->check();
  const int64_t left = ceil_div(size, covered);
  std::vector<int64_t> candidates;
  const bool last = slot == slots() - 1;
  const SlotKind kind = kind_of(slot);
  const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level_of(slot))];
  const int64_t most = kind == SlotKind::kX   ? std::min(left, machine.fanout_x)
                       : kind == SlotKind::kY ? std::min(left, machine.fanout_y)
                                              : left;
  for (int64_t factor = last ? left : 1; factor <= most; ++factor) {
    if (!mapspace_.imperfect && factor * factor > left && kind == SlotKind::kTemporal && !last) break;
    if (!mapspace_.imperfect && left % factor != 0) continue;
    candidates.push_back(factor);
    // The partner of a divisor up to the root is the divisor beyond it.
    const int64_t partner = left / factor;
    if (!mapspace_.imperfect && kind == SlotKind::kTemporal && !last && partner != factor) {
      candidates.push_back(partner);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  Choices found;
  for (const int64_t factor : candidates) {
    if (allowed(slot, dimension, covered, factor) &&
        complete(slot + 1, dimension, covered * factor, deadline)) {
      found.factors.push_back(factor);
    }
  }
  found.completes = !found.factors.empty();
  entries_ += int64_t(found.factors.size()) + 1;
  if (entries_ > kMaxEntries) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("dimension {} of size {} has too many factors to list",
                            mapspace_.workload.dimensions[size_t(dimension)].name, size),
                "fix some of its factors, or take perfect factors");
  }
  const bool completes = found.completes;
  choices_[key].emplace(covered, std::move(found));
  return completes;
}

std::span<const int64_t> MapspaceChoices::factors(int slot, int dimension, int64_t covered) const {
  const auto& choices = choices_[size_t(slot * dimensions_ + dimension)];
  const auto found = choices.find(covered);
  return found == choices.end() ? std::span<const int64_t>() : std::span(found->second.factors);
}

std::vector<int64_t> MapspaceChoices::covers(int slot, int dimension) const {
  std::vector<int64_t> covers;
  for (const auto& [covered, choices] : choices_[size_t(slot * dimensions_ + dimension)]) {
    if (choices.completes) covers.push_back(covered);
  }
  std::sort(covers.begin(), covers.end());
  return covers;
}

std::vector<int> MapspaceChoices::constrained_order(int level,
                                                    const std::vector<int>& free_dimensions) const {
  const std::vector<int>& innermost = constraints_[size_t(level)].innermost;
  std::vector<int> order;
  const auto listed = [&](int d) { return std::find(innermost.begin(), innermost.end(), d); };
  for (const int d : free_dimensions) {
    if (listed(d) == innermost.end()) order.push_back(d);
  }
  for (auto d = innermost.rbegin(); d != innermost.rend(); ++d) {
    if (std::find(free_dimensions.begin(), free_dimensions.end(), *d) != free_dimensions.end()) {
      order.push_back(*d);
    }
  }
  return order;
}

SlotMapping MapspaceChoices::flatten(const Mapping& mapping) const {
  const uint32_t spaces = (1u << mapspace_.workload.data_space_count()) - 1;
  SlotMapping flat;
  flat.factors.assign(size_t(slots() * dimensions_), 1);
  for (int l = 0; l < levels_; ++l) {
    const MappingLevel& level = mapping.levels[size_t(l)];
    flat.keeps.push_back(level.keeps & spaces);
    std::vector<int>& order = flat.orders.emplace_back();
    const auto factor = [&](SlotKind kind, int d) -> int64_t& {
      return flat.factors[size_t(slot_of(l, kind) * dimensions_ + d)];
    };
    for (const TemporalLoop& loop : level.temporal) {
      if (loop.factor == 1) continue;
      factor(SlotKind::kTemporal, loop.dimension) = loop.factor;
      order.push_back(loop.dimension);
    }
    for (const SpatialLoop& loop : level.spatial)
      factor(loop.axis == SpatialAxis::kX ? SlotKind::kX : SlotKind::kY, loop.dimension) *= loop.factor;
  }
  return flat;
}

Mapping MapspaceChoices::build(const SlotMapping& flat) const {
  const uint32_t spaces = (1u << mapspace_.workload.data_space_count()) - 1;
  Mapping mapping;
  for (int l = 0; l < levels_; ++l) {
    MappingLevel level;
    level.name = mapspace_.hardware.levels[size_t(l)].name;
    // Bits beyond the data spaces are set, as they read back from text.
    level.keeps = flat.keeps[size_t(l)] | ~spaces;
    const auto factor = [&](SlotKind kind, int d) {
      return flat.factors[size_t(slot_of(l, kind) * dimensions_ + d)];
    };
    for (const int d : flat.orders[size_t(l)]) level.temporal.push_back({d, factor(SlotKind::kTemporal, d)});
    for (const SlotKind kind : {SlotKind::kY, SlotKind::kX}) {
      for (int d = 0; d < dimensions_; ++d) {
        if (factor(kind, d) == 1) continue;
        level.spatial.push_back(
            {d, factor(kind, d), kind == SlotKind::kX ? SpatialAxis::kX : SpatialAxis::kY});
      }
    }
    mapping.levels.push_back(std::move(level));
  }
  return mapping;
}

}  // namespace tilewright
