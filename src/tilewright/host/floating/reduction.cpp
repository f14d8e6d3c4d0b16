// Reduce* operators. The reduced axes are moved innermost, so that every kernel reduces contiguous rows.
// Float sums run in f64: the result does not depend on the order in any digit that matters.
#include <algorithm>
#include <cmath>

#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

template <typename T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// Integers are truncated; the bound keeps the conversion defined.
template <typename T>
T from_f64(double value) {
  if constexpr (std::is_floating_point_v<T>) return T(value);
  return T(int64_t(std::clamp(value, -0x1p62, 0x1p62)));
}

// Reductions of one row. Integer sums wrap.
struct Sum {
  static constexpr bool kNeedsElements = false;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    Accumulator<T> sum{};
    for (int64_t i = 0; i < count; ++i) sum += Accumulator<T>(row[i]);
    return T(sum);
  }
};
struct SumSquare {
  static constexpr bool kNeedsElements = false;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    Accumulator<T> sum{};
    for (int64_t i = 0; i < count; ++i) sum += Accumulator<T>(row[i]) * Accumulator<T>(row[i]);
    return T(sum);
  }
};
struct L1 {
  static constexpr bool kNeedsElements = false;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    Accumulator<T> sum{};
    for (int64_t i = 0; i < count; ++i) {
      sum += row[i] < T(0) ? Accumulator<T>{} - Accumulator<T>(row[i]) : Accumulator<T>(row[i]);
    }
    return T(sum);
  }
};
struct L2 {
  static constexpr bool kNeedsElements = false;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += double(row[i]) * double(row[i]);
    return from_f64<T>(std::sqrt(sum));
  }
};
struct Prod {
  static constexpr bool kNeedsElements = false;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    Accumulator<T> product{1};
    for (int64_t i = 0; i < count; ++i) product *= Accumulator<T>(row[i]);
    return T(product);
  }
};
struct Mean {
  static constexpr bool kNeedsElements = true;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += double(row[i]);
    return from_f64<T>(sum / double(count));
  }
};
struct MaxOf {
  static constexpr bool kNeedsElements = true;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    T best = row[0];
    for (int64_t i = 1; i < count; ++i) best = best >= row[i] || best != best ? best : row[i];
    return best;
  }
};
struct MinOf {
  static constexpr bool kNeedsElements = true;
  template <typename T>
  static T reduce(const T* row, int64_t count) {
    T best = row[0];
    for (int64_t i = 1; i < count; ++i) best = best <= row[i] || best != best ? best : row[i];
    return best;
  }
};

// Axes come as an input (ReduceSum) or an attribute (the others in opset 17); none means all, unless
// noop_with_empty_axes says none.
std::vector<int> reduced_axes(const Node& node, KernelInputs inputs, int rank) {
  const std::vector<int64_t> listed =
      has_input(inputs, 1) ? integer_list(*inputs[1], "the axes") : node.ints_or("axes", {});
  if (!listed.empty()) return normalized_axes(listed, rank);
  std::vector<int> axes;
  if (node.int_or("noop_with_empty_axes", 0) == 0) {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  return axes;
}

template <typename Op>
std::vector<Tensor> reduce(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int rank = data.shape().rank();
  const std::vector<int> axes = reduced_axes(node, inputs, rank);
  const bool keep = node.int_or("keepdims", 1) != 0;
  if (axes.empty() && rank > 0) return {data};
  std::vector<int> order;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) {
    const bool reduced = std::ranges::binary_search(axes, axis);
    if (!reduced) order.push_back(axis);
    if (!reduced || keep) dims.push_back(reduced ? 1 : data.shape()[axis]);
  }
  int64_t row_length = 1;
  for (const int axis : axes) row_length *= data.shape()[axis];
  order.insert(order.end(), axes.begin(), axes.end());
  const Tensor rows = std::ranges::is_sorted(order) ? data : transposed(data, order);
  Tensor result(data.type(), Shape(std::move(dims)));
  if (Op::kNeedsElements && row_length == 0 && result.size() > 0) {
    throw Error(ErrorKind::kInvalidInput, "nothing to reduce along an empty axis");
  }
  visit_number(data.type(), [&](auto tag) {
    using T = decltype(tag);
    T* out = mutable_storage<T>(result);
    const T* in = storage<T>(rows);
    for (int64_t i = 0; i < result.size(); ++i) out[i] = Op::reduce(in + i * row_length, row_length);
  });
  return {result};
}

constexpr KernelEntry kReductionKernels[] = {
    {"", "ReduceL1", reduce<L1>},     {"", "ReduceL2", reduce<L2>},
    {"", "ReduceMax", reduce<MaxOf>}, {"", "ReduceMean", reduce<Mean>},
    {"", "ReduceMin", reduce<MinOf>}, {"", "ReduceProd", reduce<Prod>},
    {"", "ReduceSum", reduce<Sum>},   {"", "ReduceSumSquare", reduce<SumSquare>},
};

}  // namespace

std::span<const KernelEntry> reduction_kernels() { return kReductionKernels; }

}  // namespace tilewright
