// Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", section 3.2, for the inference form.
#include "tilewright/transform/fold/fold_batch_norm.h"

#include <optional>
#include <vector>

#include "tilewright/graph/channel_affine.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/layer_bias.h"
#include "tilewright/transform/edit/quantized_weights.h"

namespace tilewright {
namespace {

bool is_foldable(const Node& node) { return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm"); }

// The output channel of each element of the weights, walked in row-major order.
class ChannelOfWeight {
 public:
  ChannelOfWeight(const Node& node, const Shape& weights, int64_t channels) {
    if (node.is("Gemm")) {
      inner_ = node.int_or("transB", 0) != 0 ? weights[1] : 1;
      count_ = channels;
    } else if (node.is("Conv")) {
      inner_ = weights.count(1, weights.rank());
      count_ = channels;
    } else {
      // C x O/group x kernel: the input channel decides the group.
      inner_ = weights.count(2, weights.rank());
      count_ = weights[1];
      const int64_t group = node.int_or("group", 1);
      per_group_ = weights[0] / group * weights[1];
    }
  }
  int64_t operator()(int64_t element) const {
    const int64_t row = element / inner_;
    return per_group_ == 0 ? row % count_ : row / per_group_ * count_ + row % count_;
  }

 private:
  int64_t inner_ = 1, count_ = 1;
  int64_t per_group_ = 0;  // rows of one group; 0: one group
};

// The weights of the layer times one number per output channel, as a new value; kNoValue where they are not
// constant.
ValueId scaled_weights(GraphEditor& editor, NodeId layer, const std::vector<double>& factors) {
  const Node& node = editor.node(layer);
  const Tensor* weights = editor.graph().constant_input(node, 1);
  if (weights == nullptr) {
    return node.is("ConvTranspose") ? kNoValue : scale_quantized_weights(editor, layer, factors);
  }
  if (weights->type() != ElementType::kF32) return kNoValue;
  const ChannelOfWeight channel_of(node, weights->shape(), int64_t(factors.size()));
  Tensor scaled = *weights;
  std::span<float> w = scaled.mutable_data<float>();
  for (size_t k = 0; k < w.size(); ++k) {
    w[k] = float(double(w[k]) * factors[size_t(channel_of(int64_t(k)))]);
  }
  const std::string name = node.name;
  return editor.add_constant(name + "_weights", std::move(scaled));
}

bool fold_into(GraphEditor& editor, NodeId layer, NodeId affine_node, const ChannelAffine& affine) {
  const Graph& graph = editor.graph();
  const Shape output = graph.value(editor.node(layer).outputs[0]).shape;
  const std::optional<std::vector<double>> bias = layer_bias(graph, editor.node(layer));
  if (!bias || affine.scale.size() != bias->size()) return false;
  const ValueId weights = scaled_weights(editor, layer, affine.scale);
  if (weights == kNoValue) return false;
  Tensor new_bias(ElementType::kF32, {output[1]});
  std::span<float> b = new_bias.mutable_data<float>();
  for (size_t c = 0; c < b.size(); ++c) b[c] = float((*bias)[c] * affine.scale[c] + affine.shift[c]);

  const std::string name = editor.node(layer).name;
  editor.set_input(layer, 1, weights);
  editor.set_input(layer, 2, editor.add_constant(name + "_bias", std::move(new_bias)));
  editor.mutable_node(layer).attributes.erase("beta");
  editor.absorb(layer, affine_node);
  return true;
}

// A BatchNormalization of N x C numbers that were given further axes of 1 works on N x C as well; the axes
// come after it then, out of the way of the layer before it.
void drop_unit_axes(GraphEditor& editor, NodeId id) {
  if (!editor.node(id).is("BatchNormalization") || editor.node(id).outputs.size() != 1) return;
  NodeId source = editor.sole_producer(id, 0, "Reshape");
  if (source == kNoNode) source = editor.sole_producer(id, 0, "Unsqueeze");
  if (source == kNoNode) return;
  const ValueId x = editor.node(source).input(0), y = editor.node(id).outputs[0];
  const Shape in = editor.value(x).shape, out = editor.value(y).shape;
  if (in.rank() != 2 || out[0] != in[0] || out[1] != in[1] || out.count(2, out.rank()) != 1) return;
  const std::string name = editor.value(y).name;
  const ValueId flat = editor.add_value(name + "_flat", editor.value(y).type, in);
  const Tensor shape({int64_t(out.rank())}, std::span<const int64_t>(out.dims()));
  const ValueId target = editor.add_constant(name + "_shape", shape);
  editor.set_input(id, 0, x);
  editor.kill(source);
  editor.set_output(id, 0, flat);
  editor.insert(editor.node(id).name + "_axes", "Reshape", {flat, target}, {y});
}

}  // namespace

Graph fold_batch_norm(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0, count = editor.node_count(); id < count; ++id) drop_unit_axes(editor, id);
  for (NodeId id = 0, count = editor.node_count(); id < count; ++id) {
    if (!is_foldable(editor.node(id))) continue;
    for (;;) {  // several may follow each other
      const NodeId next = editor.only_reader(editor.node(id).outputs[0]);
      if (next == kNoNode) break;
      const std::optional<ChannelAffine> affine = as_channel_affine(editor.graph(), editor.node(next));
      if (!affine || affine->input != editor.node(id).outputs[0]) break;
      if (!fold_into(editor, id, next, *affine)) break;
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
