// Dominance among the factors of one dimension: counts of spaces without windows grow with the numbers of
// tiles and instances only, capacities with the extents, cycles with the steps.
#include "tilewright/spatial/lattice/remainder_choices.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/spatial/lattice/lattice.h"

namespace tilewright::lattice {
namespace {

// Whether `spatial` instances can share `tiles` tiles without a loop that is longer than what is left for it.
bool shares(const LatticeCase& problem, int64_t spatial, int64_t tiles) {
  if (spatial <= tiles) return true;
  for (int64_t x = 1; x <= std::min(problem.fanout_x, tiles); ++x) {
    const int64_t y = spatial / x;
    if (spatial % x == 0 && y <= problem.fanout_y && (y - 1) * x < tiles) return true;
  }
  return false;
}

}  // namespace

LowChoice low_choice(int64_t size, int64_t low, int64_t spatial) {
  LowChoice result{low, spatial};
  result.low_tiles = ceil_div(size, low);
  result.array_tiles = ceil_div(result.low_tiles, spatial);
  const int64_t left = size - (result.array_tiles - 1) * low * spatial;
  result.steps = (result.array_tiles - 1) * low + std::min(low, left);
  return result;
}

MiddleChoice middle_choice(int64_t size, const LowChoice& split, int64_t middle) {
  MiddleChoice result{middle};
  result.middle_tiles = ceil_div(split.array_tiles, middle);
  result.extent = std::min(size, split.low * split.spatial * middle);
  const int64_t left = split.low_tiles - (result.middle_tiles - 1) * middle * split.spatial;
  result.active = (result.middle_tiles - 1) * split.spatial + std::min(split.spatial, left);
  return result;
}

RemainderChoices::RemainderChoices(const LatticeCase& problem) : problem_(problem) {
  for (const CaseSpace& space : problem.spaces) {
    for (const CaseRank& rank : space.ranks) {
      for (int k = 0; k < rank.terms && rank.terms == 2; ++k) windowed_ |= 1u << rank.dimension[k];
    }
  }
  const int64_t array = problem.fanout_x * problem.fanout_y;
  for (int d = 0; d < problem.dimension_count(); ++d) {
    const int64_t size = problem.sizes[size_t(d)];
    DeadlineWatch watch(problem.deadline);
    low_.emplace_back(1), least_steps_.emplace_back(1);
    for (int64_t spatial = 1; spatial <= std::min(size + problem.fanout_x, array); ++spatial) {
      std::vector<LowChoice> kept;
      int64_t least_steps = size;
      for (int64_t low = 1; low <= size; ++low) {
        watch.check();
        const LowChoice choice = low_choice(size, low, spatial);
        if (!shares(problem, spatial, choice.low_tiles)) break;
        least_steps = std::min(least_steps, choice.steps);
        const bool beaten = !windowed(d) && std::any_of(kept.begin(), kept.end(), [&](const LowChoice& k) {
          return k.low_tiles <= choice.low_tiles && k.steps <= choice.steps;
        });
        if (!beaten) kept.push_back(choice);
      }
      low_.back().push_back(std::move(kept));
      least_steps_.back().push_back(least_steps);
    }
  }
}

int64_t RemainderChoices::least_used(int dimension, int64_t spatial) const {
  int64_t result = spatial;
  for (const LowChoice& choice : low(dimension, spatial)) result = std::min(result, choice.used());
  return result;
}

void RemainderChoices::list_middle(int dimension, const LowChoice& split,
                                   std::vector<MiddleChoice>& choices) const {
  const int64_t size = problem_.sizes[size_t(dimension)];
  choices.clear();
  const int64_t tiles = split.array_tiles;
  if (windowed(dimension)) {
    for (int64_t middle = tiles; middle >= 1; --middle) choices.push_back(middle_choice(size, split, middle));
    return;
  }
  // Of all buffer tiles with the same number of tiles the smallest, and the largest if that leaves so little
  // for the last one that fewer instances work in it.
  for (int64_t middle = tiles; middle >= 1;) {
    const int64_t count = ceil_div(tiles, middle), smallest = ceil_div(tiles, count);
    choices.push_back(middle_choice(size, split, smallest));
    if (count > 1) {
      const MiddleChoice largest = middle_choice(size, split, (tiles - 1) / (count - 1));
      if (largest.active < choices.back().active) choices.push_back(largest);
    }
    middle = smallest - 1;
  }
}

double elements_of(const CaseSpace& space, std::span<const int64_t> extents) {
  double result = 1;
  for (const CaseRank& rank : space.ranks) {
    const int64_t first = extents[size_t(rank.dimension[0])];
    result *= double(rank.terms == 1 ? first
                                     : window_words(rank.coefficient[0], first, rank.coefficient[1],
                                                    extents[size_t(rank.dimension[1])]));
  }
  return result;
}

}  // namespace tilewright::lattice
