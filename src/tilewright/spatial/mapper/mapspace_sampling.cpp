// Slots are filled from the innermost outwards, dimensions in random order. A draw starts at a random legal
// factor and steps down until the loops fit the axis and the tiles fit every memory that keeps them, or to
// the smallest factor. One neighbour in five moves a loop, one in ten changes what is kept, the others
// redraw factors.
#include "tilewright/spatial/mapper/mapspace_sampling.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tilewright {
namespace {

// Changes that leave a mapping as it is are tried again.
constexpr int kTries = 4;

template <typename Range>
auto pick(const Range& range, Random& random) {
  return range[size_t(random.between(0, int64_t(range.size()) - 1))];
}

}  // namespace

MapspaceSampling::MapspaceSampling(const Mapspace& mapspace, const MapperOptions& options,
                                   const Deadline* deadline)
    : mapspace_(mapspace),
      options_(options),
      choices_(mapspace, deadline),
      evaluator_(mapspace, choices_, options.rules),
      scale_(mapspace) {
  for (int d = 0; d < choices_.dimensions(); ++d) {
    if (mapspace.workload.dimensions[size_t(d)].size > 1) long_.push_back(d);
  }
  for (int l = 0; l < choices_.levels(); ++l) {
    if (choices_.keeps(l).size() > 1) choosy_.push_back(l);
  }
  for (int slot = 0; slot + 1 < choices_.slots(); ++slot) {
    const ArrayLevel& level = mapspace.hardware.levels[size_t(choices_.level_of(slot))];
    const SlotKind kind = choices_.kind_of(slot);
    if (kind == SlotKind::kX ? level.fanout_x > 1 : kind == SlotKind::kTemporal || level.fanout_y > 1)
      open_.push_back(slot);
  }
}

SlotMapping MapspaceSampling::sample(Random& random) const {
  SlotMapping mapping;
  mapping.factors.assign(size_t(choices_.slots() * choices_.dimensions()), 1);
  mapping.orders.resize(size_t(choices_.levels()));
  for (int l = 0; l < choices_.levels(); ++l) mapping.keeps.push_back(pick(choices_.keeps(l), random));
  std::vector<int> all(static_cast<size_t>(choices_.dimensions()));
  std::iota(all.begin(), all.end(), 0);
  draw(mapping, std::move(all), 0, random);
  repair_orders(mapping, random);
  return mapping;
}

void MapspaceSampling::draw(SlotMapping& mapping, std::vector<int> drawn, int first, Random& random) const {
  const int dimensions = choices_.dimensions();
  std::vector<bool> stays(size_t(dimensions), true);
  for (const int d : drawn) stays[size_t(d)] = false;
  // Of a dimension that stays, what it covers at the end of the slot's level.
  std::vector<int64_t> cover(size_t(dimensions), 1);
  const auto cover_slots = [&](int begin, int end, bool staying) {
    for (int slot = begin; slot < end; ++slot) {
      for (int d = 0; d < dimensions; ++d) {
        if (stays[size_t(d)] == staying) cover[size_t(d)] *= factor(mapping, slot, d);
      }
    }
  };
  cover_slots(0, first, false);
  cover_slots(0, first - first % kSlotsPerLevel, true);
  for (int slot = first; slot < choices_.slots(); ++slot) {
    const int level = choices_.level_of(slot);
    const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
    const SlotKind kind = choices_.kind_of(slot);
    if (slot == first || kind == SlotKind::kX) {
      const int begin = slot - slot % kSlotsPerLevel;
      cover_slots(begin, begin + kSlotsPerLevel, true);
    }
    int64_t room = kind == SlotKind::kX   ? machine.fanout_x
                   : kind == SlotKind::kY ? machine.fanout_y
                                          : std::numeric_limits<int64_t>::max();
    for (int d = 0; d < dimensions; ++d) {
      if (stays[size_t(d)]) room /= factor(mapping, slot, d);
    }
    for (size_t i = drawn.size(); i > 1; --i) {
      std::swap(drawn[i - 1], drawn[size_t(random.between(0, int64_t(i) - 1))]);
    }
    for (const int d : drawn) {
      int64_t& covered = cover[size_t(d)];
      const int64_t inside = covered;
      const std::span<const int64_t> factors = choices_.factors(slot, d, inside);
      factor(mapping, slot, d) = 1;
      if (factors.empty()) continue;  // a fixed factor elsewhere that this mapping cannot meet
      int64_t at = random.between(0, int64_t(factors.size()) - 1);
      const bool barred = kind == SlotKind::kY && choices_.constraints(level).one_axis_per_dimension &&
                          factor(mapping, slot - 1, d) > 1;
      for (;; --at) {
        const int64_t f = factors[size_t(at)];
        covered = inside * f;
        if (at == 0 || (f <= room && !barred && evaluator_.fits(mapping.keeps, level, cover))) break;
      }
      factor(mapping, slot, d) = factors[size_t(at)];
      room /= factors[size_t(at)];
    }
  }
}

