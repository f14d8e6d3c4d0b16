// Tables over the divisor lattice. Everything is built digit by digit; the largest table has one double per
// box and space.
#include "tilewright/spatial/lattice/lattice.h"

#include <algorithm>
#include <numeric>

namespace tilewright::lattice {
namespace {

bool is_prime(int64_t value) {
  for (int64_t factor = 2; factor * factor <= value; ++factor) {
    if (value % factor == 0) return false;
  }
  return value > 1;
}

bool split(const LatticeCase& problem, std::span<const int64_t> factors, std::span<const int64_t> tiles,
           size_t d, int64_t x, int64_t y, std::vector<int64_t>* on_x) {
  if (x > problem.fanout_x || y > problem.fanout_y) return false;
  if (d == factors.size()) return true;
  for (int64_t part = std::min(factors[d], problem.fanout_x); part >= 1; --part) {
    if (factors[d] % part != 0) continue;
    const int64_t rest = factors[d] / part;
    if (problem.one_axis_per_dimension && part != 1 && rest != 1) continue;
    if (!tiles.empty() && (part > tiles[d] || (rest - 1) * part >= tiles[d])) continue;
    if (problem.fixed_x[d] != 0 && problem.fixed_x[d] != part) continue;
    if (problem.fixed_y[d] != 0 && problem.fixed_y[d] != rest) continue;
    if (on_x != nullptr) (*on_x)[d] = part;
    if (split(problem, factors, tiles, d + 1, x * part, y * rest, on_x)) return true;
  }
  return false;
}

DivisorList divisor_list(int64_t size) {
  DivisorList list;
  for (int64_t value = 1; value <= size; ++value) {
    if (size % value == 0) list.values.push_back(value);
  }
  const int count = list.count();
  list.multiples.resize(size_t(count)), list.divisors.resize(size_t(count));
  list.covers.resize(size_t(count)), list.quotient.assign(size_t(count * count), -1);
  for (int part = 0; part < count; ++part) {
    for (int whole = part; whole < count; ++whole) {
      const int64_t p = list.values[size_t(part)], w = list.values[size_t(whole)];
      if (w % p != 0) continue;
      list.multiples[size_t(part)].push_back(whole);
      list.divisors[size_t(whole)].push_back(part);
      if (is_prime(w / p)) list.covers[size_t(part)].push_back(whole);
      const auto place = std::lower_bound(list.values.begin(), list.values.end(), w / p);
      list.quotient[size_t(whole * count + part)] = int(place - list.values.begin());
    }
  }
  return list;
}

}  // namespace

bool split_over_axes(const LatticeCase& problem, std::span<const int64_t> factors,
                     std::span<const int64_t> tiles, std::vector<int64_t>* on_x) {
  if (on_x != nullptr) on_x->assign(factors.size(), 1);
  return split(problem, factors, tiles, 0, 1, 1, on_x);
}

int64_t window_words(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b) {
  const int64_t common = std::gcd(a, b);
  a /= common, b /= common;
  return tile_a * tile_b - std::max<int64_t>(0, tile_a - b) * std::max<int64_t>(0, tile_b - a);
}

int64_t window_span(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b) {
  return a * (tile_a - 1) + b * (tile_b - 1) + 1;
}

int64_t window_overlap(int64_t a, int64_t tile_a, int64_t b, int64_t tile_b, int64_t shift) {
  const int64_t span = window_span(a, tile_a, b, tile_b);
  if (shift >= span) return 0;
  if (window_words(a, tile_a, b, tile_b) == span) return span - shift;
  std::vector<char> touched(size_t(span), 0);
  for (int64_t i = 0; i < tile_a; ++i) {
    for (int64_t j = 0; j < tile_b; ++j) touched[size_t(a * i + b * j)] = 1;
  }
  int64_t result = 0;
  for (int64_t k = shift; k < span; ++k) result += touched[size_t(k)] & touched[size_t(k - shift)];
  return result;
}

double Lattice::size_of(const LatticeCase& problem) {
  double result = 1;
  for (const int64_t size : problem.sizes) {
    int64_t count = 0;
    for (int64_t value = 1; value * value <= size; ++value) {
      if (size % value == 0) count += value * value == size ? 1 : 2;
    }
    result *= double(count);
  }
  return result;
}

Lattice::Lattice(const LatticeCase& problem) : boxes_(problem.accounting == Accounting::kTimeloop) {
  build_lists(problem);
  build_windows(problem);
  build_tables(problem);
}

void Lattice::build_lists(const LatticeCase& problem) {
  for (const int64_t size : problem.sizes) {
    lists_.push_back(divisor_list(size));
    lists_.back().stride = size_;
    size_ *= Index(lists_.back().count());
  }
  digits_.resize(size_t(size_) * lists_.size());
  for (Index box = 0; box < size_; ++box) {
    for (size_t d = 0; d < lists_.size(); ++d) {
      digits_[size_t(box) * lists_.size() + d] = uint8_t(box / lists_[d].stride % Index(lists_[d].count()));
    }
  }
}

void Lattice::build_windows(const LatticeCase& problem) {
  single_ranks_.assign(size_t(problem.space_count()), 0);
  for (int space = 0; space < problem.space_count(); ++space) {
    for (const CaseRank& rank : problem.spaces[size_t(space)].ranks) {
      if (rank.terms == 1) {
        single_ranks_[size_t(space)] |= 1u << rank.dimension[0];
        continue;
      }
      WindowTable table;
      table.space = space, table.first = rank.dimension[0], table.second = rank.dimension[1];
      const int64_t a = table.coefficient[0] = rank.coefficient[0];
      const int64_t b = table.coefficient[1] = rank.coefficient[1];
      const DivisorList &first = list(table.first), &second = list(table.second);
      for (const int64_t tile_a : first.values) {
        for (const int64_t tile_b : second.values) {
          const int64_t span = window_span(a, tile_a, b, tile_b);
          table.elements.push_back(window_words(a, tile_a, b, tile_b));
          table.words.push_back(boxes_ ? span : table.elements.back());
          const auto new_words = [&](int64_t shift) {
            return boxes_ ? std::min(span, shift)
                          : table.words.back() - window_overlap(a, tile_a, b, tile_b, shift);
          };
          for (const int64_t step : first.values) table.new_words[0].push_back(new_words(a * step));
          for (const int64_t step : second.values) table.new_words[1].push_back(new_words(b * step));
        }
      }
      build_instance_tables(problem, table);
      windows_.push_back(std::move(table));
    }
  }
}

// The tiles of an instance begin at multiples of (tile * spatial) of each dimension.
void Lattice::build_instance_tables(const LatticeCase& problem, WindowTable& table) const {
  const DivisorList &first = list(table.first), &second = list(table.second);
  const int64_t a = table.coefficient[0], b = table.coefficient[1];
  const int64_t size_a = first.values.back(), size_b = second.values.back();
  const size_t tiles = table.words.size();
  table.distinct_tiles.assign(tiles * tiles, 0);
  table.swept_words.assign(tiles * tiles, 0);
  std::vector<char> touched(size_t(a * (size_a - 1) + b * (size_b - 1) + 1));
  for (size_t place = 0; place < tiles * tiles; ++place) {
    const size_t tile = place / tiles, spatial = place % tiles, count = size_t(second.count());
    const int64_t tile_a = first.values[tile / count], tile_b = second.values[tile % count];
    const int64_t spatial_a = first.values[spatial / count], spatial_b = second.values[spatial % count];
    if (size_a % (tile_a * spatial_a) != 0 || size_b % (tile_b * spatial_b) != 0) continue;
    problem.check();  // of long kernels a place takes seconds
    table.distinct_tiles[place] = window_words(a * tile_a, spatial_a, b * tile_b, spatial_b);
    std::fill(touched.begin(), touched.end(), 0);
    for (int64_t i = 0; i < size_a; ++i) {
      if (i % 256 == 255) problem.check();
      if (i % (tile_a * spatial_a) >= tile_a) continue;
      for (int64_t j = 0; j < size_b; ++j) {
        if (j % (tile_b * spatial_b) < tile_b) touched[size_t(a * i + b * j)] = 1;
      }
    }
    table.swept_words[place] = std::count(touched.begin(), touched.end(), 1);
  }
}

void Lattice::build_tables(const LatticeCase& problem) {
  const size_t spaces = size_t(problem.space_count());
  points_.assign(size_, 1);
  fits_array_.assign(size_, 0);
  ignored_tiles_.assign(spaces, std::vector<double>(size_, 1));
  words_ = elements_ = ignored_tiles_;
  if (problem.stores_boxes) held_ = ignored_tiles_;
  std::vector<int64_t> extents(lists_.size());
  for (Index box = 0; box < size_; ++box) {
    for (int d = 0; d < dimension_count(); ++d) {
      extents[size_t(d)] = value(box, d);
      points_[box] *= double(extents[size_t(d)]);
      for (size_t s = 0; s < spaces; ++s) {
        if ((problem.spaces[s].irrelevant >> d & 1u) != 0)
          ignored_tiles_[s][box] *= double(problem.sizes[size_t(d)] / extents[size_t(d)]);
      }
    }
    for (size_t s = 0; s < spaces; ++s) {
      for (const CaseRank& rank : problem.spaces[s].ranks) {
        if (rank.terms != 1) continue;
        const int64_t extent = extents[size_t(rank.dimension[0])];
        const bool box_moves = boxes_ && !problem.spaces[s].output;
        elements_[s][box] *= double(extent);
        words_[s][box] *= double(box_moves ? window_span(rank.coefficient[0], extent, 1, 1) : extent);
      }
    }
    for (size_t s = 0; s < held_.size(); ++s) {
      for (const CaseRank& rank : problem.spaces[s].boxes) {
        const int64_t second = rank.terms == 2 ? extents[size_t(rank.dimension[1])] : 1;
        held_[s][box] *= double(window_span(rank.coefficient[0], extents[size_t(rank.dimension[0])],
                                            rank.coefficient[1], second));
      }
    }
    for (const WindowTable& window : windows_) {
      const int tile = digit(box, window.first) * list(window.second).count() + digit(box, window.second);
      elements_[size_t(window.space)][box] *= double(window.elements[size_t(tile)]);
      words_[size_t(window.space)][box] *= double(window.words[size_t(tile)]);
    }
    if (points_[box] <= double(problem.fanout_x * problem.fanout_y))
      fits_array_[box] = split_over_axes(problem, extents, {}, nullptr) ? 1 : 0;
  }
}

Index Lattice::quotient(Index box, Index part) const {
  Index result = 0;
  for (int d = 0; d < dimension_count(); ++d) {
    result += Index(list(d).quotient_digit(digit(box, d), digit(part, d))) * list(d).stride;
  }
  return result;
}

bool Lattice::divides(Index part, Index box) const {
  for (int d = 0; d < dimension_count(); ++d) {
    if (list(d).quotient_digit(digit(box, d), digit(part, d)) < 0) return false;
  }
  return true;
}

namespace {

size_t instance_place(const Lattice& lattice, const WindowTable& window, Index tile, Index spatial) {
  const int count = lattice.list(window.second).count();
  const int place = lattice.digit(tile, window.first) * count + lattice.digit(tile, window.second);
  const int instances = lattice.digit(spatial, window.first) * count + lattice.digit(spatial, window.second);
  return size_t(place) * window.words.size() + size_t(instances);
}

}  // namespace

double Lattice::distinct_tiles(int space, Index tile, Index spatial) const {
  double result = 1;
  for (uint32_t bits = single_ranks_[size_t(space)]; bits != 0; bits &= bits - 1) {
    result *= double(value(spatial, __builtin_ctz(bits)));
  }
  for (const WindowTable& window : windows_) {
    if (window.space == space)
      result *= double(window.distinct_tiles[instance_place(*this, window, tile, spatial)]);
  }
  return result;
}

double Lattice::swept_words(int space, Index tile, Index spatial) const {
  double result = 1;
  for (uint32_t bits = single_ranks_[size_t(space)]; bits != 0; bits &= bits - 1) {
    const int d = __builtin_ctz(bits);
    result *= double(lists_[size_t(d)].values.back()) / double(value(spatial, d));
  }
  for (const WindowTable& window : windows_) {
    if (window.space == space)
      result *= double(window.swept_words[instance_place(*this, window, tile, spatial)]);
  }
  return result;
}

}  // namespace tilewright::lattice
