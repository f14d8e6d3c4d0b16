// Distinct values of an affine form over a box. One term: an arithmetic progression. Two terms: lattice
// points minus collisions (formula in the header; with bounds both counts are restricted to values in range,
// which is exact because colliding points have the same value). More: terms merge into one progression where
// the finer one closes the steps of the coarser one, and what is left over is marked in a bitmap.
#include "tilewright/nest/footprint.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

// first + step * [0, count), step > 0.
struct Progression {
  int64_t step = 1;
  int64_t count = 1;
};

// Number of x in [0, count) with low <= x * step <= high.
int64_t points_between(const Progression& p, int64_t low, int64_t high) {
  const int64_t first = std::max<int64_t>(0, -floor_div(-low, p.step));
  const int64_t last = std::min(p.count - 1, floor_div(high, p.step));
  return std::max<int64_t>(0, last - first + 1);
}

// Number of (x, y) in [0, X) x [0, Y) with low <= a*x + b*y <= high; O(min(X, Y)).
int64_t pairs_between(Progression a, Progression b, int64_t low, int64_t high) {
  if (a.count < b.count) std::swap(a, b);
  int64_t total = 0;
  for (int64_t y = 0; y < b.count; ++y) total += points_between(a, low - y * b.step, high - y * b.step);
  return total;
}

int64_t distinct_pairs(const Progression& a, const Progression& b) {
  const int64_t g = std::gcd(a.step, b.step);
  const int64_t collisions =
      std::max<int64_t>(0, a.count - b.step / g) * std::max<int64_t>(0, b.count - a.step / g);
  return a.count * b.count - collisions;
}

// The terms of a rank as progressions that start at 0 (a negative coefficient is mirrored, which moves
// `first`). Terms with one value vanish; a term whose step is a multiple of another one's, and no longer than
// it, merges.
class Terms {
 public:
  Terms(const Rank& rank, std::span<const int64_t> begins, std::span<const int64_t> extents)
      : first_(rank.offset) {
    for (const ProjectionTerm& term : rank.terms) {
      const size_t d = size_t(term.dimension);
      const int64_t begin = begins.empty() ? 0 : begins[d], extent = extents[d];
      empty_ = empty_ || extent < 1;
      const int64_t step = term.coefficient < 0 ? -term.coefficient : term.coefficient;
      first_ += term.coefficient * (term.coefficient < 0 ? begin + extent - 1 : begin);
      add({step, extent});
    }
  }

  bool empty() const { return empty_; }
  int64_t first() const { return first_; }
  int64_t last() const {
    int64_t value = first_;
    for_each([&](const Progression& p) { value += p.step * (p.count - 1); });
    return value;
  }

  int64_t count() const {
    if (empty_) return 0;
    if (!spill_.empty()) return count_marked(first_, last());
    return size_ == 0 ? 1 : size_ == 1 ? parts_[0].count : distinct_pairs(parts_[0], parts_[1]);
  }

  // Distinct values in [low, high].
  int64_t count_between(int64_t low, int64_t high) const {
    if (empty_) return 0;
    if (low <= first_ && last() <= high) return count();
    if (!spill_.empty()) return count_marked(std::max(low, first_), std::min(high, last()));
    low -= first_;
    high -= first_;
    if (size_ == 0) return low <= 0 && 0 <= high ? 1 : 0;
    if (size_ == 1) return points_between(parts_[0], low, high);
    const Progression &a = parts_[0], &b = parts_[1];
    // The collisions: pairs (x, y) whose partner (x + b', y - a') is in the box too; y = a' + y'.
    const int64_t g = std::gcd(a.step, b.step);
    const Progression x{a.step, std::max<int64_t>(0, a.count - b.step / g)};
    const Progression y{b.step, std::max<int64_t>(0, b.count - a.step / g)};
    const int64_t pairs = pairs_between(a, b, low, high);
    if (x.count == 0 || y.count == 0) return pairs;
    const int64_t shift = b.step * (a.step / g);
    return pairs - pairs_between(x, y, low - shift, high - shift);
  }

