// Three nested levels of choice with a bound at each; docs/design/spatial/lattice_solver.md derives the
// bounds. With e(s) the energy of space s into the register files and b(z) that of the buffer's tile z, all
// of them bounds:
//   array tile:       e(s) of any split + least b over the boxes around it
//   split:            e(s), the space at rest divided by all of its run + least b
//   run of the split: e(s), the space at rest divided by the run inside z + least b with that run
//   buffer's tile:    the same with b(z); then the exact energy with the best orders.
#include "tilewright/spatial/lattice/tile_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tilewright::lattice {
namespace {

// Walks every box between `from` and the whole lattice that differs from `from` in the dimensions of `set` by
// multiples. Calls body(box).
template <typename Body>
void for_each_multiple(const Lattice& lattice, Index from, uint32_t set, const Body& body) {
  std::array<const std::vector<int>*, kMaxDimensions> choices{};
  std::array<size_t, kMaxDimensions> place{};
  std::array<int, kMaxDimensions> dimension{};
  int count = 0;
  for (uint32_t bits = set; bits != 0; bits &= bits - 1, ++count) {
    const int d = dimension[size_t(count)] = __builtin_ctz(bits);
    choices[size_t(count)] = &lattice.list(d).multiples[size_t(lattice.digit(from, d))];
  }
  Index box = from;
  while (true) {
    body(box);
    int k = 0;
    for (; k < count; ++k) {
      const std::vector<int>& list = *choices[size_t(k)];
      const Index stride = lattice.list(dimension[size_t(k)]).stride;
      size_t& at = place[size_t(k)];
      const int before = list[at];
      at = at + 1 < list.size() ? at + 1 : 0;
      box += Index(list[at] - before) * stride;
      if (at != 0) break;
    }
    if (k == count) return;
  }
}

}  // namespace

double TileIncumbent::first(double e, double c) const {
  if (objective == MapObjective::kLatency) return c;
  return objective == MapObjective::kEdp ? e * c : e;
}

double TileIncumbent::second(double e, double c) const { return objective == MapObjective::kEnergy ? c : e; }

bool TileIncumbent::beats_all(double least_energy, double least_cycles) const {
  if (!found) return false;
  const double best = first(energy, cycles), other = first(least_energy, least_cycles);
  if (other > best * (1 + kTolerance)) return true;
  if (other < best * (1 - kTolerance)) return false;
  const double tied = second(energy, cycles);
  return second(least_energy, least_cycles) > tied * (1 + kTolerance);
}

bool TileIncumbent::beats_first(double least_energy, double least_cycles) const {
  return found && first(least_energy, least_cycles) > first(energy, cycles) * (1 + kTolerance);
}

bool TileIncumbent::offer(double new_energy, double new_cycles, const Tiles& new_tiles) {
  const auto order = [](double a, double b) {
    if (a < b * (1 - kTolerance)) return -1;
    return a > b * (1 + kTolerance) ? 1 : 0;
  };
  if (found) {
    int compare = order(first(new_energy, new_cycles), first(energy, cycles));
    if (compare == 0) compare = order(second(new_energy, new_cycles), second(energy, cycles));
    const std::array<Index, 4> key{new_tiles.array, new_tiles.low, new_tiles.middle, new_tiles.mask};
    const std::array<Index, 4> held{tiles.array, tiles.low, tiles.middle, tiles.mask};
    if (compare > 0 || (compare == 0 && key >= held)) return false;
  }
  found = true, energy = new_energy, cycles = new_cycles, tiles = new_tiles;
  return true;
}

TileSearch::TileSearch(const LatticeCase& problem, const MapperOptions& options)
    : problem_(problem),
      options_(options),
      lattice_(problem),
      bounds_(problem, lattice_),
      buffer_(problem, lattice_, bounds_) {
  for (Index box = 0; box < lattice_.size(); ++box) low_holds_.push_back(register_files_hold(box) ? 1 : 0);
  for (int s = 0; s < problem.space_count(); ++s) {
    if (problem.spaces[size_t(s)].windowed) window_ = s;
  }
  list_array_tiles();
}

bool TileSearch::register_files_hold(Index low) const {
  double shared = 0;
  for (int s = 0; s < problem_.space_count(); ++s) {
    const int64_t reserved = problem_.spaces[size_t(s)].low_reserved;
    if (reserved < 0) {
      shared += lattice_.held(s, low);
    } else if (lattice_.held(s, low) > double(reserved)) {
      return false;
    }
  }
  return shared <= double(problem_.low_capacity);
}

double TileSearch::ignored_instances(Index spatial) const {
  double result = 1;
  for (uint32_t bits = problem_.spaces[size_t(problem_.output)].irrelevant; bits != 0; bits &= bits - 1)
    result *= double(lattice_.value(spatial, __builtin_ctz(bits)));
  return result;
}

