// Every level of choice has the bounds of tile_search.cpp, in numbers of tiles. Without windows the costs of
// fixed tiles follow from which space rests in the buffer's loops and which in main memory's; with windows
// every order of the loops is costed.
#include "tilewright/spatial/lattice/remainder_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tilewright/spatial/lattice/lattice.h"

namespace tilewright::lattice {
namespace {

double first_saving(const CaseSpace& space, const BoundaryWeights& weights, double elements,
                    const Counts& used) {
  if (!space.output) return 0;
  return elements * (weights.first_read + weights.first_fill * product_over(space.irrelevant, used));
}

}  // namespace

RemainderSearch::RemainderSearch(const LatticeCase& problem, const MapperOptions& options)
    : problem_(problem),
      options_(options),
      choices_(problem),
      grid_(problem),
      classes_(order_classes(problem)),
      watch_(problem.deadline) {
  incumbent_.objective = options.objective;
  for (const CaseSpace& space : problem.spaces) {
    elements_.push_back(elements_of(space, problem.sizes));
    ignored_by_any_ |= space.irrelevant;
    if (!space.windowed) continue;
    windowed_ = true;
    for (const CaseRank& rank : space.ranks) replaces_ |= rank.terms == 1 ? 1u << rank.dimension[0] : 0;
  }
  list_spatial();
}

void RemainderSearch::list_spatial() {
  std::vector<int64_t> factors;
  extend_spatial(factors, 1);
  const auto key = [&](const SpatialChoice& choice) {
    return std::tuple<double, double, const std::vector<int64_t>&>(
        incumbent_.first(choice.least_energy, choice.least_cycles),
        incumbent_.second(choice.least_energy, choice.least_cycles), choice.factors);
  };
  std::sort(spatial_.begin(), spatial_.end(),
            [&](const SpatialChoice& a, const SpatialChoice& b) { return key(a) < key(b); });
}

void RemainderSearch::extend_spatial(std::vector<int64_t>& factors, double instances) {
  watch_.check();
  const int d = int(factors.size());
  if (d == problem_.dimension_count()) {
    if (!split_over_axes(problem_, factors, problem_.sizes, nullptr)) return;
    SpatialChoice choice{factors, least_energy_with(factors), 1};
    for (int k = 0; k < d; ++k) choice.least_cycles *= double(choices_.least_steps(k, factors[size_t(k)]));
    if (options_.max_cycles && choice.least_cycles > double(*options_.max_cycles)) return;
    spatial_.push_back(std::move(choice));
    return;
  }
  const double most = double(problem_.fanout_x * problem_.fanout_y);
  for (int64_t factor = 1; factor <= choices_.most_spatial(d) && instances * double(factor) <= most;
       ++factor) {
    if (choices_.low(d, factor).empty()) continue;
    factors.push_back(factor);
    extend_spatial(factors, instances * double(factor));
    factors.pop_back();
  }
}

// Every word is read from main memory once and arrives at every instance that needs a copy.
double RemainderSearch::least_energy_with(const std::vector<int64_t>& factors) const {
  Counts spatial{}, used{};
  for (size_t d = 0; d < factors.size(); ++d) {
    spatial[d] = double(factors[d]);
    used[d] = double(choices_.least_used(int(d), factors[d]));
  }
  double result = problem_.arithmetic_energy;
  for (int s = 0; s < problem_.space_count(); ++s) {
    const CaseSpace& space = problem_.spaces[size_t(s)];
    const double copies = product_over(space.irrelevant, used);
    const auto once = [&](const BoundaryWeights& weights, double fills) {
      return weights.per_read - weights.first_read + (weights.per_fill - weights.first_fill) * fills;
    };
    double words = once(space.top_to_low, copies);
    if (problem_.has_middle)
      words = std::min(words, once(space.top_to_middle, 1) + once(space.middle_to_low, copies));
    result += elements_[size_t(s)] * words;
    if (space.output) {
      result -= problem_.first_update_saving * elements_[size_t(s)] * product_over(space.irrelevant, spatial);
    }
  }
  return result;
}

bool RemainderSearch::run(const MapResult* start, const Deadline& deadline, MapResult& result) {
  result_ = &result, deadline_ = &deadline;
  if (start != nullptr) offer(start->mapping);
  if (options_.start != nullptr) offer(*options_.start);
  const bool done = finishes(deadline, [&] { search(); });
  result.status = done ? MapStatus::kOptimal : MapStatus::kStopped;
  return incumbent_.found;
}

void RemainderSearch::search() {
  MapResult& result = *result_;
  Node node;
  const size_t dimensions = problem_.sizes.size();
  for (size_t i = 0; i < spatial_.size(); ++i) {
    const SpatialChoice& choice = spatial_[i];
    const double bound = incumbent_.first(choice.least_energy, choice.least_cycles);
    if (incumbent_.beats_first(choice.least_energy, choice.least_cycles)) {
      result.nodes += int64_t(spatial_.size() - i), result.pruned += int64_t(spatial_.size() - i);
      break;
    }
    ++result.nodes;
    // Of choices that tie in the first objective a later one may still win by the second.
    if (incumbent_.beats_all(choice.least_energy, choice.least_cycles)) {
      ++result.pruned;
      continue;
    }
    result.lower_bound = bound;
    node.low.assign(dimensions, {}), node.middle.assign(dimensions, {});
    node.extents.assign(dimensions, 1);
    node.spatial = choice.factors;
    node.energy_floor = choice.least_energy;
    choose_low(node, 0, 1);
  }
}

void RemainderSearch::choose_low(Node& node, int d, double steps) {
  if (d == problem_.dimension_count()) {
    node.cycles = steps;
    if (fits_array(node, nullptr)) try_split(node);
    return;
  }
  const size_t i = size_t(d);
  double least_rest = 1;
  for (int k = d + 1; k < problem_.dimension_count(); ++k)
    least_rest *= double(choices_.least_steps(k, node.spatial[size_t(k)]));
  for (const LowChoice& choice : choices_.low(d, node.spatial[i])) {
    watch_.check();
    node.extents[i] = choice.low;
    if (!low_holds(problem_, node.extents)) break;
    const double cycles = steps * double(choice.steps);
    if (options_.max_cycles && cycles * least_rest > double(*options_.max_cycles)) continue;
    if (incumbent_.beats_all(node.energy_floor, cycles * least_rest)) continue;
    node.low[i] = choice;
    node.low_tiles[i] = double(choice.low_tiles), node.array_tiles[i] = double(choice.array_tiles);
    node.used[i] = double(choice.used());
    choose_low(node, d + 1, cycles);
  }
  node.extents[i] = 1;
}

bool RemainderSearch::fits_array(const Node& node, std::vector<int64_t>* on_x) const {
  std::vector<int64_t> tiles;
  for (const LowChoice& choice : node.low) tiles.push_back(choice.low_tiles);
  return split_over_axes(problem_, node.spatial, tiles, on_x);
}

// Words that the instances touch in all, each counted on its own: what its tiles cover in a whole pass.
double RemainderSearch::swept_words(const CaseSpace& space, const Node& node) {
  double result = 1;
  for (const CaseRank& rank : space.ranks) {
    const size_t first = size_t(rank.dimension[0]), second = size_t(rank.dimension[1]);
    if (rank.terms == 1) {
      result *= double(problem_.sizes[first]);
      continue;
    }
    const int64_t a = rank.coefficient[0], b = rank.coefficient[1];
    const int64_t size_a = problem_.sizes[first], size_b = problem_.sizes[second];
    std::vector<char> touched(size_t(window_span(a, size_a, b, size_b)));
    int64_t words = 0;
    for (int64_t instance = 0; instance < node.low[first].spatial * node.low[second].spatial; ++instance) {
      std::fill(touched.begin(), touched.end(), 0);
      watch_.check();
      const int64_t at_a = instance % node.low[first].spatial, at_b = instance / node.low[first].spatial;
      for (int64_t i = 0; i < size_a; ++i) {
        if (i / node.low[first].low % node.low[first].spatial != at_a) continue;
        for (int64_t j = 0; j < size_b; ++j) {
          if (j / node.low[second].low % node.low[second].spatial == at_b) touched[size_t(a * i + b * j)] = 1;
        }
      }
      words += std::count(touched.begin(), touched.end(), 1);
    }
    result *= double(words);
  }
  return result;
}

double RemainderSearch::low_energy(const Node& node, int s, uint32_t mask, const Passes& passes) const {
  const CaseSpace& space = problem_.spaces[size_t(s)];
  const BoundaryWeights& weights = (mask >> s & 1u) != 0 ? space.middle_to_low : space.top_to_low;
  const uint32_t ignored = space.irrelevant;
  double reads = elements_[size_t(s)], fills = space.windowed ? node.swept[s] : elements_[size_t(s)];
  if (passes.once) {
    fills *= product_over(ignored, node.used);
  } else {
    const uint32_t resting = ignored & passes.run, moving = ignored & ~passes.run;
    reads *= product_over(resting, node.middle_tiles) * product_over(moving, node.array_tiles);
    fills *= product_over(resting, node.active) * product_over(moving, node.low_tiles);
  }
  return weights.per_read * reads + weights.per_fill * fills -
         first_saving(space, weights, elements_[size_t(s)], node.used);
}

// `inside`: dimensions that have a loop in the buffer. A space that none of them moves rests there in any
// case, and goes on resting in main memory's loops. A window that is not replaced inside the buffer may keep
// its overlaps through main memory's loops as well.
RemainderSearch::Passes RemainderSearch::passes_of(int s, uint32_t inside, const OrderClass& middle,
                                                   const OrderClass& top) const {
  const CaseSpace& space = problem_.spaces[size_t(s)];
  const bool unmoved = (inside & space.relevant) == 0;
  Passes passes;
  if (unmoved) {
    passes.run = space.irrelevant;
    passes.once = s == top.resting || (space.windowed && top.window_passes);
  } else if (s == middle.resting) {
    passes.run = middle.run;
  } else if (space.windowed && middle.window_passes) {
    passes.run = space.irrelevant;
  }
  if (space.windowed && (inside & replaces_) == 0 && (s == top.resting || top.window_passes))
    passes.once = passes.once || passes.run == space.irrelevant || (inside & space.irrelevant) == 0;
  return passes;
}

void RemainderSearch::try_split(Node& node) {
  ++result_->nodes;
  for (int s = 0; s < problem_.space_count(); ++s) {
    if (problem_.spaces[size_t(s)].windowed) node.swept[s] = swept_words(problem_.spaces[size_t(s)], node);
  }
  const CaseSpace& output = problem_.spaces[size_t(problem_.output)];
  const double base = problem_.arithmetic_energy - problem_.first_update_saving *
                                                       elements_[size_t(problem_.output)] *
                                                       product_over(output.irrelevant, node.used);
  std::array<int, kMaxDimensions> cells{};
  for (size_t d = 0; d < problem_.sizes.size(); ++d)
    cells[d] = grid_.cell_of(int(d), node.low[d].array_tiles);
  const std::span<const int> all_cells(cells.data(), problem_.sizes.size());
  bool cut = true;
  for (size_t m = 0; m < problem_.middle_masks.size(); ++m) {
    const uint32_t mask = problem_.middle_masks[m];
    const double least = grid_.least(all_cells, int(m));
    if (least == kNever) continue;
    bool open = false;
    for (size_t c = 0; c < classes_.size() && !open; ++c) {
      const OrderClass& orders = classes_[c];
      double others = base;
      for (int s = 0; s < problem_.space_count(); ++s) {
        const bool passes = orders.window_passes && problem_.spaces[size_t(s)].windowed;
        if (s != orders.resting) others += low_energy(node, s, mask, Passes{0, passes});
      }
      const CaseSpace& resting = problem_.spaces[size_t(orders.resting)];
      const uint32_t rest = resting.irrelevant & ~orders.run;
      const double reads = elements_[size_t(orders.resting)] * product_over(rest, node.array_tiles);
      const double fills =
          (resting.windowed ? node.swept[orders.resting] : elements_[size_t(orders.resting)]) *
          product_over(rest, node.low_tiles);
      const BoundaryWeights& weights =
          (mask >> orders.resting & 1u) != 0 ? resting.middle_to_low : resting.top_to_low;
      others -= first_saving(resting, weights, elements_[size_t(orders.resting)], node.used);
      const double bound = others + weights.per_read * reads +
                           weights.per_fill * fills * product_over(orders.run, node.used) + least;
      if (incumbent_.beats_all(bound, node.cycles)) continue;
      open = middle_may_win(node, orders, int(c), int(m), others, reads, fills, weights);
    }
    if (!open) continue;
    cut = false;
    std::vector<int64_t> extents = node.extents;
    for (size_t d = 0; d < extents.size(); ++d)
      extents[d] = std::min(problem_.sizes[d], node.low[d].low * node.low[d].spatial);
    std::swap(extents, node.extents);
    choose_middle(node, 0, int(m));
    std::swap(extents, node.extents);
  }
  if (cut) ++result_->pruned;
}

// Over the cells of the run's dimensions: the resting space at the tiles of the cell and the least energy of
// buffer tiles with that run; or, if only the run is inside the buffer, at rest altogether.
bool RemainderSearch::middle_may_win(const Node& node, const OrderClass& orders, int order_class, int mask,
                                     double others, double reads, double fills,
                                     const BoundaryWeights& weights) const {
  std::array<int, kMaxDimensions> top{}, cells{};
  const size_t dimensions = problem_.sizes.size();
  std::vector<int64_t> extents(dimensions);
  Counts tiles = node.array_tiles;
  for (size_t d = 0; d < dimensions; ++d) {
    top[d] = cells[d] = grid_.cell_of(int(d), node.low[d].array_tiles);
    extents[d] = std::min(problem_.sizes[d], node.low[d].low * node.low[d].spatial);
    if ((orders.run >> d & 1u) != 0) cells[d] = 0;
  }
  const double staying =
      weights.per_read * reads + weights.per_fill * fills * product_over(orders.run, node.used);
  while (true) {
    problem_.check();
    Counts active = node.used;
    for (uint32_t bits = orders.run; bits != 0; bits &= bits - 1) {
      const size_t d = size_t(__builtin_ctz(bits));
      tiles[d] = grid_.least_tiles(int(d), cells[d]);
      active[d] = std::max(active[d], (tiles[d] - 1) * active[d] + 1);
      extents[d] = std::max(grid_.extent(int(d), cells[d]),
                            std::min(problem_.sizes[d], node.low[d].low * node.low[d].spatial));
    }
    const double resting = weights.per_read * reads * product_over(orders.run, tiles) +
                           weights.per_fill * fills * product_over(orders.run, active);
    const double bound =
        others + resting + grid_.least_with_run(order_class, {cells.data(), dimensions}, mask);
    if (!incumbent_.beats_all(bound, node.cycles) && bound < kNever) return true;
    if (middle_holds(problem_, problem_.middle_masks[size_t(mask)], extents)) {
      double least = kNever;
      for (const OrderClass& top_orders : classes_)
        least = std::min(least, middle_energy(problem_, top_orders, problem_.middle_masks[size_t(mask)],
                                              tiles, elements_));
      if (!incumbent_.beats_all(others + staying + least, node.cycles)) return true;
    }
    uint32_t bits = orders.run;
    for (; bits != 0; bits &= bits - 1) {
      const size_t d = size_t(__builtin_ctz(bits));
      if (++cells[d] <= top[d]) break;
      cells[d] = 0;
    }
    if (bits == 0) return false;
  }
}

void RemainderSearch::choose_middle(Node& node, int d, int mask) {
  if (d == problem_.dimension_count()) {
    cost(node, mask);
    return;
  }
  const size_t i = size_t(d);
  const int64_t inside = node.extents[i];
  for (int open = d; open < problem_.dimension_count(); ++open)
    node.middle_tiles[size_t(open)] = 1, node.active[size_t(open)] = node.used[size_t(open)];
  watch_.check();
  if (incumbent_.beats_all(estimate(node, problem_.middle_masks[size_t(mask)], d, ~0u, ~0u).energy,
                           node.cycles)) {
    ++result_->pruned;
    return;
  }
  std::vector<MiddleChoice> choices;
  if (problem_.has_middle) {
    choices_.list_middle(d, node.low[i], choices);
  } else {
    choices.push_back(middle_choice(problem_.sizes[i], node.low[i], node.low[i].array_tiles));
  }
  for (const MiddleChoice& choice : choices) {
    watch_.check();
    node.extents[i] = choice.extent;
    if (!middle_holds(problem_, problem_.middle_masks[size_t(mask)], node.extents)) continue;
    node.middle[i] = choice;
    node.middle_tiles[i] = double(choice.middle_tiles), node.active[i] = double(choice.active);
    choose_middle(node, d + 1, mask);
  }
  node.extents[i] = inside;
}

RemainderSearch::Estimate RemainderSearch::estimate(const Node& node, uint32_t mask, int open,
                                                    uint32_t first_middle, uint32_t first_top) const {
  // A class whose resting space the innermost loop moves is none of that loop's.
  const auto possible = [&](const OrderClass& orders, uint32_t first) {
    return (first & problem_.spaces[size_t(orders.resting)].irrelevant) != 0 || first_in_none(first);
  };
  uint32_t inside = 0;  // dimensions with a loop in the buffer
  for (int d = 0; d < open; ++d) inside |= node.middle[size_t(d)].middle > 1 ? 1u << d : 0;
  const CaseSpace& output = problem_.spaces[size_t(problem_.output)];
  const double base = problem_.arithmetic_energy - problem_.first_update_saving *
                                                       elements_[size_t(problem_.output)] *
                                                       product_over(output.irrelevant, node.used);
  Estimate best{kNever};
  for (size_t t = 0; t < classes_.size(); ++t) {
    if (!possible(classes_[t], first_top)) continue;
    const double top = base + middle_energy(problem_, classes_[t], mask, node.middle_tiles, elements_);
    for (size_t c = 0; c < classes_.size(); ++c) {
      if (!possible(classes_[c], first_middle)) continue;
      double energy = top;
      for (int s = 0; s < problem_.space_count(); ++s) {
        energy += low_energy(node, s, mask, passes_of(s, inside, classes_[c], classes_[t]));
      }
      if (energy < best.energy) best = {energy, int(c), int(t)};
    }
  }
  return best;
}

void RemainderSearch::cost(Node& node, int m) {
  ++result_->evaluated;
  const Estimate best =
      estimate(node, problem_.middle_masks[size_t(m)], problem_.dimension_count(), ~0u, ~0u);
  if (incumbent_.beats_all(best.energy, node.cycles)) {
    ++result_->pruned;
    return;
  }
  if (windowed_) {
    try_orders(node, m);
  } else {
    try_mapping(node, m, best.middle_class, best.top_class);
  }
}

void RemainderSearch::try_mapping(const Node& node, int m, int middle_class, int top_class) {
  const auto order = [&](int order_class) {
    std::vector<int> result;  // innermost first
    const uint32_t run = classes_[size_t(order_class)].run;
    for (const bool in_run : {true, false}) {
      for (int d = 0; d < problem_.dimension_count(); ++d) {
        if (((run >> d & 1u) != 0) == in_run) result.push_back(d);
      }
    }
    return result;
  };
  offer(build(node, problem_.middle_masks[size_t(m)], order(middle_class), order(top_class)));
}

// The traffic of the two levels adds up, each part depending on its own order: the best orders one by one.
void RemainderSearch::try_orders(const Node& node, int m) {
  const uint32_t mask = problem_.middle_masks[size_t(m)];
  std::vector<int> middle, top;
  uint32_t first_middle = 0, first_top = 0;  // innermost loops that are not beaten whatever follows
  for (int d = 0; d < problem_.dimension_count(); ++d) {
    if (node.middle[size_t(d)].middle > 1) middle.push_back(d);
    if (node.middle[size_t(d)].middle_tiles > 1) top.push_back(d);
    if (!incumbent_.beats_all(estimate(node, mask, problem_.dimension_count(), 1u << d, ~0u).energy,
                              node.cycles))
      first_middle |= 1u << d;
    if (!incumbent_.beats_all(estimate(node, mask, problem_.dimension_count(), ~0u, 1u << d).energy,
                              node.cycles))
      first_top |= 1u << d;
  }
  const Mapspace& mapspace = *problem_.mapspace;
  const auto energy_of = [&](const std::vector<int>& m_order, const std::vector<int>& t_order) {
    deadline_->check();
    return evaluate_mapping(mapspace.workload, mapspace.hardware, build(node, mask, m_order, t_order),
                            options_.rules)
        .energy;
  };
  const auto best_order = [&](const std::vector<int>& loops, uint32_t first, const auto& energy) {
    std::vector<int> best = loops;
    double least = kNever;
    for (const std::vector<int>& order : distinct_orders(loops, first)) {
      const double value = energy(order);
      if (value < least) least = value, best = order;
    }
    return best;
  };
  const std::vector<int> best_middle =
      best_order(middle, first_middle, [&](const std::vector<int>& order) { return energy_of(order, top); });
  const std::vector<int> best_top = best_order(
      top, first_top, [&](const std::vector<int>& order) { return energy_of(best_middle, order); });
  offer(build(node, mask, best_middle, best_top));
}

// Once a loop replaces the window's tile, what lies outside it fetches every tile anew; only the space at
// rest still gains from more of its run, so the rest of the order is settled.
std::vector<std::vector<int>> RemainderSearch::distinct_orders(const std::vector<int>& loops,
                                                               uint32_t first) const {
  std::vector<std::vector<int>> orders;
  std::vector<int> order;
  const auto settle = [&](uint32_t left) {
    std::vector<int> settled = order;
    uint32_t run = 0;
    for (const CaseSpace& space : problem_.spaces) {
      if (std::none_of(order.begin(), order.end(), [&](int d) { return (space.relevant >> d & 1u) != 0; }))
        run |= space.irrelevant;
    }
    for (const uint32_t part : {left & run, left & ~run}) {
      for (uint32_t bits = part; bits != 0; bits &= bits - 1) settled.push_back(__builtin_ctz(bits));
    }
    orders.push_back(std::move(settled));
  };
  const auto extend = [&](const auto& self, uint32_t left) -> void {
    problem_.check();
    if (left == 0 || (!order.empty() && (replaces_ >> order.back() & 1u) != 0)) {
      settle(left);
      return;
    }
    for (uint32_t bits = order.empty() ? left & first : left; bits != 0; bits &= bits - 1) {
      order.push_back(__builtin_ctz(bits));
      self(self, left & ~(1u << order.back()));
      order.pop_back();
    }
  };
  uint32_t all = 0;
  for (const int d : loops) all |= 1u << d;
  extend(extend, all);
  return orders;
}

Mapping RemainderSearch::build(const Node& node, uint32_t mask, const std::vector<int>& middle_order,
                               const std::vector<int>& top_order) const {
  Mapping mapping;
  for (const ArrayLevel& level : problem_.mapspace->hardware.levels)
    mapping.levels.push_back({level.name, {}, {}, (1u << problem_.space_count()) - 1});
  MappingLevel& middle = mapping.levels[size_t(problem_.middle)];
  if (problem_.has_middle) middle.keeps = mask;
  const auto add = [&](int level, int d, int64_t factor) {
    if (factor > 1)
      mapping.levels[size_t(level)].temporal.push_back({problem_.dimensions[size_t(d)], factor});
  };
  for (auto d = top_order.rbegin(); problem_.has_middle && d != top_order.rend(); ++d)
    add(problem_.top, *d, node.middle[size_t(*d)].middle_tiles);
  for (auto d = middle_order.rbegin(); d != middle_order.rend(); ++d)
    add(problem_.middle, *d, node.middle[size_t(*d)].middle);
  const std::vector<int64_t>& factors = node.spatial;
  std::vector<int64_t> on_x;
  fits_array(node, &on_x);
  for (const SpatialAxis axis : {SpatialAxis::kY, SpatialAxis::kX}) {
    for (size_t d = 0; d < factors.size(); ++d) {
      const int64_t factor = axis == SpatialAxis::kX ? on_x[d] : factors[d] / on_x[d];
      if (factor > 1) middle.spatial.push_back({problem_.dimensions[d], factor, axis});
    }
  }
  for (size_t d = 0; d < factors.size(); ++d) add(problem_.low, int(d), node.low[d].low);
  return mapping;
}

void RemainderSearch::offer(const Mapping& mapping) {
  const Mapspace& mapspace = *problem_.mapspace;
  const Cost cost = evaluate_mapping(mapspace.workload, mapspace.hardware, mapping, options_.rules);
  if (options_.max_cycles && cost.cycles > *options_.max_cycles) return;
  if (!incumbent_.offer(cost.energy, double(cost.cycles), {})) return;
  result_->mapping = mapping;
  result_->cost = cost;
  result_->value = incumbent_.first(cost.energy, double(cost.cycles));
  result_->seconds_to_value = deadline_->seconds();
  result_->curve.push_back({result_->seconds_to_value, result_->value, 0});
}

}  // namespace tilewright::lattice
