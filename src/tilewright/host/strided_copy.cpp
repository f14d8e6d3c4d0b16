// Elements move as unsigned integers of their width. strided_copy() first merges the axes that one stride can
// cross and then takes the two innermost as planes; mapped_copy() looks up every index, row by row.
#include "tilewright/host/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "tilewright/host/element_dispatch.h"

namespace tilewright {
namespace {

// Drops axes of size 1 and joins neighbours that one stride can cross, so that the inner loop is long.
void merge_axes(std::vector<int64_t>& sizes, std::vector<int64_t>& strides) {
  std::vector<int64_t> merged_sizes, merged_strides;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == 1) continue;
    if (!merged_sizes.empty() && merged_strides.back() == strides[axis] * sizes[axis]) {
      merged_sizes.back() *= sizes[axis];
      merged_strides.back() = strides[axis];
    } else {
      merged_sizes.push_back(sizes[axis]);
      merged_strides.push_back(strides[axis]);
    }
  }
  if (merged_sizes.empty()) {
    merged_sizes.push_back(1);
    merged_strides.push_back(1);
  }
  sizes = std::move(merged_sizes);
  strides = std::move(merged_strides);
}

// out[r, c] = in[r * row_stride + c * column_stride], in tiles of a cache line or so each way: the elements
// of a line are then used together, whichever axis they lie along.
template <typename U>
void copy_plane(U* out, const U* in, int64_t rows, int64_t columns, int64_t row_stride,
                int64_t column_stride) {
  if (column_stride == 1) {
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(out + r * columns, in + r * row_stride, size_t(columns) * sizeof(U));
    return;
  }
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const int64_t c1 = std::min(columns, c0 + kTile);
      for (int64_t c = c0; c < c1; ++c) {
        const U* from = in + c * column_stride;
        for (int64_t r = r0; r < r1; ++r) out[r * columns + c] = from[r * row_stride];
      }
    }
  }
}

}  // namespace

Tensor strided_copy(const Tensor& in, const Shape& out, std::vector<int64_t> strides, int64_t offset) {
  Tensor result = bounded_tensor(in.type(), out);
  if (result.size() == 0) return result;
  std::vector<int64_t> sizes = out.dims();
  merge_axes(sizes, strides);
  if (sizes.size() == 1) {
    sizes.insert(sizes.begin(), 1);
    strides.insert(strides.begin(), 0);
  }
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer], columns = sizes[outer + 1];
  visit_width(in.type(), [&](auto tag) {
    using U = decltype(tag);
    const U* source = storage<U>(in) + offset;
    U* target = mutable_storage<U>(result);
    std::vector<int64_t> index(outer, 0);
    for (int64_t plane = 0; plane < result.size() / (rows * columns); ++plane) {
      copy_plane(target, source, rows, columns, strides[outer], strides[outer + 1]);
      target += rows * columns;
      for (size_t axis = outer; axis-- > 0;) {
        source += strides[axis];
        if (++index[axis] < sizes[axis]) break;
        source -= strides[axis] * sizes[axis];
        index[axis] = 0;
      }
    }
  });
  return result;
}

Tensor mapped_copy(const Tensor& in, std::span<const std::vector<int64_t>> maps, const Tensor* fill) {
  std::vector<int64_t> dims;
  for (const std::vector<int64_t>& map : maps) dims.push_back(int64_t(map.size()));
  Tensor result = bounded_tensor(in.type(), Shape(dims));
  if (result.size() == 0) return result;
  if (maps.empty()) return in;
  const std::vector<int64_t> strides = in.shape().strides();
  const size_t inner = maps.size() - 1;
  const std::vector<int64_t>& inner_map = maps[inner];
  visit_width(in.type(), [&](auto tag) {
    using U = decltype(tag);
    const U filler = fill == nullptr ? U{} : *storage<U>(*fill);
    const U* source = storage<U>(in);
    U* target = mutable_storage<U>(result);
    std::vector<size_t> index(inner, 0);
    for (int64_t row = 0; row < result.size() / int64_t(inner_map.size()); ++row) {
      int64_t offset = 0;
      bool outside = false;
      for (size_t axis = 0; axis < inner; ++axis) {
        const int64_t position = maps[axis][index[axis]];
        outside = outside || position < 0;
        offset += position * strides[axis];
      }
      for (size_t i = 0; i < inner_map.size(); ++i) {
        target[i] = outside || inner_map[i] < 0 ? filler : source[offset + inner_map[i]];
      }
      target += inner_map.size();
      for (size_t axis = inner; axis-- > 0;) {
        if (++index[axis] < maps[axis].size()) break;
        index[axis] = 0;
      }
    }
  });
  return result;
}

Tensor transposed(const Tensor& in, std::span<const int> permutation) {
  const std::vector<int64_t> own = in.shape().strides();
  std::vector<int64_t> dims, strides;
  for (const int axis : permutation) {
    dims.push_back(in.shape()[axis]);
    strides.push_back(own[size_t(axis)]);
  }
  return strided_copy(in, Shape(std::move(dims)), std::move(strides));
}

}  // namespace tilewright
