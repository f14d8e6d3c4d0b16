// Elements move as unsigned integers of their width, row by row, a row being the innermost axis.
// strided_copy() first merges the axes that one stride can cross; mapped_copy() looks up every index.
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

template <typename U>
void copy_row(U* out, const U* in, int64_t count, int64_t stride) {
  if (stride == 1) {
    std::memcpy(out, in, size_t(count) * sizeof(U));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * stride];
  }
}

}  // namespace

Tensor strided_copy(const Tensor& in, const Shape& out, std::vector<int64_t> strides, int64_t offset) {
  Tensor result = bounded_tensor(in.type(), out);
  if (result.size() == 0) return result;
  std::vector<int64_t> sizes = out.dims();
  merge_axes(sizes, strides);
  const size_t inner = sizes.size() - 1;
  visit_width(in.type(), [&](auto tag) {
    using U = decltype(tag);
    const U* source = storage<U>(in) + offset;
    U* target = mutable_storage<U>(result);
    std::vector<int64_t> index(inner, 0);
    for (int64_t row = 0; row < result.size() / sizes[inner]; ++row) {
      copy_row(target, source, sizes[inner], strides[inner]);
      target += sizes[inner];
      for (size_t axis = inner; axis-- > 0;) {
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