void MapspaceSampling::redraw(SlotMapping& mapping, Random& random) const {
  std::vector<int> drawn = long_;
  const size_t count = std::min<size_t>(drawn.size(), size_t(random.between(1, 3)));
  for (size_t i = 0; i < count; ++i)
    std::swap(drawn[i], drawn[size_t(random.between(int64_t(i), std::ssize(drawn) - 1))]);
  drawn.resize(count);
  draw(mapping, std::move(drawn), pick(open_, random), random);
}

bool MapspaceSampling::move_loop(SlotMapping& mapping, Random& random) const {
  std::vector<int> levels;
  for (int l = 0; l < choices_.levels(); ++l) {
    if (mapping.orders[size_t(l)].size() > 1) levels.push_back(l);
  }
  if (levels.empty()) return false;
  const int level = pick(levels, random);
  std::vector<int>& order = mapping.orders[size_t(level)];
  const auto from = order.begin() + random.between(0, int64_t(order.size()) - 1);
  const int d = *from;
  order.erase(from);
  order.insert(order.begin() + random.between(0, int64_t(order.size())), d);
  order = choices_.constrained_order(level, order);
  return true;
}

void MapspaceSampling::change_keeps(SlotMapping& mapping, Random& random) const {
  const int level = pick(choosy_, random);
  mapping.keeps[size_t(level)] = pick(choices_.keeps(level), random);
}

void MapspaceSampling::repair_orders(SlotMapping& mapping, Random& random) const {
  for (int l = 0; l < choices_.levels(); ++l) {
    std::vector<int>& order = mapping.orders[size_t(l)];
    const int slot = choices_.slot_of(l, SlotKind::kTemporal);
    std::erase_if(order, [&](int d) { return factor(mapping, slot, d) == 1; });
    for (int d = 0; d < choices_.dimensions(); ++d) {
      if (factor(mapping, slot, d) == 1 || std::find(order.begin(), order.end(), d) != order.end()) continue;
      order.insert(order.begin() + random.between(0, int64_t(order.size())), d);
    }
    order = choices_.constrained_order(l, order);
  }
}

void MapspaceSampling::change(SlotMapping& mapping, Random& random) const {
  const double kind = random.uniform();
  if (kind < 0.2 && move_loop(mapping, random)) return;
  if (kind < 0.3 && !choosy_.empty()) return change_keeps(mapping, random);
  if (long_.empty() || open_.empty()) return;
  redraw(mapping, random);
  repair_orders(mapping, random);
}

SlotMapping MapspaceSampling::neighbour(const SlotMapping& mapping, Random& random) const {
  SlotMapping next = mapping;
  for (int tries = 0; tries < kTries && next == mapping; ++tries) change(next, random);
  return next;
}

SlotMapping MapspaceSampling::crossover(const SlotMapping& a, const SlotMapping& b, Random& random) const {
  SlotMapping child = a;
  for (int d = 0; d < choices_.dimensions(); ++d) {
    if (random.chance(0.5)) continue;
    for (int slot = 0; slot < choices_.slots(); ++slot) {
      factor(child, slot, d) = b.factors[size_t(slot * choices_.dimensions() + d)];
    }
  }
  for (size_t l = 0; l < child.keeps.size(); ++l) {
    if (random.chance(0.5)) child.keeps[l] = b.keeps[l];
  }
  repair_orders(child, random);
  return child;
}

std::optional<MapValue> MapspaceSampling::cost(const SlotMapping& mapping) const {
  if (!evaluator_.valid(mapping)) return {};
  const SlotCost cost = evaluator_.cost(mapping);
  if (options_.max_cycles && cost.cycles > *options_.max_cycles) return {};
  return map_value(options_.objective, scale_.key(cost.energy), cost.cycles);
}

}  // namespace tilewright
