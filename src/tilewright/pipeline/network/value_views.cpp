// What a node does to elements is found out by running it on their numbers.
#include "tilewright/pipeline/network/value_views.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/host/executor.h"

namespace tilewright::pipeline {
namespace {

Tensor numbers_tensor(const Shape& shape, const std::vector<int32_t>& numbers) {
  Tensor tensor(ElementType::kI32, shape);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<int32_t>().begin());
  return tensor;
}

// Keeps the order of elements.
bool reshapes(const Node& node) {
  return operator_class(node) == OperatorClass::kReshape || operator_class(node) == OperatorClass::kCopy;
}

}  // namespace

bool moves_elements(const Node& node) {
  const OperatorClass kind = operator_class(node);
  if (node.is("Resize")) return node.string_or("mode", "nearest") == "nearest";
  if (node.is("Pad")) return true;
  return kind == OperatorClass::kReshape || kind == OperatorClass::kCopy ||
         kind == OperatorClass::kMovement || node.is("Concat");
}

std::optional<TensorShape> map_shape(const Shape& shape) {
  if (shape.rank() < 2 || shape.rank() > 4 || shape[0] != 1 || shape.element_count() < 1) return std::nullopt;
  TensorShape map;
  map.channels = shape[1];
  if (shape.rank() == 3) map.columns = shape[2];
  if (shape.rank() == 4) map.rows = shape[2], map.columns = shape[3];
  return map;
}

void ValueViews::bind_like(ValueId value, int tensor, ValueId like) {
  View view{tensor, std::nullopt};
  const View& old = views_.at(like);
  if (old.elements) {
    const int32_t offset = assembly_.numbers().first(tensor) - assembly_.numbers().first(whole_tensor(like));
    view.elements = old.elements;
    for (int32_t& element : *view.elements) element += offset;
  }
  views_[value] = std::move(view);
}

std::vector<int32_t> ValueViews::elements(ValueId value) const {
  const Value& own = graph_.value(value);
  std::vector<int32_t> result;
  if (own.constant) {
    for (const int64_t element : own.constant->to_integers())
      result.push_back(assembly_.numbers().constant(int32_t(element)));
    return result;
  }
  const View& view = views_.at(value);
  if (view.elements) return *view.elements;
  const TensorShape& shape = network_.tensors[size_t(view.tensor)].shape;
  const int32_t first = assembly_.numbers().first(view.tensor);
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t pixel = 0; pixel < shape.rows * shape.columns; ++pixel)
      result.push_back(first + int32_t(pixel * shape.channels + c));
  }
  return result;
}

void ValueViews::move(const Node& node) {
  if (reshapes(node)) {
    const View same = views_.at(node.input(0));
    views_[node.outputs[0]] = same;
    return;
  }
  // The node alone, on numbers.
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<ValueId> own;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (value == kNoValue) {
      own.push_back(kNoValue);
      continue;
    }
    const Value& known = graph_.value(value);
    const bool data = i == 0 || node.is("Concat");
    const bool filling = node.is("Pad") && i == 2;
    if (data || filling) {
      inputs.push_back(numbers_tensor(known.shape, elements(value)));
      own.push_back(graph.add_input("data", ElementType::kI32, known.shape));
    } else {
      own.push_back(graph.add_constant("constant", *known.constant));
    }
  }
  if (node.is("Pad") && node.string_or("mode", "constant") == "constant" && !node.has_input(2)) {
    own.resize(3, kNoValue);
    own[2] = graph.add_input("zero", ElementType::kI32, {});
    inputs.push_back(numbers_tensor({}, {assembly_.numbers().constant(0)}));
  }
  std::vector<ValueId> outputs;
  for (const ValueId value : node.outputs) {
    outputs.push_back(value == kNoValue
                          ? kNoValue
                          : graph.add_value("moved", ElementType::kI32, graph_.value(value).shape));
    if (value != kNoValue) graph.outputs.push_back(outputs.back());
  }
  graph.add_node(node.name, node.op, own, outputs, node.domain).attributes = node.attributes;
  const std::vector<Tensor> moved = run(graph, std::move(inputs));
  size_t at = 0;
  for (const ValueId value : node.outputs) {
    if (value == kNoValue) continue;
    const auto numbers = moved[at++].data<int32_t>();
    views_[value] = {-1, std::vector<int32_t>(numbers.begin(), numbers.end())};
  }
}

int ValueViews::whole_tensor(ValueId value) const {
  const View& view = views_.at(value);
  if (!view.elements) return view.tensor;
  if (view.elements->empty() || view.elements->front() < 0) return -1;
  const int tensor = assembly_.numbers().at(view.elements->front()).tensor;
  const int64_t count = network_.tensors[size_t(tensor)].shape.elements();
  const int32_t first = assembly_.numbers().first(tensor);
  if (int64_t(view.elements->size()) != count) return -1;
  std::vector<bool> seen(size_t(count), false);
  for (const int32_t element : *view.elements) {
    if (element < first || element >= first + count || seen[size_t(element - first)]) return -1;
    seen[size_t(element - first)] = true;
  }
  return tensor;
}

std::vector<int64_t> ValueViews::places(ValueId value) const {
  const int32_t first = assembly_.numbers().first(whole_tensor(value));
  std::vector<int64_t> result;
  for (const int32_t element : elements(value)) result.push_back(element - first);
  return result;
}

int ValueViews::map(ValueId value, const std::string& name, const Shape& shape) {
  const Shape& own = graph_.value(value).shape;
  const std::optional<TensorShape> map = map_shape(shape);
  if (!map || own.rank() > shape.rank()) return -1;
  const View& view = views_.at(value);
  if (own == shape && !view.elements && network_.tensors[size_t(view.tensor)].shape == *map) {
    return view.tensor;
  }
  // Axes of length 1 are repeated, from the last axis on.
  const std::vector<int32_t> from = elements(value);
  const auto at = [&](int64_t c, int64_t y, int64_t x) {
    const int64_t wanted[4] = {0, c, shape.rank() == 3 ? x : y, x};
    int64_t index = 0;
    for (int axis = 0; axis < own.rank(); ++axis) {
      const int64_t size = own[axis];
      index = index * size + (size == 1 ? 0 : wanted[axis + shape.rank() - own.rank()]);
    }
    return from[size_t(index)];
  };
  std::vector<int32_t> elements;
  for (int64_t y = 0; y < map->rows; ++y) {
    for (int64_t x = 0; x < map->columns; ++x) {
      for (int64_t c = 0; c < map->channels; ++c) elements.push_back(at(c, y, x));
    }
  }
  const int tensor = assembly_.assembled(name, *map, elements);
  if (tensor >= 0 && own == shape) bind(value, tensor);
  return tensor;
}

}  // namespace tilewright::pipeline
