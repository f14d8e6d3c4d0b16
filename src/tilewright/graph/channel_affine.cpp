// ONNX BatchNormalization, y = (x - mean) / sqrt(variance + epsilon) * scale + bias, brought to one factor
// and one summand per channel; an Add, Sub, Mul or Div with constants is a special case. In f64: the pass
// that uses the numbers rounds them.
#include "tilewright/graph/channel_affine.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::optional<ChannelAffine> batch_norm(const Graph& graph, const Node& node) {
  if (node.int_or("training_mode", 0) != 0) return {};
  const Tensor* parameters[4];
  for (int k = 0; k < 4; ++k) {
    parameters[k] = graph.constant_input(node, k + 1);
    if (parameters[k] == nullptr) return {};
  }
  const Shape& shape = graph.value(node.input(0)).shape;
  if (shape.rank() < 2) return {};
  const int64_t channels = shape[1];
  const double epsilon = double(node.float_or("epsilon", 1e-5f));
  ChannelAffine affine;
  affine.input = node.input(0);
  for (int64_t c = 0; c < channels; ++c) {
    for (const Tensor* parameter : parameters) {
      if (parameter->size() != channels) return {};
    }
    const double scale = parameters[0]->number_at(c) / std::sqrt(parameters[3]->number_at(c) + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(parameters[1]->number_at(c) - parameters[2]->number_at(c) * scale);
  }
  return affine;
}

std::optional<ChannelAffine> elementwise_affine(const Graph& graph, const Node& node) {
  const bool reversed = graph.is_constant(node.input(0));
  const Tensor* constant = graph.constant_input(node, reversed ? 0 : 1);
  if (constant == nullptr || graph.is_constant(node.input(reversed ? 1 : 0))) return {};
  if (node.is("Div") && reversed) return {};
  ChannelAffine affine;
  affine.input = node.input(reversed ? 1 : 0);
  const Shape& shape = graph.value(affine.input).shape;
  if (shape.rank() < 2 || graph.value(node.outputs[0]).shape != shape) return {};
  const std::optional<std::vector<double>> values = channel_constant(*constant, shape);
  if (!values) return {};
  for (const double value : *values) {
    double scale = 1, shift = 0;
    if (node.is("Mul")) scale = value;
    if (node.is("Div")) scale = 1 / value;
    if (node.is("Add")) shift = value;
    if (node.is("Sub")) {
      scale = reversed ? -1 : 1;
      shift = reversed ? value : -value;
    }
    affine.scale.push_back(scale);
    affine.shift.push_back(shift);
  }
  return affine;
}

}  // namespace

std::optional<std::vector<double>> channel_constant(const Tensor& constant, const Shape& shape) {
  const int missing = shape.rank() - constant.shape().rank();
  if (missing < 0 || shape.rank() < 2 || !is_float(constant.type())) return {};
  for (int axis = missing; axis < shape.rank(); ++axis) {
    const int64_t size = constant.shape()[axis - missing];
    if (size != 1 && !(axis == 1 && size == shape[1])) return {};
  }
  std::vector<double> values(static_cast<size_t>(shape[1]));
  for (int64_t c = 0; c < shape[1]; ++c) {
    values[size_t(c)] = constant.number_at(constant.size() == 1 ? 0 : c);
  }
  return values;
}

std::optional<ChannelAffine> as_channel_affine(const Graph& graph, const Node& node) {
  std::optional<ChannelAffine> affine;
  if (node.is("BatchNormalization")) affine = batch_norm(graph, node);
  if (node.is("Add") || node.is("Sub") || node.is("Mul") || node.is("Div"))
    affine = elementwise_affine(graph, node);
  if (affine && !(all_finite(affine->scale) && all_finite(affine->shift))) return {};
  return affine;
}

std::optional<std::vector<double>> prelu_slopes(const Graph& graph, const Node& node) {
  const Tensor* slopes = node.is("PRelu") ? graph.constant_input(node, 1) : nullptr;
  if (slopes == nullptr || slopes->size() == 1) return std::nullopt;
  auto numbers = channel_constant(*slopes, graph.value(node.outputs[0]).shape);
  return numbers && all_finite(*numbers) ? std::move(numbers) : std::nullopt;
}

}  // namespace tilewright
