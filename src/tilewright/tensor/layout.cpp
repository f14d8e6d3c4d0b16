// Everything is made of two moves: `resize` (crop or pad at the end of an axis) and `permute`. A blocked
// layout is a resize to whole blocks, a reshape that splits the axes, and a permutation. Both moves walk rows
// of the result and copy them by storage width; packed types are moved lane by lane.
#include "tilewright/tensor/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

uint32_t lane(const std::byte* bytes, int64_t index, int bits) {
  const int64_t bit = index * bits;
  return (uint32_t(bytes[bit / 8]) >> (bit % 8)) & ((1u << bits) - 1);
}

void set_lane(std::byte* bytes, int64_t index, int bits, uint32_t value) {
  const int64_t bit = index * bits;
  const uint32_t mask = ((1u << bits) - 1) << (bit % 8);
  bytes[bit / 8] = std::byte((uint32_t(bytes[bit / 8]) & ~mask) | (value << (bit % 8)));
}

// Copies `count` elements of `bits` bits: to[to_first + k] = from[from_first + k * step].
void copy_row(std::byte* to, int64_t to_first, const std::byte* from, int64_t from_first, int64_t step,
              int64_t count, int bits) {
  const auto copy_as = [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    T* target = reinterpret_cast<T*>(to) + to_first;
    const T* source = reinterpret_cast<const T*>(from) + from_first;
    if (step == 1) {
      std::copy(source, source + count, target);
    } else {
      for (int64_t k = 0; k < count; ++k) target[k] = source[k * step];
    }
  };
  switch (bits) {
    case 8:
      return copy_as(static_cast<uint8_t*>(nullptr));
    case 16:
      return copy_as(static_cast<uint16_t*>(nullptr));
    case 32:
      return copy_as(static_cast<uint32_t*>(nullptr));
    case 64:
      return copy_as(static_cast<uint64_t*>(nullptr));
    default:
      for (int64_t k = 0; k < count; ++k) {
        set_lane(to, to_first + k, bits, lane(from, from_first + k * step, bits));
      }
  }
}

// Calls body(to_first, from_first) for every row (last axis) of `shape`; both offsets are the sums of index *
// stride over the other axes.
template <typename Body>
void for_each_row(const Shape& shape, const std::vector<int64_t>& to_strides,
                  const std::vector<int64_t>& from_strides, Body&& body) {
  const int outer = shape.rank() - 1;
  const int64_t rows = shape.count(0, outer);
  if (shape[outer] == 0) return;
  std::vector<int64_t> index(size_t(outer), 0);
  int64_t to = 0, from = 0;
  for (int64_t row = 0; row < rows; ++row) {
    body(to, from);
    for (int axis = outer - 1; axis >= 0; --axis) {
      const size_t a = size_t(axis);
      to += to_strides[a];
      from += from_strides[a];
      if (++index[a] < shape[axis]) break;
      to -= to_strides[a] * shape[axis];
      from -= from_strides[a] * shape[axis];
      index[a] = 0;
    }
  }
}

void require_rank(const Tensor& tensor, int rank, const char* what) {
  if (tensor.shape().rank() == rank) return;
  throw Error(ErrorKind::kInvalidInput, fmt::format("{} needs a tensor of rank {}, got {}", what, rank,
                                                    to_string(tensor.type(), tensor.shape())));
}

// [P,Q,R,S] -> [ceil(P/p)][ceil(Q/q)][R][S][p][q].
Tensor block_two_axes(const Tensor& tensor, int64_t p, int64_t q, int64_t fill, const char* what) {
  require_rank(tensor, 4, what);
  if (p < 1 || q < 1) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: block {}x{} must be at least 1x1", what, p, q));
  }
  const Shape& s = tensor.shape();
  const int64_t rows = ceil_div(s[0], p), columns = ceil_div(s[1], q);
  const Tensor whole = resize(tensor, {rows * p, columns * q, s[2], s[3]}, fill);
  return permute(whole.reshaped({rows, p, columns, q, s[2], s[3]}), {0, 2, 4, 5, 1, 3});
}

