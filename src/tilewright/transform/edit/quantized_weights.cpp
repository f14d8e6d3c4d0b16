// scale'[o] = scale[o] * |factor[o]|, q' = q or -q.
#include "tilewright/transform/edit/quantized_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tilewright {
namespace {

// Constant integers with one scale per index of the output channel axis, zero points 0 or all alike.
struct Weights {
  Tensor integers;
  std::vector<float> scales;
  Tensor zero_point;  // of one element
  int axis = 0;
};

std::optional<Weights> weights_of(const GraphEditor& editor, NodeId layer, size_t channels) {
  const Node& node = editor.node(layer);
  const NodeId source = editor.producer(node.input(1));
  if (source == kNoNode || !editor.node(source).is("DequantizeLinear")) return {};
  const Node& dequantize = editor.node(source);
  const Graph& graph = editor.graph();
  const Tensor* integers = graph.constant_input(dequantize, 0);
  const Tensor* scale = graph.constant_input(dequantize, 1);
  const Tensor* zero = graph.constant_input(dequantize, 2);
  const bool is_plain = integers != nullptr && scale != nullptr && scale->type() == ElementType::kF32 &&
                        (zero != nullptr || !dequantize.has_input(2));
  if (!is_plain || integers->shape().rank() < 2) return {};
  Weights weights{*integers, scale->to_floats(), Tensor(integers->type(), Shape{}), 0};
  weights.axis = node.is("Gemm") && node.int_or("transB", 0) == 0 ? 1 : 0;
  if (integers->shape()[weights.axis] != int64_t(channels)) return {};
  if (zero != nullptr) {
    for (int64_t i = 1; i < zero->size(); ++i) {
      if (zero->integer_at(i) != zero->integer_at(0)) return {};
    }
    if (zero->size() > 0) weights.zero_point.set_integer(0, zero->integer_at(0));
  }
  if (weights.scales.size() == 1) {
    weights.scales.resize(channels, weights.scales[0]);
  } else if (weights.scales.size() != channels ||
             normalize_axis(dequantize.int_or("axis", 1), integers->shape().rank()) != weights.axis) {
    return {};
  }
  return weights;
}

// Replaces the integers of channel `o` by f(q).
template <typename F>
void change_channel(Weights& weights, int64_t o, F&& f) {
  const Shape& shape = weights.integers.shape();
  const int64_t inner = shape.count(weights.axis + 1, shape.rank()), channels = shape[weights.axis];
  for (int64_t i = o * inner; i < weights.integers.size(); i += channels * inner) {
    for (int64_t e = i; e < i + inner; ++e)
      weights.integers.set_integer(e, f(weights.integers.integer_at(e)));
  }
}

bool can_be_negated(const Weights& weights, int64_t o) {
  Weights copy = weights;
  bool possible = is_signed(weights.integers.type()) && weights.zero_point.integer_at(0) == 0;
  const int64_t low = lowest(weights.integers.type());
  change_channel(copy, o, [&](int64_t q) {
    possible &= q != low;
    return q;
  });
  return possible;
}

}  // namespace

ValueId scale_quantized_weights(GraphEditor& editor, NodeId layer, const std::vector<double>& factors) {
  std::optional<Weights> weights = weights_of(editor, layer, factors.size());
  if (!weights) return kNoValue;
  const int64_t zero = weights->zero_point.integer_at(0);
  for (size_t o = 0; o < factors.size(); ++o) {
    const double scale = double(weights->scales[o]) * std::fabs(factors[o]);
    if (!(scale < double(std::numeric_limits<float>::max()))) return kNoValue;
    if (scale < double(std::numeric_limits<float>::min())) {
      change_channel(*weights, int64_t(o), [&](int64_t) { return zero; });
      continue;
    }
    weights->scales[o] = float(scale);
    if (factors[o] >= 0) continue;
    if (!can_be_negated(*weights, int64_t(o))) return kNoValue;
    change_channel(*weights, int64_t(o), [](int64_t q) { return -q; });
  }
  const std::string name = editor.node(layer).name;
  const Shape shape = weights->integers.shape();
  Tensor zeros(weights->integers.type(), Shape{int64_t(factors.size())});
  for (int64_t o = 0; o < zeros.size(); ++o) zeros.set_integer(o, zero);
  const ValueId integers = editor.add_constant(name + "_integers", std::move(weights->integers));
  const ValueId scales = editor.add_constant(
      name + "_scales", Tensor(Shape{int64_t(factors.size())}, std::span<const float>(weights->scales)));
  const ValueId zero_points = editor.add_constant(name + "_zero_points", std::move(zeros));
  const ValueId scaled = editor.add_value(name + "_weights", ElementType::kF32, shape);
  const NodeId dequantize =
      editor.insert(name + "_dequantize", "DequantizeLinear", {integers, scales, zero_points}, {scaled});
  editor.mutable_node(dequantize).attributes["axis"] = int64_t(weights->axis);
  return scaled;
}

}  // namespace tilewright
