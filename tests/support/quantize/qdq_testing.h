// Builds small graphs in QDQ form for tests. Shapes of results are stated by the caller.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {

class QdqGraphBuilder {
 public:
  Graph graph;

  ValueId node(const std::string& op, std::vector<ValueId> inputs, Shape shape, Attributes attributes = {},
               ElementType type = ElementType::kF32) {
    const ValueId out = graph.add_value(op + "_out", type, std::move(shape));
    graph.add_node(op, op, std::move(inputs), {out}).attributes = std::move(attributes);
    return out;
  }
  ValueId zero_point(ElementType type, int64_t number) {
    Tensor tensor(type, Shape{});
    tensor.set_integer(0, number);
    return graph.add_constant("zero_point", tensor);
  }
  ValueId quantize(ValueId x, const Quantization& q, ElementType type = ElementType::kI8) {
    return node("QuantizeLinear",
                {x, graph.add_constant("scale", Tensor::scalar(q.scale)), zero_point(type, q.zero_point)},
                graph.value(x).shape, {}, type);
  }
  ValueId dequantize(ValueId x, const Quantization& q) {
    return node("DequantizeLinear",
                {x, graph.add_constant("scale", Tensor::scalar(q.scale)),
                 zero_point(graph.value(x).type, q.zero_point)},
                graph.value(x).shape);
  }
  // QuantizeLinear, DequantizeLinear.
  ValueId rounded(ValueId x, const Quantization& q, ElementType type = ElementType::kI8) {
    return dequantize(quantize(x, q, type), q);
  }
  // A dequantised constant with one scale and zero point per index of `axis`.
  ValueId constant(const Tensor& integers, const std::vector<float>& scales,
                   const std::vector<int64_t>& zero_points, int64_t axis = 0) {
    Tensor zeros(integers.type(), scales.size() == 1 ? Shape{} : Shape{int64_t(scales.size())});
    for (int64_t i = 0; i < zeros.size(); ++i) zeros.set_integer(i, zero_points[size_t(i)]);
    const Tensor scale(zeros.shape(), std::span<const float>(scales));
    return node("DequantizeLinear",
                {graph.add_constant("weights", integers), graph.add_constant("scale", scale),
                 graph.add_constant("zero_point", zeros)},
                integers.shape(), {{"axis", axis}});
  }
  ValueId constant(const Tensor& integers, float scale, int64_t zero_point = 0) {
    return constant(integers, std::vector<float>{scale}, std::vector<int64_t>{zero_point});
  }
};

}  // namespace tilewright