 private:
  void add(Progression p) {
    if (p.count <= 1) return;
    for (int i = 0; i < size_; ++i) {
      Progression fine = parts_[size_t(i)], coarse = p;
      if (fine.step > coarse.step) std::swap(fine, coarse);
      if (coarse.step % fine.step == 0 && coarse.step / fine.step <= fine.count) {
        // Taken out and put back, because the longer progression may merge with the others now.
        parts_[size_t(i)] = parts_[size_t(--size_)];
        std::vector<Progression> rest;
        rest.swap(spill_);
        add({fine.step, fine.count + (coarse.count - 1) * (coarse.step / fine.step)});
        for (const Progression& other : rest) add(other);
        return;
      }
    }
    if (size_ < int(parts_.size())) {
      parts_[size_t(size_++)] = p;
    } else {
      spill_.push_back(p);
    }
  }

  template <typename Body>
  void for_each(Body&& body) const {
    for (int i = 0; i < size_; ++i) body(parts_[size_t(i)]);
    for (const Progression& p : spill_) body(p);
  }

  // Three terms and more: marks windows of bounded size, so that memory stays small whatever the range.
  int64_t count_marked(int64_t low, int64_t high) const {
    constexpr int64_t kWindow = int64_t{1} << 22;
    std::vector<Progression> coarse_first;
    for_each([&](const Progression& p) { coarse_first.push_back(p); });
    std::sort(coarse_first.begin(), coarse_first.end(),
              [](const Progression& a, const Progression& b) { return a.step > b.step; });
    int64_t total = 0;
    for (int64_t begin = low; begin <= high; begin += kWindow) {
      const int64_t end = std::min(high, begin + kWindow - 1);
      std::vector<bool> marked(size_t(end - begin + 1));
      mark(coarse_first, 0, first_, begin, end, marked);
      total += std::count(marked.begin(), marked.end(), true);
    }
    return total;
  }

  static void mark(const std::vector<Progression>& parts, size_t depth, int64_t value, int64_t begin,
                   int64_t end, std::vector<bool>& marked) {
    if (depth == parts.size()) {
      if (begin <= value && value <= end) marked[size_t(value - begin)] = true;
      return;
    }
    int64_t reach = 0;
    for (size_t i = depth + 1; i < parts.size(); ++i) reach += parts[i].step * (parts[i].count - 1);
    const Progression& p = parts[depth];
    // Only those x whose remaining terms can still land in the window.
    const int64_t from = std::max<int64_t>(0, -floor_div(-(begin - reach - value), p.step));
    const int64_t to = std::min(p.count - 1, floor_div(end - value, p.step));
    for (int64_t x = from; x <= to; ++x) mark(parts, depth + 1, value + x * p.step, begin, end, marked);
  }

  int64_t first_;
  bool empty_ = false;
  int size_ = 0;
  std::array<Progression, 2> parts_;
  std::vector<Progression> spill_;
};

}  // namespace

int64_t rank_footprint(const Rank& rank, std::span<const int64_t> extents) {
  return Terms(rank, {}, extents).count();
}

int64_t stored_rank_footprint(const Rank& rank, std::span<const int64_t> begins,
                              std::span<const int64_t> extents) {
  return Terms(rank, begins, extents).count_between(0, rank.size - 1);
}

int64_t footprint(const DataSpace& space, std::span<const int64_t> extents) {
  int64_t count = 1;
  for (const Rank& rank : space.ranks) count *= rank_footprint(rank, extents);
  return count;
}

int64_t stored_footprint(const DataSpace& space, std::span<const int64_t> begins,
                         std::span<const int64_t> extents) {
  int64_t count = 1;
  for (const Rank& rank : space.ranks) count *= stored_rank_footprint(rank, begins, extents);
  return count;
}

IndexRange bounding_range(const Rank& rank, std::span<const int64_t> begins,
                          std::span<const int64_t> extents) {
  IndexRange range{rank.offset, rank.offset};
  for (const ProjectionTerm& term : rank.terms) {
    const size_t d = size_t(term.dimension);
    const int64_t begin = begins.empty() ? 0 : begins[d], extent = extents[d];
    if (extent < 1) return {};
    const int64_t a = term.coefficient * begin, b = term.coefficient * (begin + extent - 1);
    range.first += std::min(a, b);
    range.last += std::max(a, b);
  }
  return range;
}

IndexRange stored_part(const Rank& rank, IndexRange range) {
  return {std::max<int64_t>(range.first, 0), std::min(range.last, rank.size - 1)};
}

int64_t bounding_box(const DataSpace& space, std::span<const int64_t> extents) {
  int64_t count = 1;
  for (const Rank& rank : space.ranks) count *= bounding_range(rank, {}, extents).size();
  return count;
}

}  // namespace tilewright
