#include "tilewright/spatial/mapspace_sampling.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tilewright {
namespace {

template <typename Range>
auto pick(const Range& range, Random& random) {
  return range[size_t(random.between(0, int64_t(range.size()) - 1))];
}

int64_t random_prime_factor(int64_t number, Random& random) {
  std::vector<int64_t> primes;
  for (int64_t p = 2; p * p <= number; ++p) {
    if (number % p != 0) continue;
    primes.push_back(p);
    while (number % p == 0) number /= p;
  }
  if (number > 1) primes.push_back(number);
  return pick(primes, random);
}

}  // namespace

MapspaceSampling::MapspaceSampling(const Mapspace& mapspace, const MapperOptions& options)
    : mapspace_(mapspace),
      options_(options),
      choices_(mapspace),
      evaluator_(mapspace, choices_, options.rules),
      scale_(mapspace) {}

SlotMapping MapspaceSampling::sample(Random& random) const {
  const int dimensions = choices_.dimensions();
  SlotMapping mapping;
  mapping.factors.assign(size_t(choices_.slots() * dimensions), 1);
  mapping.orders.resize(size_t(choices_.levels()));
  for (int l = 0; l < choices_.levels(); ++l) mapping.keeps.push_back(pick(choices_.keeps(l), random));
  std::vector<int64_t> cover(size_t(dimensions), 1);
  std::vector<int> order(static_cast<size_t>(dimensions));
  std::iota(order.begin(), order.end(), 0);
  for (int slot = 0; slot < choices_.slots(); ++slot) {
    const int level = choices_.level_of(slot);
    const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
    const SlotKind kind = choices_.kind_of(slot);
    int64_t room = kind == SlotKind::kX   ? machine.fanout_x
                   : kind == SlotKind::kY ? machine.fanout_y
                                          : std::numeric_limits<int64_t>::max();
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[size_t(random.between(0, int64_t(i) - 1))]);
    }
    for (const int d : order) {
      int64_t& covered = cover[size_t(d)];
      const int64_t inside = covered;
      const std::span<const int64_t> factors = choices_.factors(slot, d, inside);
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
  repair_orders(mapping, random);
  return mapping;
}

bool MapspaceSampling::allowed(const SlotMapping& mapping, int d) const {
  int64_t covered = 1;
  for (int slot = 0; slot < choices_.slots(); ++slot) {
    const int64_t f = mapping.factors[size_t(slot * choices_.dimensions() + d)];
    const std::span<const int64_t> factors = choices_.factors(slot, d, covered);
    if (!std::binary_search(factors.begin(), factors.end(), f)) return false;
    covered *= f;
  }
  return true;
}

bool MapspaceSampling::move_prime(SlotMapping& mapping, Random& random) const {
  std::vector<std::pair<int, int>> loops;  // slot, dimension
  for (int slot = 0; slot < choices_.slots(); ++slot) {
    for (int d = 0; d < choices_.dimensions(); ++d) {
      if (factor(mapping, slot, d) > 1) loops.emplace_back(slot, d);
    }
  }
  if (loops.empty()) return false;
  const auto [from, d] = pick(loops, random);
  const int to = int(random.between(0, choices_.slots() - 1));
  const int64_t prime = random_prime_factor(factor(mapping, from, d), random);
  if (to == from) return false;
  factor(mapping, from, d) /= prime;
  factor(mapping, to, d) *= prime;
  if (allowed(mapping, d)) return true;
  factor(mapping, from, d) *= prime;
  factor(mapping, to, d) /= prime;
  return false;
}

void MapspaceSampling::replace_factor(SlotMapping& mapping, Random& random) const {
  const int d = int(random.between(0, choices_.dimensions() - 1));
  const int changed = int(random.between(0, choices_.slots() - 1));
  int64_t covered = 1;
  for (int slot = 0; slot < choices_.slots(); ++slot) {
    const std::span<const int64_t> factors = choices_.factors(slot, d, covered);
    int64_t& f = factor(mapping, slot, d);
    if (slot == changed) {
      f = pick(factors, random);
    } else if (slot > changed) {
      // The largest that is allowed and not above the old one; else the smallest.
      const auto above = std::upper_bound(factors.begin(), factors.end(), f);
      f = above == factors.begin() ? *above : *std::prev(above);
    }
    covered *= f;
  }
}

void MapspaceSampling::move_loop(SlotMapping& mapping, Random& random) const {
  std::vector<int> levels;
  for (int l = 0; l < choices_.levels(); ++l) {
    if (mapping.orders[size_t(l)].size() > 1) levels.push_back(l);
  }
  if (levels.empty()) return;
  const int level = pick(levels, random);
  std::vector<int>& order = mapping.orders[size_t(level)];
  const auto from = order.begin() + random.between(0, int64_t(order.size()) - 1);
  const int d = *from;
  order.erase(from);
  order.insert(order.begin() + random.between(0, int64_t(order.size())), d);
  order = choices_.constrained_order(level, order);
}

void MapspaceSampling::change_keeps(SlotMapping& mapping, Random& random) const {
  const int level = int(random.between(0, choices_.levels() - 1));
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

SlotMapping MapspaceSampling::neighbour(const SlotMapping& mapping, Random& random) const {
  SlotMapping next = mapping;
  const double kind = random.uniform();
  if (kind < 0.2) {
    move_loop(next, random);
  } else if (kind < 0.3) {
    change_keeps(next, random);
  } else {
    const bool replace = kind < 0.45 || (mapspace_.imperfect && kind < 0.75);
    if (replace || !move_prime(next, random)) replace_factor(next, random);
    repair_orders(next, random);
  }
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