Tensor unblock_two_axes(const Tensor& tensor, int64_t p, int64_t q, const char* what) {
  require_rank(tensor, 6, what);
  const Shape& s = tensor.shape();
  const int64_t rows = s[0] * s[4], columns = s[1] * s[5];
  if (p < 0 || q < 0 || p > rows || q > columns) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}: {}x{} of a tensor that holds {}x{}", what, p, q, rows, columns));
  }
  const Tensor whole = permute(tensor, {0, 4, 1, 5, 2, 3}).reshaped({rows, columns, s[2], s[3]});
  return resize(whole, {p, q, s[2], s[3]});
}

}  // namespace

Tensor permute(const Tensor& tensor, const std::vector<int>& permutation) {
  const int rank = tensor.shape().rank();
  std::vector<int> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool valid = int(permutation.size()) == rank;
  for (int axis = 0; valid && axis < rank; ++axis) valid = sorted[size_t(axis)] == axis;
  if (!valid) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("not a permutation of the axes of {}", to_string(tensor.type(), tensor.shape())));
  }
  if (rank == 0 || std::is_sorted(permutation.begin(), permutation.end())) return tensor;
  const std::vector<int64_t> source_strides = tensor.shape().strides();
  std::vector<int64_t> sizes, from_strides;
  for (const int axis : permutation) {
    sizes.push_back(tensor.shape()[axis]);
    from_strides.push_back(source_strides[size_t(axis)]);
  }
  const Shape shape(sizes);
  Tensor result(tensor.type(), shape);
  std::byte* to = result.mutable_bytes().data();
  const std::byte* from = tensor.bytes().data();
  const int bits = bit_width(tensor.type());
  for_each_row(shape, shape.strides(), from_strides, [&](int64_t to_first, int64_t from_first) {
    copy_row(to, to_first, from, from_first, from_strides.back(), shape[rank - 1], bits);
  });
  return result;
}

Tensor resize(const Tensor& tensor, const Shape& shape, int64_t fill) {
  const int rank = tensor.shape().rank();
  if (shape.rank() != rank) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cannot resize {} to {}", to_string(tensor.shape()), to_string(shape)));
  }
  if (shape == tensor.shape()) return tensor;
  const int bits = bit_width(tensor.type());
  Tensor result(tensor.type(), shape);
  Tensor filler(tensor.type(), {1});
  filler.set_integer(0, fill);
  const bool zero_bits = filler.identical(Tensor(tensor.type(), {1}));
  std::byte* to = result.mutable_bytes().data();
  // A step of 0 repeats the one element of `filler`.
  if (!zero_bits) copy_row(to, 0, filler.bytes().data(), 0, 0, result.size(), bits);
  Shape overlap = shape;
  for (int axis = 0; axis < rank; ++axis) overlap[axis] = std::min(shape[axis], tensor.shape()[axis]);
  const std::byte* from = tensor.bytes().data();
  for_each_row(overlap, shape.strides(), tensor.shape().strides(), [&](int64_t to_first, int64_t from_first) {
    copy_row(to, to_first, from, from_first, 1, overlap[rank - 1], bits);
  });
  return result;
}

Tensor nchw_to_nhwc(const Tensor& tensor) {
  require_rank(tensor, 4, "NCHW to NHWC");
  return permute(tensor, {0, 2, 3, 1});
}

Tensor nhwc_to_nchw(const Tensor& tensor) {
  require_rank(tensor, 4, "NHWC to NCHW");
  return permute(tensor, {0, 3, 1, 2});
}

Tensor block_activations(const Tensor& tensor, int64_t batch, int64_t block, int64_t fill) {
  return block_two_axes(tensor, batch, block, fill, "blocked activations");
}

Tensor unblock_activations(const Tensor& tensor, int64_t n, int64_t c) {
  return unblock_two_axes(tensor, n, c, "unblocked activations");
}

Tensor block_weights(const Tensor& tensor, int64_t block_out, int64_t block_in, int64_t fill) {
  return block_two_axes(tensor, block_out, block_in, fill, "blocked weights");
}

Tensor unblock_weights(const Tensor& tensor, int64_t o, int64_t i) {
  return unblock_two_axes(tensor, o, i, "unblocked weights");
}

}  // namespace tilewright
