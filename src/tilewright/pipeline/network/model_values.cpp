// From the border through the host's nodes to the model's own tensors: what only moves elements moves a list
// of their places, what converts numbers is noted, and everything else needs the host.
#include "tilewright/pipeline/network/model_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/network/borders.h"

namespace tilewright::pipeline {
namespace {

// What stands in the way of a program without the model.
struct NeedsHost {
  std::string why;
};

[[noreturn]] void needs_host(const Node& node) {
  throw NeedsHost{fmt::format("{} ({})", where(node), node.op)};
}

bool keeps_order(const Node& node) {
  for (const char* const op : {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout"}) {
    if (node.is(op)) return true;
  }
  return false;
}

// The place in a Transpose's input of every element of its output.
std::vector<int64_t> transposed_places(const Graph& graph, const Node& node) {
  const Shape &in = graph.value(node.inputs[0]).shape, &out = graph.value(node.outputs[0]).shape;
  std::vector<int64_t> reversed;
  for (int axis = in.rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
  const std::vector<int64_t> axes = node.ints_or("perm", reversed);
  const std::vector<int64_t> steps = in.strides();
  std::vector<int64_t> places(size_t(out.element_count()));
  for (int64_t i = 0; i < out.element_count(); ++i) {
    int64_t rest = i;
    for (int axis = out.rank() - 1; axis >= 0; --axis) {
      places[size_t(i)] += rest % out[axis] * steps[size_t(axes[size_t(axis)])];
      rest /= out[axis];
    }
  }
  return places;
}

const Tensor& only_constant(const Graph& graph, const Node& node, int index) {
  const Tensor* const tensor = graph.constant_input(node, index);
  if (tensor == nullptr || tensor->size() != 1) needs_host(node);
  return *tensor;
}

// Notes a conversion between real values and the network's numbers.
void note_conversion(const Graph& graph, const Node& node, ModelTensor& result) {
  if (node.is_tilewright("FixedEncode") || node.is_tilewright("FixedDecode")) return;
  result.scale = only_constant(graph, node, 1).to_floats()[0];
  if (!node.has_input(2)) {
    if (node.is("QuantizeLinear")) needs_host(node);  // to u8, which the hardware does not have
    return;
  }
  const Tensor& zero = only_constant(graph, node, 2);
  result.zero_point = zero.integer_at(0);
  if (node.is("QuantizeLinear") && zero.type() != ElementType::kI8) needs_host(node);
}

bool converts(const Node& node, bool to_integers) {
  return to_integers ? node.is("QuantizeLinear") || node.is_tilewright("FixedEncode")
                     : node.is("DequantizeLinear") || node.is_tilewright("FixedDecode");
}

void note_clip(const Graph& graph, const Node& node, ModelTensor& result) {
  if (node.has_input(1)) result.low = std::max(result.low, only_constant(graph, node, 1).integer_at(0));
  if (node.has_input(2)) result.high = std::min(result.high, only_constant(graph, node, 2).integer_at(0));
}

class Tracer {
 public:
  explicit Tracer(const Graph& graph) : graph_(graph), producers_(graph.producers()) {}

  // From border `value` of `before`, whose elements lie at `places`, back to the model's input.
  ModelTensor input(ValueId value, std::vector<int64_t> places, bool real) {
    ModelTensor result;
    bool converted = false;
    for (NodeId id = producers_[size_t(value)]; id != kNoNode; id = producers_[size_t(value)]) {
      const Node& node = graph_.nodes[size_t(id)];
      if (node.is("Transpose")) {
        std::vector<int64_t> moved(places.size());
        const std::vector<int64_t> from = transposed_places(graph_, node);
        for (size_t i = 0; i < from.size(); ++i) moved[size_t(from[i])] = places[i];
        places = std::move(moved);
      } else if (!converted && converts(node, true)) {
        note_conversion(graph_, node, result);
        converted = true;
      } else if (!converted && node.is("Clip")) {
        note_clip(graph_, node, result);
      } else if (!keeps_order(node)) {
        needs_host(node);
      }
      value = node.inputs[0];
    }
    finish(result, value, places, converted || !real);
    return result;
  }

  // From output `value` of `behind` back to one of its `borders`, whose places are known.
  ModelTensor output(ValueId value, const std::vector<std::vector<int64_t>>& borders) {
    ModelTensor result;
    bool converted = false;
    std::vector<int64_t> order(size_t(graph_.value(value).shape.element_count()));
    std::iota(order.begin(), order.end(), 0);
    const ValueId last = value;
    for (NodeId id = producers_[size_t(value)]; id != kNoNode; id = producers_[size_t(value)]) {
      const Node& node = graph_.nodes[size_t(id)];
      if (node.is("Transpose")) {
        const std::vector<int64_t> from = transposed_places(graph_, node);
        for (int64_t& place : order) place = from[size_t(place)];
      } else if (!converted && result.exponentials.empty() && converts(node, false)) {
        note_conversion(graph_, node, result);
        converted = true;
      } else if (!converted && !result.softmax && node.is("Softmax") && over_all(node)) {
        result.softmax = true;
      } else if (node.is_tilewright("QSoftmax") && result.exponentials.empty() && over_all(node)) {
        note_integer_softmax(node, result);
      } else if (!keeps_order(node)) {
        needs_host(node);
      }
      value = node.inputs[0];
    }
    for (size_t i = 0; i < borders.size(); ++i) {
      if (graph_.inputs[i] != value) continue;
      for (int64_t& place : order) place = borders[i][size_t(place)];
      finish(result, last, order, converted || !result.softmax);
      return result;
    }
    throw NeedsHost{fmt::format("output '{}' does not come from the hardware", graph_.value(last).name)};
  }

 private:
  bool over_all(const Node& node) const {
    const Shape& shape = graph_.value(node.inputs[0]).shape;
    const int64_t axis = node.int_or("axis", -1);
    return shape[int(axis < 0 ? axis + shape.rank() : axis)] == shape.element_count();
  }

  void note_integer_softmax(const Node& node, ModelTensor& result) const {
    const Tensor* const table = graph_.constant_input(node, 1);
    if (table == nullptr || node.int_or("causal", 0) != 0) needs_host(node);
    for (const int64_t entry : table->to_integers()) result.exponentials.push_back(int32_t(entry));
    result.numerator = node.int_or("numerator", 0);
    result.shift = node.int_or("shift", 0);
    result.softmax_zero = node.int_or("y_zero_point", 0);
    result.low = node.int_or("clip_low", -128);
    result.high = node.int_or("clip_high", 127);
  }

  void finish(ModelTensor& result, ValueId value, const std::vector<int64_t>& places, bool known) const {
    const Value& own = graph_.value(value);
    if (!known) throw NeedsHost{fmt::format("'{}' has no conversion of one scale", own.name)};
    result.name = own.name;
    result.shape = own.shape.dims();
    const std::optional<ElementPlaces> digits = element_places(places);
    if (!digits) throw NeedsHost{fmt::format("the elements of '{}' are moved irregularly", own.name)};
    result.places = *digits;
  }

  const Graph& graph_;
  const std::vector<NodeId> producers_;
};

void trace(const Network& network, ModelValues& result) {
  if (network.before.outputs.empty() || network.behind.outputs.empty()) {
    throw NeedsHost{"the network is no part of a model"};
  }
  const std::vector<int> inputs = network.input_tensors(), outputs = network.output_tensors();
  Tracer before(network.before), behind(network.behind);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NetworkTensor& tensor = network.tensors[size_t(inputs[i])];
    if (tensor.bipolar) throw NeedsHost{fmt::format("'{}' has signs alone", tensor.name)};
    ModelTensor one = before.input(network.before.outputs[i], border_places(network, inputs[i]),
                                   network.before.value(network.before.inputs[0]).type == ElementType::kF32);
    for (const ModelTensor& other : result.inputs) {
      if (other.name == one.name)
        throw NeedsHost{fmt::format("input '{}' enters in several places", one.name)};
    }
    result.inputs.push_back(std::move(one));
  }
  // In the model's own order.
  std::vector<ModelTensor> sorted;
  for (const ValueId id : network.before.inputs) {
    for (ModelTensor& one : result.inputs) {
      if (one.name == network.before.value(id).name) sorted.push_back(std::move(one));
    }
  }
  if (sorted.size() != network.before.inputs.size())
    throw NeedsHost{"an input of the model is for the host alone"};
  result.inputs = std::move(sorted);
  std::vector<std::vector<int64_t>> borders;
  for (const int tensor : outputs) borders.push_back(border_places(network, tensor));
  for (const ValueId id : network.behind.outputs) result.outputs.push_back(behind.output(id, borders));
}

}  // namespace

std::vector<int64_t> ElementPlaces::list() const {
  std::vector<int64_t> places = {first};
  for (const ElementDigit& digit : digits) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < digit.size; ++i) next.push_back(place + i * digit.step);
    }
    places = std::move(next);
  }
  return places;
}

