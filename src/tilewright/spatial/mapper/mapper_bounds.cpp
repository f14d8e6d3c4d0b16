// Everything here is a relaxation of the model of nest/access_counts.h; the header says which, and the
// checked mode of the mapper holds every bound against the mappings below it. Numbers of words are doubles:
// whole numbers, exact below 2^53.
#include "tilewright/spatial/mapper/mapper_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/footprint.h"

namespace tilewright {
namespace {

// Most tiles cover one iteration or all: divisions cost more than asking.
// ceil_div of a >= 1 without the division where it can be spared: it is most of a bound.
int64_t divide_up(int64_t a, int64_t b) { return b == 1 ? a : b >= a ? 1 : ceil_div(a, b); }

}  // namespace

MapperBounds::MapperBounds(const Mapspace& mapspace, const MapspaceChoices& choices, const CostRules& rules)
    : mapspace_(mapspace),
      choices_(choices),
      rules_(rules),
      levels_(choices.levels()),
      dimensions_(choices.dimensions()) {
  for (int d = 0; d < dimensions_; ++d) {
    sizes_[size_t(d)] = mapspace.workload.dimensions[size_t(d)].size;
    if (sizes_[size_t(d)] > 1) looped_.push_back(size_t(d));
  }
  for (const ArrayLevel& level : mapspace.hardware.levels) {
    has_ports_ = has_ports_ || level.read_words_per_cycle > 0 || level.write_words_per_cycle > 0;
    for (const double rate : level.network.words_per_cycle) has_ports_ = has_ports_ || rate > 0;
  }
  make_shapes();
}

void MapperBounds::make_shapes() {
  const Workload& workload = mapspace_.workload;
  for (int space = 0; space < workload.data_space_count(); ++space) {
    SpaceShape shape;
    shape.output = workload.data_spaces[size_t(space)].is_output;
    shape.role = int(data_role(workload, space));
    shape.reuse.fill(Reuse::kAll);
    for (const Rank& rank : workload.data_spaces[size_t(space)].ranks) {
      std::vector<Term> terms;
      int64_t points = 1;
      for (const ProjectionTerm& term : rank.terms) {
        if (sizes_[size_t(term.dimension)] == 1) continue;
        terms.push_back({term.dimension, std::abs(term.coefficient), std::abs(term.coefficient)});
        points *= sizes_[size_t(term.dimension)];
      }
      const int64_t elements = rank_footprint(rank, std::span(sizes_).first(size_t(dimensions_)));
      shape.elements *= double(elements);
      // A rank that takes a value only once has no windows that overlap.
      const Reuse reuse = elements == points ? Reuse::kNone : Reuse::kSlides;
      for (const Term& term : terms) shape.reuse[size_t(term.dimension)] = reuse;
      if (reuse == Reuse::kNone) {
        shape.fresh_product *= double(elements);
      } else {
        if (terms.size() == 2) {
          const int64_t common = std::gcd(terms[0].coefficient, terms[1].coefficient);
          for (Term& term : terms) term.reduced /= common;
        }
        shape.sliding_ranks.push_back(std::move(terms));
      }
    }
    shapes_.push_back(std::move(shape));
  }
}

MapperBounds::View MapperBounds::view_of(const PartialMapping& partial) const {
  View view;
  view.keeps = partial.keeps;
  view.tile_level = levels_ - partial.known_slots / kSlotsPerLevel;
  view.spatial_level = view.tile_level - (partial.known_slots % kSlotsPerLevel == 0 ? 0 : 1);
  Extents cover;
  cover.fill(1);
  view.cover[size_t(levels_)] = cover;
  for (int l = levels_ - 1; l >= view.spatial_level; --l) {
    const auto row = [&](SlotKind kind) {
      return partial.factors.subspan(size_t(choices_.slot_of(l, kind) * dimensions_), size_t(dimensions_));
    };
    const auto x = row(SlotKind::kX), y = row(SlotKind::kY), t = row(SlotKind::kTemporal);
    const bool timed = l >= view.tile_level;
    for (size_t d = 0; d < size_t(dimensions_); ++d) {
      view.x[size_t(l)][d] = x[d];
      view.y[size_t(l)][d] = y[d];
      view.temporal[size_t(l)][d] = timed ? t[d] : 1;
      cover[d] *= x[d] * y[d] * (timed ? t[d] : 1);
      view.cover[size_t(l)][d] = std::min(cover[d], sizes_[d]);
    }
  }
  for (size_t d = 0; d < size_t(dimensions_); ++d) view.rest[d] = divide_up(sizes_[d], cover[d]);
  return view;
}

int MapperBounds::parent_of(int space, int child, std::span<const uint32_t> keeps) const {
  int parent = child - 1;
  while (parent > 0 && (keeps[size_t(parent)] >> space & 1u) == 0) --parent;
  return parent;
}

bool MapperBounds::shares(Sharing sharing, int level, bool along_x) const {
  const ArrayNetwork& network = mapspace_.hardware.levels[size_t(level)].network;
  switch (sharing) {
    case Sharing::kPerInstance:
      return false;
    case Sharing::kMulticast:
      return network.multicast;
    case Sharing::kReduction:
      return network.reduction;
    case Sharing::kRows:
      return along_x;
  }
  return false;
}

// The level with the innermost temporal loop outside the tile of `child`.
int MapperBounds::decider(const View& view, int child) const {
  for (int l = child - 1; l >= view.tile_level; --l) {
    for (const size_t d : looped_) {
      if (view.temporal[size_t(l)][d] > 1) return l;
    }
  }
  return view.tile_level > 0 ? -1 : -2;
}

// Words that move, per sharing group, with a run of reused loops that begins at level `run_from` (-1: beyond
// the known levels, -2: none).
double MapperBounds::moved(const View& view, int space, int parent, int child, Sharing sharing,
                           int run_from) const {
  const SpaceShape& shape = shapes_[size_t(space)];
  // The run ends at the first level that has a fresh loop; it may pass through those inside of it.
  int run_to = run_from;
  bool open = run_from == -1;
  if (run_from >= 0) {
    for (run_to = run_from;; --run_to) {
      bool fresh = false;
      for (int d = 0; d < dimensions_; ++d) {
        fresh =
            fresh || (shape.reuse[size_t(d)] == Reuse::kNone && view.temporal[size_t(run_to)][size_t(d)] > 1);
      }
      if (fresh || run_to == view.tile_level) {
        open = !fresh && view.tile_level > 0;
        break;
      }
    }
  }
  double outer_fanout = 1;
  for (int l = 0; l < view.spatial_level; ++l) {
    const ArrayLevel& level = mapspace_.hardware.levels[size_t(l)];
    if (l >= parent && shares(sharing, l, true)) outer_fanout *= double(level.fanout_x);
    if (l >= parent && shares(sharing, l, false)) outer_fanout *= double(level.fanout_y);
  }
  Extents extents;
  extents.fill(1);
  uint32_t broken = 0;  // dimensions whose grown tile may have holes
  double words = shape.fresh_product, positions = 1;
  for (const size_t d : looped_) {
    if (shape.reuse[d] == Reuse::kNone) continue;
    int64_t extent = view.cover[size_t(child)][d];
    bool hole = false;
    const auto pass = [&](int64_t factor, bool taken) {
      if (factor == 1) return;
      if (!taken) {
        hole = true;
      } else {
        if (hole) broken |= 1u << d;
        extent = std::min(sizes_[d], extent * factor);
      }
    };
    for (int l = child - 1; l >= view.spatial_level; --l) {
      pass(view.x[size_t(l)][d], l >= parent && shares(sharing, l, true));
      pass(view.y[size_t(l)][d], l >= parent && shares(sharing, l, false));
      if (l >= view.tile_level) {
        pass(view.temporal[size_t(l)][d], run_from >= 0 && run_to <= l && l <= run_from);
      }
    }
    if (open && extent < sizes_[d]) {
      broken |= 1u << d;
      extent = sizes_[d];
    }
    const double left = double(divide_up(sizes_[d], extent));
    positions *= left;
    if (shape.reuse[d] == Reuse::kAll) words *= left;
    extents[d] = extent;
  }
  for (const std::vector<Term>& rank : shape.sliding_ranks) words *= rank_sum(rank, extents, broken);
  words /= std::min(outer_fanout, positions);
  return std::max(words, shape.elements);
}

// The elements along one rank of all tiles of the given extents, summed. A tile with holes has at least as
// many elements as its terms have steps (sums of sets of integers), or as one without holes if only blocks of
// consecutive elements are moved around.
double MapperBounds::rank_sum(const std::vector<Term>& terms, const Extents& extents, uint32_t broken) const {
  bool holes = false;
  for (const Term& term : terms) holes = holes || (broken >> term.dimension & 1u) != 0;
  bool blocks = !holes;
  if (holes && terms.size() == 2) {
    for (const Term& term : terms) {
      blocks = blocks || (term.coefficient == 1 && (broken >> term.dimension & 1u) == 0);
    }
  }
  // Every term has full tiles and possibly a smaller last one.
  std::array<std::array<int64_t, 2>, kMaxMapperDimensions> part, many;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t d = size_t(terms[i].dimension);
    const int64_t extent = extents[d], full = extent == 1 ? sizes_[d] : sizes_[d] / extent;
    part[i] = {extent, sizes_[d] - full * extent};
    many[i] = {full, part[i][1] > 0 ? 1 : 0};
  }
  double total = 0;
  for (uint32_t last = 0; last < (1u << terms.size()); ++last) {
    int64_t count = 1, steps = 1;
    for (size_t i = 0; i < terms.size(); ++i) {
      count *= many[i][last >> i & 1u];
      steps += part[i][last >> i & 1u] - 1;
    }
    if (count == 0) continue;
    if (blocks && terms.size() == 2) {
      const int64_t x = part[0][last & 1u], y = part[1][last >> 1 & 1u];
      const int64_t collisions =
          std::max<int64_t>(0, x - terms[1].reduced) * std::max<int64_t>(0, y - terms[0].reduced);
      total += double(count) * (double(x) * double(y) - double(collisions));
    } else {
      total += double(count) * double(steps);
    }
  }
  return total;
}

