// The numbers are those of channel_affine.h. The BatchNormalization itself turns into the Add, so that its
// output keeps its name; one that is not constant or not f32 stays.
#include "tilewright/transform/fold/split_batch_norm.h"

#include <utility>

#include "tilewright/graph/channel_affine.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

// One number per channel, of shape C x 1 x ..., which broadcasts along axis 1.
Tensor per_channel(const std::vector<double>& numbers, int rank) {
  std::vector<int64_t> dims(size_t(rank) - 1, 1);
  dims[0] = int64_t(numbers.size());
  Tensor tensor(ElementType::kF32, Shape(dims));
  for (size_t c = 0; c < numbers.size(); ++c) tensor.set_number(int64_t(c), numbers[c]);
  return tensor;
}

}  // namespace

Graph split_batch_norm(Graph graph) {
  GraphEditor editor(std::move(graph));
  const NodeId count = editor.node_count();
  for (NodeId id = 0; id < count; ++id) {
    if (!editor.node(id).is("BatchNormalization")) continue;
    const auto affine = as_channel_affine(editor.graph(), editor.node(id));
    const Value normalized = editor.value(editor.node(id).outputs[0]);
    if (!affine || normalized.type != ElementType::kF32) continue;
    const std::string name = editor.node(id).name;
    const int rank = normalized.shape.rank();
    const ValueId scale = editor.add_constant(name + "_scale", per_channel(affine->scale, rank));
    const ValueId shift = editor.add_constant(name + "_shift", per_channel(affine->shift, rank));
    const ValueId scaled = editor.add_value(name + "_scaled", normalized.type, normalized.shape);
    editor.insert(name + "_scaled", "Mul", {affine->input, scale}, {scaled});
    editor.mutable_node(id).op = "Add";
    editor.mutable_node(id).attributes.clear();
    editor.set_inputs(id, {scaled, shift});
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
