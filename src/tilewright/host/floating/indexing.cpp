// Operators that address elements by value or rank elements: Gather, OneHot, TopK, ArgMax, ArgMin.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

std::vector<Tensor> gather(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &indices = required_input(inputs, 1);
  if (!is_integer(indices.type())) throw_unsupported_type(indices.type());
  if (bit_width(data.type()) < 8) throw_unsupported_type(data.type());
  const Shape& shape = data.shape();
  const int axis = normalize_axis(node.int_or("axis", 0), shape.rank());
  std::vector<int64_t> positions = indices.to_integers();
  for (int64_t& position : positions) {
    if (position < -shape[axis] || position >= shape[axis]) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("index {} is outside axis {} of {}", position, axis, to_string(shape)));
    }
    if (position < 0) position += shape[axis];
  }
  std::vector<int64_t> dims(shape.begin(), shape.begin() + axis);
  dims.insert(dims.end(), indices.shape().begin(), indices.shape().end());
  dims.insert(dims.end(), shape.begin() + axis + 1, shape.end());
  Tensor result = bounded_tensor(data.type(), Shape(std::move(dims)));
  const size_t row_bytes = size_t(shape.count(axis + 1, shape.rank())) * size_t(bit_width(data.type())) / 8;
  std::byte* target = result.mutable_bytes().data();
  if (result.size() == 0) return {result};
  for (int64_t outer = 0; outer < shape.count(0, axis); ++outer) {
    const std::byte* source = data.bytes().data() + size_t(outer * shape[axis]) * row_bytes;
    for (const int64_t position : positions) {
      std::memcpy(target, source + size_t(position) * row_bytes, row_bytes);
      target += row_bytes;
    }
  }
  return {result};
}

std::vector<Tensor> one_hot(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &indices = required_input(inputs, 0), &depth_input = required_input(inputs, 1),
               &values = required_input(inputs, 2);
  if (depth_input.size() != 1 || values.size() != 2 || values.shape().rank() != 1) {
    throw Error(ErrorKind::kInvalidInput, "OneHot takes a scalar depth and two values");
  }
  const int64_t depth = depth_input.integer_at(0);
  const int rank = indices.shape().rank();
  const int axis = normalize_axis(node.int_or("axis", -1), rank + 1);
  if (depth < 1) throw Error(ErrorKind::kInvalidInput, fmt::format("a OneHot depth of {}", depth));
  std::vector<int64_t> dims = indices.shape().dims();
  dims.insert(dims.begin() + axis, depth);
  Tensor result = bounded_tensor(values.type(), Shape(std::move(dims)));
  const int64_t inner = indices.shape().count(axis, rank);
  visit_width(values.type(), [&](auto tag) {
    using U = decltype(tag);
    U* out = mutable_storage<U>(result);
    const U off = storage<U>(values)[0], on = storage<U>(values)[1];
    std::fill_n(out, result.size(), off);
    for (int64_t i = 0; i < indices.size(); ++i) {
      int64_t index = indices.integer_at(i);
      if (index < -depth || index >= depth) continue;  // by definition all off
      if (index < 0) index += depth;
      out[(i / inner * depth + index) * inner + i % inner] = on;
    }
  });
  return {result};
}

// The lines along one axis of a tensor: line (o, i) starts at o * size * inner + i and advances by inner.
struct Lines {
  Lines(const Shape& shape, int axis)
      : outer(shape.count(0, axis)), size(shape[axis]), inner(shape.count(axis + 1, shape.rank())) {}
  int64_t outer, size, inner;
};

template <bool kLargest>
std::vector<Tensor> arg_extreme(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int axis = normalize_axis(node.int_or("axis", 0), data.shape().rank());
  const bool last = node.int_or("select_last_index", 0) != 0;
  const Lines lines(data.shape(), axis);
  if (lines.size == 0) throw Error(ErrorKind::kInvalidInput, "no extreme along an empty axis");
  Shape shape = data.shape();
  shape[axis] = 1;
  Tensor result(ElementType::kI64, shape);
  const std::span<int64_t> out = result.mutable_data<int64_t>();
  visit_number(data.type(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t line = 0; line < lines.outer * lines.inner; ++line) {
      const T* in = storage<T>(data) + line / lines.inner * lines.size * lines.inner + line % lines.inner;
      int64_t best = 0;
      for (int64_t i = 1; i < lines.size; ++i) {
        const T value = in[i * lines.inner], champion = in[best * lines.inner];
        if ((kLargest ? value > champion : value < champion) || (last && value == champion)) best = i;
      }
      out[size_t(line)] = best;
    }
  });
  if (node.int_or("keepdims", 1) != 0) return {result};
  std::vector<int64_t> dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return {result.reshaped(Shape(std::move(dims)))};
}

std::vector<Tensor> top_k(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &k_input = required_input(inputs, 1);
  const int axis = normalize_axis(node.int_or("axis", -1), data.shape().rank());
  const bool largest = node.int_or("largest", 1) != 0;
  const Lines lines(data.shape(), axis);
  const int64_t k = k_input.size() == 1 ? k_input.integer_at(0) : -1;
  if (k < 0 || k > lines.size) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the top {} of {} elements along axis {}", k, lines.size, axis));
  }
  Shape shape = data.shape();
  shape[axis] = k;
  Tensor values(data.type(), shape), positions(ElementType::kI64, shape);
  const std::span<int64_t> out_positions = positions.mutable_data<int64_t>();
  visit_number(data.type(), [&](auto tag) {
    using T = decltype(tag);
    T* out = mutable_storage<T>(values);
    std::vector<int64_t> order(static_cast<size_t>(lines.size));
    for (int64_t line = 0; line < lines.outer * lines.inner; ++line) {
      const int64_t outer = line / lines.inner, inner = line % lines.inner;
      const T* in = storage<T>(data) + outer * lines.size * lines.inner + inner;
      std::iota(order.begin(), order.end(), 0);
      // Ties go to the lower index. NaN counts as the largest value, which keeps this a strict order.
      const auto less = [](T a, T b) { return b != b ? a == a : a < b; };
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        const T va = in[a * lines.inner], vb = in[b * lines.inner];
        if (largest ? less(vb, va) : less(va, vb)) return true;
        if (largest ? less(va, vb) : less(vb, va)) return false;
        return a < b;
      });
      for (int64_t i = 0; i < k; ++i) {
        const int64_t target = (outer * k + i) * lines.inner + inner;
        out[target] = in[order[size_t(i)] * lines.inner];
        out_positions[size_t(target)] = order[size_t(i)];
      }
    }
  });
  return {values, positions};
}

constexpr KernelEntry kIndexingKernels[] = {
    {"", "ArgMax", arg_extreme<true>},
    {"", "ArgMin", arg_extreme<false>},
    {"", "Gather", gather, nullptr, HalfTypes::kNative},
    {"", "OneHot", one_hot, nullptr, HalfTypes::kNative},
    {"", "TopK", top_k},
};

}  // namespace

std::span<const KernelEntry> indexing_kernels() { return kIndexingKernels; }

}  // namespace tilewright
