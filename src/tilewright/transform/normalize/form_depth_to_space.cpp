// ONNX DepthToSpace-13: CRD is reshape to N, C, b, b, H, W, transpose 0, 1, 4, 2, 5, 3; DCR is reshape to
// N, b, b, C, H, W, transpose 0, 3, 4, 1, 5, 2; then reshape to N, C, H b, W b.
#include "tilewright/transform/normalize/form_depth_to_space.h"

#include <string>

#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/permutation.h"

namespace tilewright {
namespace {

// "CRD", "DCR", or empty when the three nodes are no pixel shuffle.
std::string shuffle_mode(const Shape& in, const Shape& split, const Permutation& perm, const Shape& out) {
  if (in.rank() != 4 || split.rank() != 6 || out.rank() != 4) return "";
  if (split[0] != in[0] || split[4] != in[2] || split[5] != in[3]) return "";
  const bool crd = perm == Permutation{0, 1, 4, 2, 5, 3};
  if (!crd && perm != Permutation{0, 3, 4, 1, 5, 2}) return "";
  const int64_t channels = crd ? split[1] : split[3], rows = crd ? split[2] : split[1],
                columns = crd ? split[3] : split[2];
  const Shape shuffled{in[0], channels, in[2] * rows, in[3] * columns};
  if (rows < 1 || rows != columns || channels * rows * columns != in[1] || out != shuffled) return "";
  return crd ? "CRD" : "DCR";
}

}  // namespace

Graph form_depth_to_space(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId last = 0; last < editor.node_count(); ++last) {
    if (!editor.node(last).is("Reshape")) continue;
    const NodeId middle = editor.sole_producer(last, 0, "Transpose");
    const NodeId first = middle == kNoNode ? kNoNode : editor.sole_producer(middle, 0, "Reshape");
    if (first == kNoNode) continue;
    const ValueId input = editor.node(first).input(0);
    const Shape in = editor.value(input).shape, split = editor.value(editor.node(middle).input(0)).shape;
    const Shape out = editor.value(editor.node(last).outputs[0]).shape;
    const std::string mode = shuffle_mode(in, split, permutation_of(editor.node(middle), split.rank()), out);
    if (mode.empty()) continue;
    // Axis 2 of `split` is one side of the block in either order.
    editor.mutable_node(last).op = "DepthToSpace";
    editor.mutable_node(last).attributes = {{"blocksize", split[2]}, {"mode", mode}};
    editor.set_inputs(last, {input});
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
