// The amounts of the Pad are added to the pads of the window, if the output keeps its size and no pooling
// window lies in padding alone. A Pad that a Transpose separates from a Conv is moved after the Transpose
// first.
#include "tilewright/transform/fold/fold_pads.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tilewright/graph/window.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/permutation.h"
#include "tilewright/transform/edit/value_range.h"

namespace tilewright {
namespace {

struct SpatialPad {
  std::vector<int64_t> pads;  // spatial axes: all begins, then all ends
  double value = 0;
};

std::optional<SpatialPad> spatial_pad(const Graph& graph, const Node& node) {
  if (node.string_or("mode", "constant") != "constant" || node.has_input(3)) return {};
  const Tensor* amounts = graph.constant_input(node, 1);
  const int rank = graph.value(node.input(0)).shape.rank();
  if (amounts == nullptr || rank < 3 || amounts->size() != 2 * rank) return {};
  SpatialPad pad;
  for (int k = 0; k < 2 * rank; ++k) {
    const int64_t amount = amounts->integer_at(k);
    if (amount < 0) return {};
    if (k % rank >= 2) {
      pad.pads.push_back(amount);
    } else if (amount != 0) {
      return {};
    }
  }
  if (node.has_input(2)) {
    const Tensor* value = graph.constant_input(node, 2);
    if (value == nullptr || value->size() != 1) return {};
    pad.value = value->number_at(0);
  }
  return pad;
}

bool value_allows(const GraphEditor& editor, const Node& reader, const SpatialPad& pad, ValueId unpadded) {
  if (reader.is("Conv")) return pad.value == 0;
  if (reader.is("MaxPool")) {
    return pad.value == -INFINITY || (pad.value == 0 && is_non_negative(editor, unpadded));
  }
  return pad.value == 0;
}

// `reader` with the Pad added to its explicit pads; nullopt where that is not the same computation.
std::optional<Node> with_pads(const Graph& graph, const Node& reader, const SpatialPad& pad,
                              ValueId unpadded) {
  const bool conv = reader.is("Conv");
  const Shape& padded_shape = graph.value(reader.input(0)).shape;
  const auto window_of = [&](const Node& node, const Shape& shape) {
    return conv ? convolution_window(node, shape, graph.value(node.input(1)).shape)
                : pool_window(node, shape);
  };
  const Window before = window_of(reader, padded_shape);
  if (before.axes.size() * 2 != pad.pads.size()) return {};
  const bool own_padding = before.has_padding();
  if (reader.is("AveragePool") && own_padding && reader.int_or("count_include_pad", 0) == 0) return {};
  // A last window that ceil_mode adds reaches beyond the border, and the padded border is not the one of the
  // input: leave that case alone.
  if (!conv && reader.int_or("ceil_mode", 0) != 0) return {};
  if (reader.is("MaxPool") && own_padding && pad.value == 0) return {};
  // The gaps of a dilated window can hold all of the input, and its taps nothing but padding.
  if (reader.is("MaxPool") && before.has_dilation()) return {};

  std::vector<int64_t> pads = before.pads();
  for (size_t k = 0; k < pads.size(); ++k) pads[k] += pad.pads[k];
  for (size_t axis = 0; axis < before.axes.size() && !conv; ++axis) {
    const int64_t reach = before.axes[axis].effective_kernel();
    if (pads[axis] >= reach || pads[axis + before.axes.size()] >= reach) return {};
  }
  Node folded = reader;
  folded.attributes.erase("auto_pad");
  folded.attributes["pads"] = pads;
  if (reader.is("AveragePool")) folded.attributes["count_include_pad"] = int64_t{1};
  const Window after = window_of(folded, graph.value(unpadded).shape);
  for (size_t axis = 0; axis < before.axes.size(); ++axis) {
    if (before.axes[axis].output != after.axes[axis].output) return {};
  }
  return folded;
}

// Pad, Transpose, Conv: the Transpose first, so that the Pad meets the Conv. Only where the Conv then takes
// it.
void bring_pad_to_conv(GraphEditor& editor, NodeId conv) {
  if (!editor.node(conv).is("Conv")) return;
  const NodeId transpose = editor.sole_producer(conv, 0, "Transpose");
  const NodeId pad = transpose == kNoNode ? kNoNode : editor.sole_producer(transpose, 0, "Pad");
  if (pad == kNoNode) return;
  const ValueId data = editor.node(pad).input(0);
  const Value unpadded = editor.value(data);
  const Permutation perm = permutation_of(editor.node(transpose), unpadded.shape.rank());
  const Tensor* amounts = editor.graph().constant_input(editor.node(pad), 1);
  if (amounts == nullptr || amounts->size() != 2 * unpadded.shape.rank()) return;
  const std::vector<int64_t> all = amounts->to_integers();
  const size_t rank = perm.size();
  std::vector<int64_t> moved;
  for (const size_t end : {size_t{0}, rank}) {
    for (const int64_t axis : perm) moved.push_back(all[end + size_t(axis)]);
  }
  Node first = editor.node(pad);
  std::vector<ValueId> inputs = first.inputs;
  const std::string name = editor.node(transpose).name;
  inputs[1] = editor.add_constant(name + "_pads",
                                  Tensor(Shape{int64_t(moved.size())}, std::span<const int64_t>(moved)));
  first.inputs[1] = inputs[1];
  const std::optional<SpatialPad> spatial = spatial_pad(editor.graph(), first);
  if (!spatial || spatial->value != 0) return;
  inputs[0] = editor.add_value(name + "_first", unpadded.type, permuted(unpadded.shape, perm));
  const NodeId raised = editor.insert(name + "_first", "Transpose", {data}, {inputs[0]});
  editor.mutable_node(raised).attributes["perm"] = perm;
  editor.mutable_node(transpose).op = "Pad";
  editor.mutable_node(transpose).attributes = first.attributes;
  editor.set_inputs(transpose, inputs);
}

}  // namespace

Graph fold_pads(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    const Node& node = editor.node(id);
    if (!node.is("Conv") && !node.is("AveragePool") && !node.is("MaxPool")) continue;
    if (node.is("MaxPool") && node.outputs.size() > 1) continue;  // indices count padded positions
    bring_pad_to_conv(editor, id);
    for (;;) {
      const NodeId source = editor.producer(editor.node(id).input(0));
      if (source == kNoNode || !editor.node(source).is("Pad")) break;
      const std::optional<SpatialPad> pad = spatial_pad(editor.graph(), editor.node(source));
      const ValueId unpadded = editor.node(source).input(0);
      if (!pad || !value_allows(editor, editor.node(id), *pad, unpadded)) break;
      const std::optional<Node> folded = with_pads(editor.graph(), editor.node(id), *pad, unpadded);
      if (!folded) break;
      editor.mutable_node(id).attributes = folded->attributes;
      editor.set_input(id, 0, unpadded);
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