MapperBounds::Words MapperBounds::words(const View& view, int space, int parent, int child,
                                        int run_from) const {
  const SpaceShape& shape = shapes_[size_t(space)];
  const auto of = [&](Sharing sharing) { return moved(view, space, parent, child, sharing, run_from); };
  Words out;
  out.fills = of(Sharing::kPerInstance);
  out.reads = of(Sharing::kMulticast);
  if (shape.output) out.updates = of(Sharing::kReduction);
  const ArrayNetwork& network = mapspace_.hardware.levels[size_t(child - 1)].network;
  if (network.hop_energy > 0) out.rows = of(Sharing::kRows);
  return out;
}

// At most so many (instance of `level`, output element) pairs ever meet.
double MapperBounds::first_visits(const View& view, int space, int level) const {
  const SpaceShape& shape = shapes_[size_t(space)];
  // Instances that differ only along dimensions that the outputs depend on share no output.
  const bool windows = !shape.sliding_ranks.empty();
  double known = 1, fanout = 1, rest = 1;
  for (int l = 0; l < level; ++l) {
    if (l < view.spatial_level) {
      const ArrayLevel& machine = mapspace_.hardware.levels[size_t(l)];
      fanout *= double(machine.fanout_x) * double(machine.fanout_y);
      continue;
    }
    for (size_t d = 0; d < size_t(dimensions_); ++d) {
      if (windows || shape.reuse[d] == Reuse::kAll) {
        known *= double(view.x[size_t(l)][d]) * double(view.y[size_t(l)][d]);
      }
    }
  }
  for (size_t d = 0; d < size_t(dimensions_); ++d) {
    if (windows || shape.reuse[d] == Reuse::kAll) rest *= double(view.rest[d]);
  }
  return shape.elements * known * std::min(fanout, rest);
}

