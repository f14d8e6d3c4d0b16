// A reduction qualifies by its axes (2, 3, ... and no other), a pool by its window: one output per axis, no
// dilation, all of the input covered.
#include "tilewright/transform/normalize/normalize_pooling.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tilewright/graph/window.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

bool reduces_spatial_axes(const GraphEditor& editor, const Node& node) {
  if (!node.is("ReduceMean") && !node.is("ReduceMax")) return false;
  const Shape& shape = editor.value(node.input(0)).shape;
  const int rank = shape.rank();
  if (shape.element_count() == 0) return false;  // a pool needs something under its window
  if (rank < 3 || editor.value(node.input(0)).type != ElementType::kF32) return false;
  std::vector<int64_t> axes = node.ints_or("axes", {});
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  std::vector<int64_t> spatial(static_cast<size_t>(rank - 2));
  std::iota(spatial.begin(), spatial.end(), 2);
  return axes == spatial;
}

// Padding under the window does no harm unless the average counts it.
bool pools_everything(const GraphEditor& editor, const Node& node) {
  if (!node.is("AveragePool") && !(node.is("MaxPool") && node.outputs.size() == 1)) return false;
  if (!is_float(editor.value(node.input(0)).type)) return false;  // global pools are of floats only
  const Window window = pool_window(node, editor.value(node.input(0)).shape);
  const bool counts_padding = node.is("AveragePool") && node.int_or("count_include_pad", 0) != 0;
  return std::all_of(window.axes.begin(), window.axes.end(), [&](const WindowAxis& axis) {
    const bool covers = axis.input_index(0, 0) <= 0 && axis.input_index(0, axis.kernel - 1) >= axis.input - 1;
    return axis.output == 1 && axis.dilation == 1 && covers && (!counts_padding || axis.kernel == axis.input);
  });
}

// The reduction writes a value with its axes kept; `out` is that value without them.
void restore_dropped_axes(GraphEditor& editor, NodeId id) {
  const ValueId out = editor.node(id).outputs[0];
  const Shape in = editor.value(editor.node(id).input(0)).shape;
  std::vector<int64_t> kept(static_cast<size_t>(in.rank()), 1);
  kept[0] = in[0];
  kept[1] = in[1];
  const std::string name = editor.node(id).name;
  const ValueId pooled = editor.add_value(name + "_pooled", editor.value(out).type, Shape(kept));
  editor.set_output(id, 0, pooled);
  const NodeId flatten = editor.insert(name + "_flatten", "Flatten", {pooled}, {out});
  editor.mutable_node(flatten).attributes["axis"] = int64_t{1};
}

}  // namespace

Graph normalize_pooling(Graph graph) {
  GraphEditor editor(std::move(graph));
  const NodeId count = editor.node_count();
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = editor.node(id);
    const bool reduction = reduces_spatial_axes(editor, node);
    if (!reduction && !pools_everything(editor, node)) continue;
    const bool mean = node.is("ReduceMean") || node.is("AveragePool");
    const bool drops_axes = reduction && node.int_or("keepdims", 1) == 0;
    editor.mutable_node(id).op = mean ? "GlobalAveragePool" : "GlobalMaxPool";
    editor.mutable_node(id).attributes.clear();
    if (drops_axes) restore_dropped_axes(editor, id);
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
