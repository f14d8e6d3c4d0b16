// Products are checked against 2^56 before each multiplication, so that counts in bits fit 64 bits; a
// negative size is an error even beside a zero. Broadcasting is ONNX's multidirectional rule: axes are
// aligned at the end.
#include "tilewright/tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {

int64_t Shape::element_count() const { return count(0, rank()); }

int64_t Shape::count(int from, int to) const {
  constexpr int64_t kLimit = int64_t{1} << 56;
  int64_t product = 1;
  bool empty = false;
  for (int axis = from; axis < to; ++axis) {
    const int64_t size = dims_[size_t(axis)];
    if (size < 0) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("negative dimension in shape {}", to_string(*this)));
    }
    if (size == 0) {
      empty = true;
    } else if (product > kLimit / size) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("shape {} has too many elements", to_string(*this)));
    } else {
      product *= size;
    }
  }
  return empty ? 0 : product;
}

std::vector<int64_t> Shape::strides() const {
  std::vector<int64_t> strides(dims_.size(), 1);
  for (int axis = rank() - 2; axis >= 0; --axis) {
    strides[size_t(axis)] = strides[size_t(axis) + 1] * dims_[size_t(axis) + 1];
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  return shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.dims(), "x"));
}

Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t x = axis < rank - a.rank() ? 1 : a[axis - (rank - a.rank())];
    const int64_t y = axis < rank - b.rank() ? 1 : b[axis - (rank - b.rank())];
    if (x != y && x != 1 && y != 1) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("shapes {} and {} do not broadcast", to_string(a), to_string(b)));
    }
    dims[size_t(axis)] = x == 1 ? y : x;
  }
  return Shape(std::move(dims));
}

int normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("axis {} is outside a rank of {}", axis, rank));
  }
  return int(axis < 0 ? axis + rank : axis);
}

}  // namespace tilewright
