// Shortest path over sets of loops; see the header. The words that a loop brings are those of
// nest/access_counts.h, for tiles that divide: either every overlap with the previous tile (exact), or only
// that of the innermost loop that moves the tile (Timeloop).
#include "tilewright/spatial/lattice/loop_orders.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tilewright::lattice {
namespace {

// One term of a rank: how many iterations the tile has, how many tiles stand side by side in space.
struct Term {
  int64_t coefficient = 1, tile = 1, spatial = 1;
};

// Distinct values of interval starts a*i + b*j, each covering `length` values.
int64_t covered(const Term& a, const Term& b, int64_t length) {
  if (length == 0) return 0;
  const int64_t step_a = a.coefficient * a.tile, step_b = b.coefficient * b.tile;
  if (a.spatial == 1 && b.spatial == 1) return length;
  if (b.spatial == 1) return length + (a.spatial - 1) * std::min(length, step_a);
  if (a.spatial == 1) return length + (b.spatial - 1) * std::min(length, step_b);
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < a.spatial; ++i) {
    for (int64_t j = 0; j < b.spatial; ++j) starts.push_back(i * step_a + j * step_b);
  }
  std::sort(starts.begin(), starts.end());
  int64_t result = length;
  for (size_t k = 1; k < starts.size(); ++k) result += std::min(length, starts[k] - starts[k - 1]);
  return result;
}

// As `covered`, for tiles with gaps: marks every element that a child fetches.
int64_t marked(const Term& a, const Term& b, int64_t shift) {
  const int64_t span = a.coefficient * (a.tile - 1) + b.coefficient * (b.tile - 1) + 1;
  std::vector<char> tile(size_t(span), 0);
  for (int64_t i = 0; i < a.tile; ++i) {
    for (int64_t j = 0; j < b.tile; ++j) tile[size_t(a.coefficient * i + b.coefficient * j)] = 1;
  }
  std::vector<int64_t> fetched;
  for (int64_t k = 0; k < span; ++k) {
    const int64_t before = k + shift;
    if (tile[size_t(k)] != 0 && (before < 0 || before >= span || tile[size_t(before)] == 0))
      fetched.push_back(k);
  }
  std::vector<int64_t> all;
  for (int64_t i = 0; i < a.spatial; ++i) {
    for (int64_t j = 0; j < b.spatial; ++j) {
      for (const int64_t k : fetched)
        all.push_back(k + i * a.coefficient * a.tile + j * b.coefficient * b.tile);
    }
  }
  std::sort(all.begin(), all.end());
  return std::unique(all.begin(), all.end()) - all.begin();
}

RankWords rank_words(const Term& a, const Term& b, int64_t shift) {
  RankWords result;
  result.tile = window_words(a.coefficient, a.tile, b.coefficient, b.tile);
  result.all = window_words(a.coefficient, a.tile * a.spatial, b.coefficient, b.tile * b.spatial);
  result.tile_kept = window_overlap(a.coefficient, a.tile, b.coefficient, b.tile, std::abs(shift));
  if (shift == 0) {
    result.all_kept = result.all;
    return result;
  }
  const int64_t span = a.coefficient * (a.tile - 1) + b.coefficient * (b.tile - 1) + 1;
  const int64_t fetched =
      result.tile == span ? covered(a, b, std::min(span, std::abs(shift))) : marked(a, b, shift);
  result.all_kept = result.all - fetched;
  return result;
}

}  // namespace

OrderSearch::OrderSearch(const LatticeCase& problem, const Lattice& lattice)
    : problem_(problem), lattice_(lattice) {}

void OrderSearch::set_loops(Index outer, Index inner) {
  loops_.clear();
  for (int d = 0; d < lattice_.dimension_count(); ++d) {
    const int64_t step = lattice_.value(inner, d), factor = lattice_.value(outer, d) / step;
    if (factor > 1) loops_.push_back({d, factor, step});
  }
}