std::optional<ElementPlaces> element_places(const std::vector<int64_t>& list) {
  ElementPlaces result;
  std::vector<int64_t> rest = list;
  while (rest.size() > 1) {
    const int64_t count = int64_t(rest.size()), step = rest[1] - rest[0];
    const auto holds = [&](int64_t size) {
      for (int64_t i = 0; i < count; ++i) {
        if (rest[size_t(i)] != rest[size_t(i - i % size)] + i % size * step) return false;
      }
      return true;
    };
    int64_t size = 1;
    while (size < count && rest[size_t(size)] == rest[0] + size * step) ++size;
    while (size > 1 && (count % size != 0 || !holds(size))) --size;
    if (size == 1) return std::nullopt;
    result.digits.insert(result.digits.begin(), {size, step});
    std::vector<int64_t> heads;
    for (int64_t i = 0; i < count; i += size) heads.push_back(rest[size_t(i)]);
    rest = std::move(heads);
  }
  if (rest.empty()) return std::nullopt;
  result.first = rest[0];
  return result;
}

int64_t ModelTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

ModelValues model_values(const Network& network) {
  ModelValues result;
  try {
    trace(network, result);
  } catch (const NeedsHost& reason) {
    result = {};
    result.missing = reason.why;
  }
  return result;
}

}  // namespace tilewright::pipeline