void TileSearch::list_array_tiles() {
  most_parallel_.assign(lattice_.size(), 1);
  for (Index box = 0; box < lattice_.size(); ++box) {
    if (lattice_.fits_array(box)) most_parallel_[box] = lattice_.points(box);
    for (int d = 0; d < lattice_.dimension_count(); ++d) {
      const int digit = lattice_.digit(box, d);
      for (const int part : lattice_.list(d).divisors[size_t(digit)]) {
        const Index inside = box - Index(digit - part) * lattice_.list(d).stride;
        most_parallel_[box] = std::max(most_parallel_[box], most_parallel_[inside]);
      }
    }
  }
  for (Index box = 0; box < lattice_.size(); ++box) {
    const double cycles = problem_.operations / most_parallel_[box];
    if (options_.max_cycles && cycles > double(*options_.max_cycles)) continue;
    problem_.check();
    const double energy = least_energy_of(box);
    if (energy < kNever) array_tiles_.push_back({box, energy, cycles});
  }
  TileIncumbent rank;
  rank.objective = options_.objective;
  const auto key = [&](const ArrayTile& tile) {
    return std::tuple(rank.first(tile.least_energy, tile.least_cycles),
                      rank.second(tile.least_energy, tile.least_cycles), tile.box);
  };
  std::sort(array_tiles_.begin(), array_tiles_.end(),
            [&](const ArrayTile& a, const ArrayTile& b) { return key(a) < key(b); });
}

double TileSearch::least_energy_of(Index array) const {
  const double outputs = lattice_.words(problem_.output, lattice_.size() - 1);
  double most_instances = 1;
  for (uint32_t bits = problem_.spaces[size_t(problem_.output)].irrelevant; bits != 0; bits &= bits - 1)
    most_instances *= double(lattice_.value(array, __builtin_ctz(bits)));
  most_instances = std::min(most_instances, double(problem_.fanout_x * problem_.fanout_y));
  double best = kNever;
  for (const OrderClass& orders : bounds_.classes()) {
    double kept[kMaxSpaces], bypassed[kMaxSpaces];
    for (int s = 0; s < problem_.space_count(); ++s) {
      const CaseSpace& space = problem_.spaces[size_t(s)];
      Traffic traffic = bounds_.into_array(s, orders, array);
      if (s == orders.resting) {
        const double run = bounds_.outer(orders.run, array);
        traffic.reads /= run, traffic.fills /= run;
      }
      for (const bool keeps : {false, true}) {
        const BoundaryWeights& weights = keeps ? space.middle_to_low : space.top_to_low;
        double energy = weights.per_read * traffic.reads;
        double per_instance = weights.per_fill * traffic.fills;
        if (space.output) {
          energy -= weights.first_read * outputs;
          per_instance -= (weights.first_fill + problem_.first_update_saving) * outputs;
        }
        (keeps ? kept : bypassed)[s] = energy + per_instance * (per_instance > 0 ? 1 : most_instances);
      }
    }
    for (int m = 0; m < buffer_.mask_count(); ++m) {
      double sum = buffer_.least(array, m);
      for (int s = 0; s < problem_.space_count(); ++s)
        sum += (problem_.middle_masks[size_t(m)] >> s & 1u) != 0 ? kept[s] : bypassed[s];
      best = std::min(best, sum);
    }
  }
  return best + problem_.arithmetic_energy;
}

void TileSearch::expand(const ArrayTile& tile, TileIncumbent& incumbent, SearchCounts& counts,
                        OrderSearch& orders) const {
  ++counts.nodes;
  if (incumbent.beats_all(tile.least_energy, tile.least_cycles)) {
    ++counts.pruned;
    return;
  }
  Visit visit{incumbent, counts, orders, DeadlineWatch(problem_.deadline)};
  choose_digit({tile.box, 0, 0, 0}, 0, visit);
}

void TileSearch::choose_digit(Split split, int d, Visit& visit) const {
  if (d == lattice_.dimension_count()) {
    if (!lattice_.fits_array(split.spatial)) return;
    split.cycles = problem_.operations / lattice_.points(split.spatial);
    if (options_.max_cycles && split.cycles > double(*options_.max_cycles)) return;
    try_split(split, visit);
    return;
  }
  const DivisorList& list = lattice_.list(d);
  const int digit = lattice_.digit(split.array, d);
  const double instances = double(problem_.fanout_x * problem_.fanout_y);
  for (const int part : list.divisors[size_t(digit)]) {
    const int64_t fixed = problem_.fixed_low[size_t(d)];
    if (fixed != 0 && list.values[size_t(part)] != fixed) continue;
    Split next = split;
    next.low += Index(part) * list.stride;
    next.spatial += Index(list.quotient_digit(digit, part)) * list.stride;
    if (lattice_.points(next.spatial) > instances) continue;
    if (low_holds_[next.low] == 0) break;
    choose_digit(next, d + 1, visit);
  }
}

