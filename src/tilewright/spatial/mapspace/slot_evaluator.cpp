// cost() flattens the slots into the fixed arrays of FastEvaluator where that applies, and otherwise builds
// the mapping and counts its accesses in closed form. valid() walks from the innermost level outwards,
// multiplies the tiles up and checks at each level only the tile that is new there.
#include "tilewright/spatial/mapspace/slot_evaluator.h"

#include <algorithm>
#include <array>

namespace tilewright {

SlotEvaluator::SlotEvaluator(const Mapspace& mapspace, const MapspaceChoices& choices, const CostRules& rules)
    : mapspace_(mapspace), choices_(choices), rules_(rules), networks_(counting_networks(mapspace.hardware)) {
  for (const ArrayLevel& level : mapspace.hardware.levels) {
    Limits limits{level.capacity_words, {}, level.copies};
    for (int space = 0; space < mapspace.workload.data_space_count(); ++space) {
      limits.reserved.push_back(level.role_capacity_words[size_t(data_role(mapspace.workload, space))]);
    }
    limits_.push_back(std::move(limits));
  }
  if (!mapspace.imperfect) fast_ = FastEvaluator::make(mapspace.workload, mapspace.hardware, rules);
}

bool SlotEvaluator::fits(std::span<const uint32_t> keeps, int level, std::span<const int64_t> cover) const {
  const Workload& workload = mapspace_.workload;
  constexpr size_t kMostSpaces = 32;
  std::array<int64_t, kMaxMapperDimensions> extents{};
  for (size_t d = 0; d < cover.size(); ++d) extents[d] = std::min(cover[d], workload.dimensions[d].size);
  std::array<int64_t, kMostSpaces> words;
  words.fill(-1);
  for (int l = 1; l <= level; ++l) {
    const Limits& limits = limits_[size_t(l)];
    int64_t shared = 0;
    for (size_t space = 0; space < limits.reserved.size(); ++space) {
      if ((keeps[size_t(l)] >> space & 1u) == 0) continue;
      const int64_t reserved = limits.reserved[space];
      if (reserved == kUnlimitedWords && limits.shared == kUnlimitedWords) continue;
      if (words[space] < 0) {
        words[space] = held_words(workload.data_spaces[space], std::span(extents).first(cover.size()),
                                  rules_.accounting);
      }
      const int64_t needed = words[space] * limits.copies;
      if (reserved == kUnlimitedWords) {
        shared += needed;
      } else if (needed > reserved) {
        return false;
      }
    }
    if (limits.shared != kUnlimitedWords && shared > limits.shared) return false;
  }
  return true;
}

bool SlotEvaluator::valid(const SlotMapping& mapping) const {
  const int dimensions = choices_.dimensions();
  std::vector<int64_t> cover(size_t(dimensions), 1);
  // Only the tile of the level itself is new at each level, so levels are checked one by one.
  std::vector<uint32_t> keeps(mapping.keeps.size(), 0);
  for (int level = choices_.levels() - 1; level >= 0; --level) {
    const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
    int64_t x = 1, y = 1;
    for (int d = 0; d < dimensions; ++d) {
      const auto factor = [&](SlotKind kind) {
        return mapping.factors[size_t(choices_.slot_of(level, kind) * dimensions + d)];
      };
      const int64_t fx = factor(SlotKind::kX), fy = factor(SlotKind::kY);
      if (fx > 1 && fy > 1 && choices_.constraints(level).one_axis_per_dimension) return false;
      x *= fx;
      y *= fy;
      if (x > machine.fanout_x || y > machine.fanout_y) return false;
      cover[size_t(d)] *= fx * fy * factor(SlotKind::kTemporal);
    }
    keeps[size_t(level)] = mapping.keeps[size_t(level)];
    if (!fits(keeps, level, cover)) return false;
    keeps[size_t(level)] = 0;
  }
  return true;
}

AccessCounts SlotEvaluator::counts(const SlotMapping& mapping) const {
  return count_accesses(mapspace_.workload, choices_.build(mapping), networks_, rules_.accounting);
}

FlatMapping SlotEvaluator::flatten(const SlotMapping& mapping) const {
  FlatMapping flat;
  for (auto& level : flat.temporal) level.fill(1);
  flat.spatial_x.fill(1);
  flat.spatial_y.fill(1);
  flat.loops.fill(0);
  flat.keeps.fill(0);
  for (size_t l = 0; l < size_t(choices_.levels()); ++l) {
    const std::vector<int>& order = mapping.orders[l];
    const auto factor = [&](SlotKind kind, size_t d) {
      return uint16_t(mapping.factors[size_t(choices_.slot_of(int(l), kind) * choices_.dimensions()) + d]);
    };
    flat.keeps[l] = uint8_t(mapping.keeps[l]);
    flat.loops[l] = uint8_t(order.size());
    for (size_t i = 0; i < order.size(); ++i) flat.order[l][i] = uint8_t(order[order.size() - 1 - i]);
    for (size_t d = 0; d < size_t(choices_.dimensions()); ++d) {
      flat.temporal[l][d] = factor(SlotKind::kTemporal, d);
      if (int(l) != fast_->spatial_level()) continue;
      flat.spatial_x[d] = factor(SlotKind::kX, d);
      flat.spatial_y[d] = factor(SlotKind::kY, d);
    }
  }
  return flat;
}

SlotCost SlotEvaluator::cost(const SlotMapping& mapping) const {
  if (fast_) {
    const FastCost cost = fast_->evaluate(flatten(mapping));
    TILEWRIGHT_CHECK(cost.valid, "an invalid mapping reached the evaluator");
    return {cost.energy, cost.cycles};
  }
  const Cost cost = cost_of_counts(mapspace_.workload, mapspace_.hardware, counts(mapping), rules_);
  return {cost.energy, cost.cycles};
}

}  // namespace tilewright
