// The coarse grid over numbers of buffer tiles, and energies as sums over spaces.
#include "tilewright/spatial/lattice/remainder_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/base/integer_math.h"

namespace tilewright::lattice {
namespace {

constexpr double kMostCells = 1 << 16;
constexpr float kNeverFloat = std::numeric_limits<float>::infinity();

}  // namespace

double product_over(uint32_t set, const Counts& counts) {
  double result = 1;
  for (; set != 0; set &= set - 1) result *= counts[size_t(__builtin_ctz(set))];
  return result;
}

double middle_energy(const LatticeCase& problem, const OrderClass& orders, uint32_t mask,
                     const Counts& middle_tiles, std::span<const double> elements) {
  double result = 0;
  for (int s = 0; s < problem.space_count(); ++s) {
    if ((mask >> s & 1u) == 0) continue;
    const CaseSpace& space = problem.spaces[size_t(s)];
    uint32_t repeats = space.irrelevant;
    if (s == orders.resting) repeats &= ~orders.run;
    if (space.windowed && orders.window_passes) repeats = 0;
    const BoundaryWeights& weights = space.top_to_middle;
    const double passes = product_over(repeats, middle_tiles);
    result += elements[size_t(s)] * ((weights.per_read + weights.per_fill) * passes -
                                     (space.output ? weights.first_read + weights.first_fill : 0));
  }
  return result;
}

bool middle_holds(const LatticeCase& problem, uint32_t mask, std::span<const int64_t> extents) {
  double shared = 0;
  for (int s = 0; s < problem.space_count(); ++s) {
    if ((mask >> s & 1u) == 0) continue;
    const CaseSpace& space = problem.spaces[size_t(s)];
    const double words = elements_of(space, extents);
    if (space.middle_reserved < 0) {
      shared += words;
    } else if (words > double(space.middle_reserved)) {
      return false;
    }
  }
  return shared <= double(problem.middle_capacity);
}

bool low_holds(const LatticeCase& problem, std::span<const int64_t> extents) {
  double shared = 0;
  for (const CaseSpace& space : problem.spaces) {
    const double words = elements_of(space, extents);
    if (space.low_reserved < 0) {
      shared += words;
    } else if (words > double(space.low_reserved)) {
      return false;
    }
  }
  return shared <= double(problem.low_capacity);
}

MiddleGrid::MiddleGrid(const LatticeCase& problem)
    : masks_(int(problem.middle_masks.size())), classes_(order_classes(problem)) {
  choose_cells(problem);
  fill(problem);
  const uint32_t all = (1u << problem.dimension_count()) - 1;
  least_table_ = energy_;
  take_minima(all, least_table_);
  std::vector<uint32_t> runs;
  for (const OrderClass& orders : classes_) {
    const auto place = std::find(runs.begin(), runs.end(), orders.run);
    table_of_class_.push_back(int(place - runs.begin()));
    if (place != runs.end()) continue;
    runs.push_back(orders.run);
    run_tables_.push_back(energy_);
    take_minima(all & ~orders.run, run_tables_.back());
  }
}

// Numbers of tiles that occur, merged in equal ratios until the grid is small enough.
void MiddleGrid::choose_cells(const LatticeCase& problem) {
  std::vector<std::vector<int64_t>> numbers;
  for (const int64_t size : problem.sizes) {
    numbers.emplace_back();
    for (int64_t extent = size; extent >= 1; --extent) {
      const int64_t count = ceil_div(size, extent);
      if (numbers.back().empty() || numbers.back().back() != count) numbers.back().push_back(count);
    }
  }
  size_t limit = 256;
  const auto cells = [&] {
    double product = 1;
    for (const auto& list : numbers) product *= double(std::min(list.size(), limit));
    return product;
  };
  while (cells() > kMostCells && limit > 2) --limit;
  for (size_t d = 0; d < numbers.size(); ++d) {
    const std::vector<int64_t>& list = numbers[d];
    const size_t count = std::min(list.size(), limit);
    least_.emplace_back(), extent_.emplace_back();
    strides_.push_back(size_);
    size_ *= count;
    for (size_t cell = 0; cell < count; ++cell) {
      const size_t first = cell * list.size() / count, last = (cell + 1) * list.size() / count - 1;
      least_.back().push_back(list[first]);
      extent_.back().push_back(ceil_div(problem.sizes[d], list[last]));
    }
  }
}

int MiddleGrid::cell_of(int dimension, int64_t tiles) const {
  const std::vector<int64_t>& least = least_[size_t(dimension)];
  return int(std::upper_bound(least.begin(), least.end(), tiles) - least.begin()) - 1;
}

void MiddleGrid::fill(const LatticeCase& problem) {
  energy_.assign(size_ * size_t(masks_), kNeverFloat);
  const size_t dimensions = problem.sizes.size();
  std::vector<double> elements;
  for (const CaseSpace& space : problem.spaces) elements.push_back(elements_of(space, problem.sizes));
  std::vector<int64_t> extents(dimensions);
  Counts tiles{};
  for (size_t place = 0; place < size_; ++place) {
    bool whole = true;
    for (size_t d = 0; d < dimensions; ++d) {
      const size_t cell = place / strides_[d] % least_[d].size();
      extents[d] = extent_[d][cell];
      tiles[d] = double(least_[d][cell]);
      whole = whole && cell == 0;
    }
    if (!problem.has_middle && !whole) continue;
    problem.check();
    for (int m = 0; m < masks_; ++m) {
      const uint32_t mask = problem.middle_masks[size_t(m)];
      if (!middle_holds(problem, mask, extents)) continue;
      double best = std::numeric_limits<double>::infinity();
      for (const OrderClass& orders : classes_)
        best = std::min(best, middle_energy(problem, orders, mask, tiles, elements));
      // Rounded down, so that it stays a bound.
      energy_[place * size_t(masks_) + size_t(m)] = std::nextafter(float(best), -kNeverFloat);
    }
  }
}

void MiddleGrid::take_minima(uint32_t set, std::vector<float>& table) const {
  const size_t masks = size_t(masks_);
  for (; set != 0; set &= set - 1) {
    const size_t d = size_t(__builtin_ctz(set));
    for (size_t place = 0; place < size_; ++place) {
      if (place / strides_[d] % least_[d].size() == 0) continue;
      const float* from = &table[(place - strides_[d]) * masks];
      float* to = &table[place * masks];
      for (size_t m = 0; m < masks; ++m) to[m] = std::min(to[m], from[m]);
    }
  }
}

double MiddleGrid::value(const std::vector<float>& table, std::span<const int> cells, int mask) const {
  size_t place = 0;
  for (size_t d = 0; d < cells.size(); ++d) place += size_t(cells[d]) * strides_[d];
  return double(table[place * size_t(masks_) + size_t(mask)]);
}

}  // namespace tilewright::lattice
