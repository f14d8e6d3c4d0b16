// Recognises exact patterns only: Where on GreaterOrEqual(x, 0) with two opposite constants, and weights
// whose non-zero elements have one magnitude per channel.
#include "tilewright/quantize/integerize/signs.h"

#include <cmath>

namespace tilewright {
namespace {

std::optional<float> single_number(const Graph& graph, const Node& node, int index) {
  const Tensor* tensor = graph.constant_input(node, index);
  if (tensor == nullptr || tensor->size() != 1 || tensor->type() != ElementType::kF32) return {};
  return tensor->data<float>()[0];
}

}  // namespace

std::optional<SignOf> sign_of(const Graph& graph, const std::vector<NodeId>& producers, const Node& node) {
  if (!node.is("Where") || graph.is_constant(node.input(0))) return {};
  const NodeId condition = producers[size_t(node.input(0))];
  const auto plus = single_number(graph, node, 1), minus = single_number(graph, node, 2);
  if (condition == kNoNode || !plus || !minus || !(*plus > 0) || !std::isfinite(*plus) || *minus != -*plus) {
    return {};
  }
  const Node& compare = graph.nodes[size_t(condition)];
  const auto bound = compare.is("GreaterOrEqual") ? single_number(graph, compare, 1) : std::nullopt;
  if (!bound || *bound != 0) return {};
  const ValueId x = compare.input(0);
  if (graph.value(x).type != ElementType::kF32 ||
      graph.value(x).shape != graph.value(node.outputs[0]).shape) {
    return {};
  }
  return SignOf{x, *plus};
}

std::optional<QuantizedConstant> ternary_constant(const Tensor& weights, int axis) {
  if (weights.type() != ElementType::kF32 || weights.shape().rank() < 2 || weights.size() == 0) return {};
  const int64_t channels = weights.shape()[axis];
  int64_t inner = 1;
  for (int a = axis + 1; a < weights.shape().rank(); ++a) inner *= weights.shape()[a];
  QuantizedConstant result;
  result.integers = Tensor(ElementType::kI8, weights.shape());
  result.scales.assign(size_t(channels), 0.0f);
  result.zero_points.assign(size_t(channels), 0);
  result.axis = axis;
  const auto real = weights.data<float>();
  for (int64_t i = 0; i < weights.size(); ++i) {
    const float w = real[size_t(i)], magnitude = std::fabs(w);
    float& scale = result.scales[size_t(i / inner % channels)];
    if (magnitude == 0) continue;
    if (!std::isfinite(w) || (scale != 0 && scale != magnitude)) return {};
    scale = magnitude;
    result.integers.set_integer(i, w > 0 ? 1 : -1);
  }
  for (float& scale : result.scales) {
    if (scale == 0) scale = 1;  // nothing but zeros
  }
  return result;
}

bool is_narrow(const Twin& twin) { return twin.high - twin.low <= 15; }

}  // namespace tilewright