void TileSearch::try_split(const Split& split, Visit& visit) const {
  ++visit.counts.nodes;
  visit.watch.check();
  const double outputs = lattice_.words(problem_.output, lattice_.size() - 1);
  const double instances_per_output = ignored_instances(split.spatial);
  const double base =
      problem_.arithmetic_energy - problem_.first_update_saving * outputs * instances_per_output;
  bool cut = true;
  double energy[kMaxSpaces][2], saved[kMaxSpaces][2];
  for (int c = 0; c < int(bounds_.classes().size()); ++c) {
    const OrderClass& orders = bounds_.classes()[size_t(c)];
    for (int s = 0; s < problem_.space_count(); ++s) {
      const CaseSpace& space = problem_.spaces[size_t(s)];
      if (c > 0 && !space.windowed) continue;  // the same for all classes
      const Traffic traffic = bounds_.into_low(s, orders, split.low, split.array, split.spatial);
      for (int keeps = 0; keeps < 2; ++keeps) {
        const BoundaryWeights& weights = keeps != 0 ? space.middle_to_low : space.top_to_low;
        energy[s][keeps] = boundary_energy(weights, traffic);
        saved[s][keeps] =
            space.output ? outputs * (weights.first_read + weights.first_fill * instances_per_output) : 0;
      }
    }
    const double run = bounds_.outer(orders.run, split.array);
    for (int m = 0; m < buffer_.mask_count(); ++m) {
      const uint32_t mask = problem_.middle_masks[size_t(m)];
      double others = base;
      for (int s = 0; s < problem_.space_count(); ++s) {
        others -= saved[s][mask >> s & 1u];
        if (s != orders.resting) others += energy[s][mask >> s & 1u];
      }
      const double at_rest = energy[orders.resting][mask >> orders.resting & 1u];
      const double bound = others + at_rest / run + buffer_.least(split.array, m);
      if (bound == kNever || visit.incumbent.beats_all(bound, split.cycles)) continue;
      cut = false;
      const double window = orders.window_passes ? energy[window_][mask >> window_ & 1u] : 0;
      try_buffers(split, {c, m, others, at_rest, window}, visit);
    }
  }
  if (cut) ++visit.counts.pruned;
}

void TileSearch::try_buffers(const Split& split, const LowEnergy& low, Visit& visit) const {
  const OrderClass& orders = bounds_.classes()[size_t(low.order_class)];
  const double all = low.at_rest / bounds_.outer(orders.run, split.array);
  const double array_run = lattice_.points(split.array);
  for_each_multiple(lattice_, split.array, orders.run, [&](Index box) {
    ++visit.counts.nodes;
    visit.watch.check();
    // Nothing but the run changes inside the buffer: the run may go on in main memory's loops.
    const double passing = low.others + all + buffer_.energy(box, low.mask);
    if (passing < kNever && !visit.incumbent.beats_all(passing, split.cycles))
      evaluate(split, box, low.mask, visit);
    const double energy = low.others + low.at_rest * array_run / lattice_.points(box);
    const double bound = energy + buffer_.least_with_run(low.order_class, box, low.mask);
    if (bound == kNever || visit.incumbent.beats_all(bound, split.cycles)) {
      ++visit.counts.pruned;
      return;
    }
    try_contained(split, low, box, energy, visit);
  });
}

// Main memory's loops replace the window whenever a loop inside the buffer does.
double TileSearch::window_passes(const Split& split, Index middle) const {
  for (uint32_t bits = lattice_.single_ranks(window_); bits != 0; bits &= bits - 1) {
    const int d = __builtin_ctz(bits);
    if (lattice_.digit(middle, d) != lattice_.digit(split.array, d))
      return lattice_.ignored_tiles(window_, middle);
  }
  return 1;
}

// Buffer tiles that equal `run_box` along the run; run_box itself has been tried.
void TileSearch::try_contained(const Split& split, const LowEnergy& low, Index run_box, double energy,
                               Visit& visit) const {
  const uint32_t run = bounds_.classes()[size_t(low.order_class)].run;
  const uint32_t others = ((1u << lattice_.dimension_count()) - 1) & ~run;
  for_each_multiple(lattice_, run_box, others, [&](Index middle) {
    if (middle == run_box) return;
    visit.watch.check();
    double bound = energy + buffer_.energy(middle, low.mask);
    if (bound == kNever) return;
    ++visit.counts.nodes;
    if (low.window > 0) bound += low.window * (window_passes(split, middle) - 1);
    if (visit.incumbent.beats_all(bound, split.cycles)) {
      ++visit.counts.pruned;
      return;
    }
    evaluate(split, middle, low.mask, visit);
  });
}

void TileSearch::evaluate(const Split& split, Index middle, int mask, Visit& visit) const {
  for (int d = 0; d < lattice_.dimension_count(); ++d) {
    const int64_t fixed = problem_.fixed_middle[size_t(d)];
    if (fixed != 0 && lattice_.value(middle, d) != fixed * lattice_.value(split.array, d)) return;
  }
  ++visit.counts.evaluations;
  const Tiles tiles{middle, split.array, split.low, problem_.middle_masks[size_t(mask)]};
  visit.incumbent.offer(visit.orders.energy(tiles), split.cycles, tiles);
}

}  // namespace tilewright::lattice
