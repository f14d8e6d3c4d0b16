// Each of these operators is an interval, and two in a row are one: the second clips the bounds of the
// first, clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d)).
#include "tilewright/transform/normalize/merge_clips.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Bounds {
  ValueId input = kNoValue;
  float low = -kInfinity, high = kInfinity;
};

// The scalar constant at `index`; the fallback when that input is absent, nullopt when it is something else.
std::optional<float> scalar(const Graph& graph, const Node& node, int index, float fallback) {
  if (!node.has_input(index)) return fallback;
  const Tensor* constant = graph.constant_input(node, index);
  if (constant == nullptr || constant->size() != 1 || constant->type() != ElementType::kF32) return {};
  const float value = constant->data<float>()[0];
  return std::isnan(value) ? std::nullopt : std::optional<float>(value);
}

// Max or Min of one value and one scalar that does not change the shape.
std::optional<Bounds> extremum(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2) return {};
  const int constant = graph.is_constant(node.input(0)) ? 0 : 1;
  const std::optional<float> bound = scalar(graph, node, constant, 0);
  const ValueId input = node.input(1 - constant);
  if (!bound || graph.is_constant(input) || graph.value(input).shape != graph.value(node.outputs[0]).shape) {
    return {};
  }
  return node.is("Max") ? Bounds{input, *bound, kInfinity} : Bounds{input, -kInfinity, *bound};
}

std::optional<Bounds> bounds_of(const Graph& graph, const Node& node) {
  if (!node.has_input(0) || graph.value(node.outputs[0]).type != ElementType::kF32) return {};
  if (node.is("Relu")) return Bounds{node.input(0), 0, kInfinity};
  if (node.is("Max") || node.is("Min")) return extremum(graph, node);
  if (!node.is("Clip")) return {};
  const std::optional<float> low = scalar(graph, node, 1, -kInfinity),
                             high = scalar(graph, node, 2, kInfinity);
  if (!low || !high || *low > *high) return {};  // of crossed bounds ONNX takes the upper one
  return Bounds{node.input(0), *low, *high};
}

bool is_normal(const Node& node, const Bounds& bounds) {
  const bool relu = bounds.low == 0 && bounds.high == kInfinity;
  return node.is(relu ? "Relu" : "Clip");
}

void rewrite(GraphEditor& editor, NodeId id, const Bounds& bounds) {
  const std::string name = editor.node(id).name;
  std::vector<ValueId> inputs = {bounds.input};
  const bool relu = bounds.low == 0 && bounds.high == kInfinity;
  if (!relu && bounds.low != -kInfinity) {
    inputs.push_back(editor.add_constant(name + "_low", Tensor::scalar(bounds.low)));
  }
  if (!relu && bounds.high != kInfinity) {
    inputs.resize(2, kNoValue);
    inputs.push_back(editor.add_constant(name + "_high", Tensor::scalar(bounds.high)));
  }
  editor.mutable_node(id).op = relu ? "Relu" : "Clip";
  editor.set_inputs(id, std::move(inputs));
}

}  // namespace

Graph merge_clips(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    std::optional<Bounds> bounds = bounds_of(editor.graph(), editor.node(id));
    if (!bounds) continue;
    const NodeId source = editor.producer(bounds->input);
    std::optional<Bounds> first;
    if (source != kNoNode && editor.only_reader(bounds->input) == id) {
      first = bounds_of(editor.graph(), editor.node(source));
    }
    if (first) {
      const auto clip = [&](float value) { return std::clamp(value, bounds->low, bounds->high); };
      rewrite(editor, id, {first->input, clip(first->low), clip(first->high)});
    } else if (!is_normal(editor.node(id), *bounds)) {
      rewrite(editor, id, *bounds);
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