// Words of one rank, remembered: the same few tiles and shifts come back for most mappings.
const RankWords& OrderSearch::window_moves(const Boundary& boundary, const CaseRank& rank, int64_t shift) {
  const int a = rank.dimension[0], b = rank.dimension[1];
  const auto place = [&](Index box) {
    return uint64_t(lattice_.digit(box, a) * lattice_.list(b).count() + lattice_.digit(box, b));
  };
  const uint64_t rank_index = uint64_t(&rank - boundary.space->ranks.data());
  const uint64_t key = (uint64_t(shift + (int64_t{1} << 25)) << 38) ^ (place(boundary.tile) << 21) ^
                       (place(boundary.spatial) << 4) ^ rank_index;
  const auto [entry, is_new] = remembered_.try_emplace(key);
  if (is_new) {
    Term terms[2];
    for (int k = 0; k < 2; ++k) {
      const int d = rank.dimension[k];
      terms[k] = {rank.coefficient[k], lattice_.value(boundary.tile, d), lattice_.value(boundary.spatial, d)};
    }
    entry->second = rank_words(terms[0], terms[1], shift);
  }
  return entry->second;
}

// Every overlap counts. Tiles along a dimension in a rank of its own do not overlap; the others shift.
OrderSearch::Words OrderSearch::overlapping_words(const Boundary& boundary, uint32_t inside,
                                                  const Loop& loop) {
  const auto moved = [&](int d) {
    int64_t result = -(boundary.below ? reset_below_[size_t(d)] : 0);
    for (size_t k = 0; k < loops_.size(); ++k) {
      if (loops_[k].dimension == d && (inside >> k & 1u) != 0)
        result -= (loops_[k].factor - 1) * loops_[k].step;
    }
    return result + (loop.dimension == d ? loop.step : 0);
  };
  double tile_kept = boundary.words, all_kept = boundary.words_read;
  for (const CaseRank& rank : boundary.space->ranks) {
    if (rank.terms == 1) continue;
    const int64_t shift =
        rank.coefficient[0] * moved(rank.dimension[0]) + rank.coefficient[1] * moved(rank.dimension[1]);
    const RankWords& words = window_moves(boundary, rank, shift);
    tile_kept *= double(words.tile_kept) / double(words.tile);
    all_kept *= double(words.all_kept) / double(words.all);
  }
  return {boundary.words_read - all_kept, boundary.words - tile_kept};
}

OrderSearch::Words OrderSearch::new_words(const Boundary& boundary, uint32_t inside, uint32_t moving_inside,
                                          const Loop& loop) {
  const CaseSpace& space = *boundary.space;
  const uint32_t moving = (moving_inside | (boundary.below ? loops_below_ : 0)) & space.relevant;
  const uint32_t moved = moving | (1u << loop.dimension & space.relevant);
  const Words all{boundary.words_read, boundary.words};
  if (moved == 0) return {};
  if (!space.windowed) return all;
  if (problem_.accounting == Accounting::kExact) {
    return (moved & boundary.single_ranks) != 0 ? all : overlapping_words(boundary, inside, loop);
  }
  if (moving != 0) return all;
  double words = boundary.words;
  for (const CaseRank& rank : space.ranks) {
    for (int k = 0; k < rank.terms && rank.terms == 2; ++k) {
      if (rank.dimension[k] != loop.dimension) continue;
      const int64_t span = window_span(rank.coefficient[0], lattice_.value(boundary.tile, rank.dimension[0]),
                                       rank.coefficient[1], lattice_.value(boundary.tile, rank.dimension[1]));
      words -= words / double(span) * double(std::max<int64_t>(0, span - rank.coefficient[k] * loop.step));
    }
  }
  return {words * boundary.distinct, words};
}

double OrderSearch::advance_cost(const Loop& loop, uint32_t inside, uint32_t moving_inside) {
  double result = 0;
  for (const Boundary& boundary : boundaries_) {
    const Words words = new_words(boundary, inside, moving_inside, loop);
    result += boundary.per_read * words.read + boundary.per_fill * boundary.instances * words.filled;
  }
  return result;
}