double MapperBounds::energy_of(int space, int parent, int child, const Words& words, double first_children,
                               double first_parents) const {
  const ArrayLevel& above = mapspace_.hardware.levels[size_t(parent)];
  const ArrayNetwork& network = mapspace_.hardware.levels[size_t(child - 1)].network;
  const double per_word = network.delivery_energy + network.hop_energy;
  const ArrayLevel* below = child < levels_ ? &mapspace_.hardware.levels[size_t(child)] : nullptr;
  if (!shapes_[size_t(space)].output) {
    return words.reads * above.read_energy + words.fills * (per_word + (below ? below->fill_energy : 0)) +
           words.rows * network.hop_energy;
  }
  double energy =
      words.updates * above.update_energy + words.fills * per_word + words.rows * network.hop_energy;
  if (!below) return energy + std::max(0.0, words.updates - first_parents) * above.read_energy;
  if (rules_.charge_drain_reads) energy += words.fills * below->read_energy;
  return energy + std::max(0.0, words.fills - first_children) * (below->fill_energy + per_word) +
         std::max(0.0, words.reads - first_parents) * above.read_energy;
}

MapperBounds::PairCost MapperBounds::pair_cost(const View& view, int space, int parent, int child) const {
  PairCost cost;
  double first_children = 0, first_parents = 0;
  if (shapes_[size_t(space)].output) {
    first_children = first_visits(view, space, child);
    first_parents = first_visits(view, space, parent);
  }
  const Words fresh = words(view, space, parent, child, -2);
  cost.fresh = cost.reused = energy_of(space, parent, child, fresh, first_children, first_parents);
  cost.least = fresh;
  if (child == levels_) return cost;  // the arithmetic holds nothing
  cost.decider = decider(view, child);
  if (cost.decider == -2) return cost;
  cost.least = words(view, space, parent, child, cost.decider);
  cost.reused = energy_of(space, parent, child, cost.least, first_children, first_parents);
  return cost;
}

