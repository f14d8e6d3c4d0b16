// Tile extents grow from the innermost level outwards, cut off at the dimension's size after every factor.
// for_each_tile() flattens the loops above a level into one list and recurses over it. Products saturate, so
// absurd factors do no harm. The text form is in mapping_text.cpp.
#include "tilewright/nest/mapping.h"

#include <algorithm>
#include <limits>

namespace tilewright {
namespace {

// One loop with the number of iterations that one of its steps covers.
struct FlatLoop {
  size_t dimension;
  int64_t factor;
  int64_t step;
};

int64_t saturating_product(int64_t a, int64_t b) {
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
  return b > 0 && a > kLimit / b ? kLimit : a * b;
}

// Recursion over the loops above `level`; begins[] grows and shrinks with it.
class TileWalk {
 public:
  using Body = std::function<void(std::span<const int64_t>, std::span<const int64_t>)>;

  TileWalk(const Workload& workload, const Mapping& mapping, int level, const Body& body)
      : body_(body), begins_(workload.dimensions.size(), 0), extents_(workload.dimensions.size(), 1) {
    for (const Dimension& dimension : workload.dimensions) sizes_.push_back(dimension.size);
    std::vector<int64_t>& inner = full_;
    inner.assign(sizes_.size(), 1);
    for (int l = mapping.level_count() - 1; l >= level; --l) {
      for (size_t d = 0; d < inner.size(); ++d) {
        inner[d] = saturating_product(inner[d], level_factor(mapping.levels[size_t(l)], int(d)));
      }
    }
    std::vector<int64_t> covered = inner;
    for_each_loop_inside_out(mapping, level, [&](int, const auto& loop) {
      const size_t d = size_t(loop.dimension);
      loops_.push_back({d, loop.factor, covered[d]});
      covered[d] = saturating_product(covered[d], loop.factor);
    });
    std::reverse(loops_.begin(), loops_.end());
  }

  void run(size_t depth = 0) {
    if (depth == loops_.size()) {
      for (size_t d = 0; d < sizes_.size(); ++d) extents_[d] = std::min(full_[d], sizes_[d] - begins_[d]);
      body_(begins_, extents_);
      return;
    }
    const FlatLoop& loop = loops_[depth];
    const int64_t begin = begins_[loop.dimension];
    for (int64_t i = 0; i < loop.factor; ++i) {
      const int64_t offset = saturating_product(i, loop.step);
      if (offset >= sizes_[loop.dimension] - begin) break;
      begins_[loop.dimension] = begin + offset;
      run(depth + 1);
    }
    begins_[loop.dimension] = begin;
  }

 private:
  const Body& body_;
  std::vector<int64_t> sizes_, full_, begins_, extents_;
  std::vector<FlatLoop> loops_;  // outermost first
};

}  // namespace

int64_t level_factor(const MappingLevel& level, int dimension) {
  int64_t factor = 1;
  for (const TemporalLoop& loop : level.temporal) {
    if (loop.dimension == dimension) factor = saturating_product(factor, loop.factor);
  }
  for (const SpatialLoop& loop : level.spatial) {
    if (loop.dimension == dimension) factor = saturating_product(factor, loop.factor);
  }
  return factor;
}

int64_t spatial_fanout(const MappingLevel& level, SpatialAxis axis) {
  int64_t fanout = 1;
  for (const SpatialLoop& loop : level.spatial) {
    if (loop.axis == axis) fanout = saturating_product(fanout, loop.factor);
  }
  return fanout;
}

void tile_extents(const Workload& workload, const Mapping& mapping, std::span<int64_t> out) {
  const size_t dimensions = workload.dimensions.size(), levels = mapping.levels.size();
  TILEWRIGHT_CHECK(out.size() == (levels + 1) * dimensions, "buffer for tile extents has the wrong size");
  std::fill(out.begin() + std::ptrdiff_t(levels * dimensions), out.end(), 1);
  for (size_t l = levels; l-- > 0;) {
    const std::span<int64_t> row = out.subspan(l * dimensions, dimensions);
    const std::span<int64_t> inner = out.subspan((l + 1) * dimensions, dimensions);
    std::copy(inner.begin(), inner.end(), row.begin());
    // Cutting off at every step is the same as at the end: min(n, a * b) = min(n, min(n, a) * b).
    const auto grow = [&](int dimension, int64_t factor) {
      const size_t d = size_t(dimension);
      row[d] = std::min(workload.dimensions[d].size, saturating_product(row[d], factor));
    };
    for (const TemporalLoop& loop : mapping.levels[l].temporal) grow(loop.dimension, loop.factor);
    for (const SpatialLoop& loop : mapping.levels[l].spatial) grow(loop.dimension, loop.factor);
  }
}

std::vector<int64_t> tile_extents(const Workload& workload, const Mapping& mapping) {
  std::vector<int64_t> out((mapping.levels.size() + 1) * workload.dimensions.size());
  tile_extents(workload, mapping, out);
  return out;
}

void for_each_tile(
    const Workload& workload, const Mapping& mapping, int level,
    const std::function<void(std::span<const int64_t> begins, std::span<const int64_t> extents)>& body) {
  TILEWRIGHT_CHECK(0 <= level && level <= mapping.level_count(), "no such level");
  TileWalk(workload, mapping, level, body).run();
}

}  // namespace tilewright