double OrderSearch::cheapest_order(std::vector<int>* order) {
  const uint32_t sets = 1u << loops_.size();
  best_.assign(sets, std::numeric_limits<double>::infinity());
  last_.assign(sets, -1);
  best_[0] = 0;
  for (uint32_t inside = 0; inside + 1 < sets; ++inside) {
    double outside = 1;
    uint32_t moving_inside = 0;
    for (size_t k = 0; k < loops_.size(); ++k) {
      if ((inside >> k & 1u) == 0) {
        outside *= double(loops_[k].factor);
      } else {
        moving_inside |= 1u << loops_[k].dimension;
      }
    }
    for (size_t k = 0; k < loops_.size(); ++k) {
      if ((inside >> k & 1u) != 0) continue;
      const double factor = double(loops_[k].factor);
      const double advances = (factor - 1) * (outside / factor);
      const double cost = best_[inside] + advances * advance_cost(loops_[k], inside, moving_inside);
      const uint32_t grown = inside | 1u << k;
      if (cost < best_[grown]) best_[grown] = cost, last_[grown] = int(k);
    }
  }
  if (order != nullptr) {
    for (uint32_t set = sets - 1; set != 0; set &= ~(1u << last_[set]))
      order->push_back(loops_[size_t(last_[set])].dimension);
    std::reverse(order->begin(), order->end());
  }
  return best_[sets - 1];
}

// Returns the energy of the boundary's first tile, less what first visits save.
double OrderSearch::add_boundary(int space, Index tile, Index spatial, const BoundaryWeights& weights,
                                 bool below) {
  const CaseSpace& data = problem_.spaces[size_t(space)];
  Boundary boundary{&data, tile, spatial, weights.per_read, weights.per_fill};
  boundary.instances = lattice_.points(spatial);
  boundary.distinct = lattice_.distinct_tiles(space, tile, spatial);
  boundary.words = lattice_.words(space, tile);
  boundary.below = below;
  boundary.single_ranks = lattice_.single_ranks(space);
  boundary.words_read = boundary.words * boundary.distinct;
  if (problem_.accounting == Accounting::kExact && data.windowed) {
    boundary.words_read = 1;
    for (const CaseRank& rank : data.ranks) {
      const int d = rank.dimension[0];
      boundary.words_read *= rank.terms == 1 ? double(lattice_.value(tile, d) * lattice_.value(spatial, d))
                                             : double(window_moves(boundary, rank, 0).all);
    }
  }
  double first =
      boundary.per_read * boundary.words_read + boundary.per_fill * boundary.instances * boundary.words;
  if (data.output) {
    const double total = lattice_.words(space, lattice_.size() - 1);
    double ignored_instances = 1;
    for (uint32_t bits = data.irrelevant; bits != 0; bits &= bits - 1)
      ignored_instances *= double(lattice_.value(spatial, __builtin_ctz(bits)));
    first -= total * (weights.first_read + weights.first_fill * ignored_instances);
  }
  boundaries_.push_back(boundary);
  return first;
}

double OrderSearch::search(const Tiles& tiles, LoopOrders* orders) {
  const Index all = lattice_.size() - 1, spatial = lattice_.quotient(tiles.array, tiles.low);
  boundaries_.clear();
  double energy = 0;
  for (int s = 0; s < problem_.space_count(); ++s) {
    const bool kept = (tiles.mask >> s & 1u) != 0;
    const CaseSpace& space = problem_.spaces[size_t(s)];
    energy += add_boundary(s, tiles.low, spatial, kept ? space.middle_to_low : space.top_to_low, true);
  }
  const CaseSpace& output = problem_.spaces[size_t(problem_.output)];
  double instances_per_output = 1;
  for (uint32_t bits = output.irrelevant; bits != 0; bits &= bits - 1)
    instances_per_output *= double(lattice_.value(spatial, __builtin_ctz(bits)));
  energy += problem_.arithmetic_energy -
            problem_.first_update_saving * lattice_.words(problem_.output, all) * instances_per_output;

  set_loops(tiles.middle, tiles.array);
  for (Boundary& boundary : boundaries_) boundary.below = false;
  energy += lattice_.tiles(tiles.middle) * cheapest_order(orders != nullptr ? &orders->middle : nullptr);
  loops_below_ = 0;
  reset_below_.fill(0);
  for (const Loop& loop : loops_) {
    loops_below_ |= 1u << loop.dimension;
    reset_below_[size_t(loop.dimension)] = (loop.factor - 1) * loop.step;
  }
  for (Boundary& boundary : boundaries_) boundary.below = true;
  for (int s = 0; s < problem_.space_count(); ++s) {
    if ((tiles.mask >> s & 1u) != 0)
      energy += add_boundary(s, tiles.middle, 0, problem_.spaces[size_t(s)].top_to_middle, false);
  }
  set_loops(all, tiles.middle);
  energy += cheapest_order(orders != nullptr ? &orders->top : nullptr);
  return energy;
}

}  // namespace tilewright::lattice