double MapperBounds::best_choice(const View& view, int decider,
                                 const std::array<double, kMaxMapperDimensions>& by_dimension,
                                 double fresh) const {
  double best = fresh;
  if (decider >= 0) {
    for (const int d : choices_.constraints(decider).innermost) {
      if (view.temporal[size_t(decider)][size_t(d)] > 1) return by_dimension[size_t(d)];
    }
    for (size_t d = 0; d < size_t(dimensions_); ++d) {
      if (view.temporal[size_t(decider)][d] > 1) best = std::min(best, by_dimension[d]);
    }
    return best;
  }
  for (size_t d = 0; d < size_t(dimensions_); ++d) {
    if (view.rest[d] == 1) continue;
    bool may_loop = false;
    for (int l = 0; l < view.tile_level; ++l) {
      const std::vector<int64_t>& fixed = choices_.constraints(l).temporal;
      may_loop = may_loop || fixed.empty() || fixed[d] != 1;
    }
    if (may_loop) best = std::min(best, by_dimension[d]);
  }
  return best;
}

double MapperBounds::entry_energy(int child, std::span<const int64_t> cover,
                                  std::span<const uint32_t> keeps) const {
  View view;
  view.keeps = keeps;
  view.tile_level = view.spatial_level = child;
  for (size_t d = 0; d < size_t(dimensions_); ++d) {
    view.cover[size_t(child)][d] = std::min(cover[d], sizes_[d]);
    view.rest[d] = divide_up(sizes_[d], cover[d]);
  }
  double fresh = 0;
  std::array<double, kMaxMapperDimensions> by_dimension{};
  for (int space = 0; space < int(shapes_.size()); ++space) {
    if ((keeps[size_t(child)] >> space & 1u) == 0) continue;
    const PairCost cost = pair_cost(view, space, parent_of(space, child, keeps), child);
    fresh += cost.fresh;
    for (size_t d = 0; d < size_t(dimensions_); ++d) {
      by_dimension[d] += shapes_[size_t(space)].reuse[d] == Reuse::kNone ? cost.fresh : cost.reused;
    }
  }
  return best_choice(view, -1, by_dimension, fresh);
}

double MapperBounds::compulsory_energy(int child, std::span<const uint32_t> keeps) const {
  double energy = 0;
  for (int space = 0; space < int(shapes_.size()); ++space) {
    if ((keeps[size_t(child)] >> space & 1u) == 0) continue;
    const double words = shapes_[size_t(space)].elements;
    energy +=
        energy_of(space, parent_of(space, child, keeps), child, {words, words, words, words}, words, words);
  }
  return energy;
}

CostBound MapperBounds::bound(const PartialMapping& partial) const {
  const View view = view_of(partial);
  CostBound out;
  out.energy = double(mapspace_.workload.operation_count()) * mapspace_.hardware.mac_energy;
  // By deciding level; the last row: levels not yet known.
  std::array<std::array<double, kMaxMapperDimensions>, kMaxMapperLevels + 1> by_dimension{};
  std::array<double, kMaxMapperLevels + 1> fresh{};
  std::vector<SpaceTraffic> traffic;
  for (int space = 0; space < int(shapes_.size()); ++space) {
    int child = levels_;
    while (child > 0) {
      const int parent = parent_of(space, child, view.keeps);
      if (child < view.tile_level) break;
      const PairCost cost = pair_cost(view, space, parent, child);
      if (has_ports_) {
        SpaceTraffic t{space, parent, child, int64_t(cost.least.reads), int64_t(cost.least.fills)};
        if (shapes_[size_t(space)].output) {
          t.reads = t.fills = 0;
          t.updates = int64_t(cost.least.updates);
          t.drains = int64_t(cost.least.fills);
        }
        traffic.push_back(t);
      }
      if (cost.decider == -2) {
        out.energy += cost.fresh;
      } else {
        const size_t row = cost.decider >= 0 ? size_t(cost.decider) : size_t(levels_);
        fresh[row] += cost.fresh;
        for (size_t d = 0; d < size_t(dimensions_); ++d) {
          by_dimension[row][d] += shapes_[size_t(space)].reuse[d] == Reuse::kNone ? cost.fresh : cost.reused;
        }
      }
      child = parent;
    }
  }
  for (int l = view.tile_level; l < levels_; ++l) {
    out.energy += best_choice(view, l, by_dimension[size_t(l)], fresh[size_t(l)]);
  }
  out.energy += best_choice(view, -1, by_dimension[size_t(levels_)], fresh[size_t(levels_)]);
  const int64_t steps = view.tile_level == 0 ? exact_steps(partial.factors) : least_steps(view);
  out.cycles = least_cycles(view, steps, traffic);
  return out;
}

