// The scales and zero points that QuantizeLinear, DequantizeLinear and the QLinear operators read.
#include <algorithm>
#include <cmath>

#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {

std::optional<Quantization> constant_quantization(const Graph& graph, ValueId scale, ValueId zero_point) {
  if (!graph.is_constant(scale)) return std::nullopt;
  const Tensor& scales = *graph.value(scale).constant;
  if (scales.size() != 1 || scales.type() != ElementType::kF32) return std::nullopt;
  Quantization q{scales.data<float>()[0], 0};
  if (!std::isfinite(q.scale) || q.scale <= 0) return std::nullopt;
  if (zero_point == kNoValue) return q;
  if (!graph.is_constant(zero_point)) return std::nullopt;
  const Tensor& zero_points = *graph.value(zero_point).constant;
  if (zero_points.size() != 1 || bit_width(zero_points.type()) > 16) return std::nullopt;
  q.zero_point = int32_t(zero_points.integer_at(0));
  return q;
}

std::optional<QuantizedConstant> constant_operand(const Graph& graph, const Tensor& integers, ValueId scale,
                                                  ValueId zero_point, int64_t axis) {
  if (!graph.is_constant(scale) || !is_integer(integers.type())) return std::nullopt;
  const Tensor& scales = *graph.value(scale).constant;
  if (scales.type() != ElementType::kF32 || scales.size() < 1) return std::nullopt;
  QuantizedConstant constant;
  constant.integers = integers;
  constant.scales = scales.to_floats();
  constant.zero_points.assign(constant.scales.size(), 0);
  if (zero_point != kNoValue) {
    if (!graph.is_constant(zero_point)) return std::nullopt;
    const std::vector<int64_t> zero_points = graph.value(zero_point).constant->to_integers();
    if (zero_points.size() != 1 && zero_points.size() != constant.scales.size()) return std::nullopt;
    for (size_t i = 0; i < constant.zero_points.size(); ++i) {
      constant.zero_points[i] = zero_points[zero_points.size() == 1 ? 0 : i];
    }
  }
  if (constant.per_tensor()) return constant;
  const int rank = integers.shape().rank();
  if (axis < -rank || axis >= rank) return std::nullopt;
  constant.axis = normalize_axis(axis, rank);
  if (integers.shape()[constant.axis] != int64_t(constant.scales.size())) return std::nullopt;
  return constant;
}

std::optional<QuantizedConstant> constant_operand(const Graph& graph, ValueId integers, ValueId scale,
                                                  ValueId zero_point, int64_t axis) {
  if (!graph.is_constant(integers)) return std::nullopt;
  return constant_operand(graph, *graph.value(integers).constant, scale, zero_point, axis);
}

std::optional<int32_t> single_zero_point(const Graph& graph, ValueId zero_point) {
  if (zero_point == kNoValue) return 0;
  if (!graph.is_constant(zero_point)) return std::nullopt;
  const Tensor& constant = *graph.value(zero_point).constant;
  if (constant.size() != 1 || bit_width(constant.type()) > 8) return std::nullopt;
  return int32_t(constant.integer_at(0));
}

std::optional<QuantizedConstant> integer_product_weights(const Graph& graph, const Node& node,
                                                         const std::vector<double>& scales, int axis) {
  const Tensor* integers = graph.constant_input(node, 1);
  if (!integers || axis >= integers->shape().rank()) return std::nullopt;
  std::vector<int64_t> zeros{0};
  if (node.has_input(3)) {
    const Tensor* constant = graph.constant_input(node, 3);
    if (!constant) return std::nullopt;
    zeros = constant->to_integers();
  }
  const size_t channels = size_t(integers->shape()[axis]);
  const size_t count = std::max(scales.size(), zeros.size());
  const auto fits = [&](size_t size) { return size == 1 || size == channels; };
  if (!fits(scales.size()) || !fits(zeros.size())) return std::nullopt;
  QuantizedConstant weights;
  weights.integers = *integers;
  weights.axis = axis;
  for (size_t i = 0; i < count; ++i) {
    weights.scales.push_back(float(scales[scales.size() == 1 ? 0 : i]));
    weights.zero_points.push_back(zeros[zeros.size() == 1 ? 0 : i]);
  }
  return weights;
}

}  // namespace tilewright