bool MapperBounds::settled(std::span<const int64_t> factors, std::span<const uint32_t> keeps, int level,
                           const std::vector<int>& inside) const {
  // The field's accounting refetches outside any loop that moves the tile.
  const bool timeloop = rules_.accounting == Accounting::kTimeloop;
  for (int space = 0; space < int(shapes_.size()); ++space) {
    const auto fresh = [&](int d) {
      const Reuse reuse = shapes_[size_t(space)].reuse[size_t(d)];
      return reuse == Reuse::kNone || (timeloop && reuse == Reuse::kSlides);
    };
    const bool moved = std::any_of(inside.begin(), inside.end(), fresh);
    bool between = false;  // a loop of the levels from the child's up to this one moves the tile
    for (int child = level + 1; child < levels_ && !moved; ++child) {
      if ((keeps[size_t(child)] >> space & 1u) != 0 && !between) return false;
      for (int d = 0; d < dimensions_; ++d) {
        const size_t at = size_t(choices_.slot_of(child, SlotKind::kTemporal) * dimensions_ + d);
        between = between || (factors[at] > 1 && fresh(d));
      }
    }
  }
  return true;
}

int64_t MapperBounds::least_steps(const View& view) const {
  // A step does at most one iteration per instance, along each dimension as many as its spatial factors.
  double steps = 1, instances = 1;
  for (int l = 0; l < view.spatial_level; ++l) {
    const ArrayLevel& level = mapspace_.hardware.levels[size_t(l)];
    instances *= double(level.fanout_x) * double(level.fanout_y);
  }
  for (size_t d = 0; d < size_t(dimensions_); ++d) {
    int64_t spread = 1;
    for (int l = view.spatial_level; l < levels_; ++l) {
      spread = std::min(sizes_[d], spread * view.x[size_t(l)][d] * view.y[size_t(l)][d]);
    }
    steps *= double(divide_up(sizes_[d], spread));
  }
  return std::max<int64_t>(1, int64_t(std::ceil(steps / instances * (1 - 1e-15))));
}

int64_t MapperBounds::least_cycles(const View& view, int64_t steps,
                                   const std::vector<SpaceTraffic>& traffic) const {
  if (!has_ports_) return steps;
  AccessCounts counts;
  counts.traffic = traffic;
  counts.steps = steps;
  int64_t instances = 1;
  for (int l = 0; l <= levels_; ++l) {
    counts.used_instances.push_back(instances);
    if (l == levels_) break;
    int64_t used =
        mapspace_.hardware.levels[size_t(l)].fanout_x * mapspace_.hardware.levels[size_t(l)].fanout_y;
    if (l >= view.spatial_level) {
      used = 1;
      for (size_t d = 0; d < size_t(dimensions_); ++d) used *= view.x[size_t(l)][d] * view.y[size_t(l)][d];
    }
    instances *= used;
  }
  return port_cycles(counts.steps, port_loads(mapspace_.workload, mapspace_.hardware, counts));
}

int64_t MapperBounds::exact_steps(std::span<const int64_t> factors) const {
  // Along each dimension, the positions in time at which the first instance still has an iteration.
  int64_t steps = 1;
  for (int d = 0; d < dimensions_; ++d) {
    // Inside out: iterations that one step of the loop covers, and where the last position inside begins.
    int64_t room = sizes_[size_t(d)], positions = 0;
    std::vector<std::array<int64_t, 4>> loops;  // factor, step, positions inside, begin of the last of them
    int64_t covered = 1, inside = 1, last = 0;
    for (int slot = 0; slot < choices_.slots(); ++slot) {
      const int64_t factor = factors[size_t(slot * dimensions_ + d)];
      if (choices_.kind_of(slot) == SlotKind::kTemporal && factor > 1) {
        loops.push_back({factor, covered, inside, last});
        inside *= factor;
        last += (factor - 1) * covered;
      }
      covered *= factor;
    }
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      const auto [factor, step, positions_inside, last_inside] = *loop;
      const int64_t whole = std::min(factor, room > last_inside ? (room - last_inside - 1) / step + 1 : 0);
      positions += whole * positions_inside;
      if (whole == factor) {
        room = 0;
        break;
      }
      room -= whole * step;
      if (room <= 0) break;
    }
    if (room > 0) ++positions;  // what is left of the innermost loop's tile
    steps *= positions;
  }
  return steps;
}

}  // namespace tilewright
