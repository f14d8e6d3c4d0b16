// W (s x + t) = (W s) x + W t. Weights are walked in row-major order; WeightIndex gives the input and output
// channel of each, for grouped convolutions and both layouts of Gemm. Sums are in f64 and rounded once. Of
// several affine operators in a row the nearest goes first.
#include "tilewright/transform/fold/fold_input_affine.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tilewright/graph/channel_affine.h"
#include "tilewright/graph/window.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/layer_bias.h"

namespace tilewright {
namespace {

struct WeightPosition {
  int64_t input_channel = 0, output_channel = 0;
};

// The channels of element `k` of the weights in row-major order.
class WeightIndex {
 public:
  WeightIndex(const Node& node, const Shape& weights) : weights_(weights) {
    kind_ = node.is("Gemm") ? (node.int_or("transB", 0) != 0 ? kTransposedGemm : kGemm)
                            : (node.is("Conv") ? kConv : kConvTranspose);
    if (kind_ == kConv) outputs_per_group_ = weights[0] / node.int_or("group", 1);
    kernel_ = weights.count(2, weights.rank());
  }
  WeightPosition operator()(int64_t k) const {
    const int64_t first = k / kernel_ / weights_[1], second = k / kernel_ % weights_[1];
    switch (kind_) {
      case kGemm:
      case kConvTranspose:
        return {first, second};  // no output channel is asked of grouped transposed ones
      case kTransposedGemm:
        return {second, first};
      default:
        return {first / outputs_per_group_ * weights_[1] + second, first};
    }
  }

 private:
  enum Kind { kConv, kConvTranspose, kGemm, kTransposedGemm } kind_ = kConv;
  Shape weights_;
  int64_t outputs_per_group_ = 1, kernel_ = 1;
};

bool shift_is_legal(const Graph& graph, const Node& layer, const ChannelAffine& affine) {
  const bool shifts =
      std::any_of(affine.shift.begin(), affine.shift.end(), [](double shift) { return shift != 0; });
  if (!shifts || layer.is("Gemm")) return true;
  if (layer.is("ConvTranspose")) return false;
  return !convolution_window(layer, graph.value(layer.input(0)).shape, graph.value(layer.input(1)).shape)
              .has_padding();
}

bool fold_into_input(GraphEditor& editor, NodeId id, const ChannelAffine& affine) {
  const Graph& graph = editor.graph();
  const Node& layer = editor.node(id);
  const Tensor* weights = graph.constant_input(layer, 1);
  if (weights == nullptr || weights->type() != ElementType::kF32) return false;
  if (layer.is("Gemm") && layer.int_or("transA", 0) != 0) return false;
  std::optional<std::vector<double>> bias = layer_bias(graph, layer);
  if (!bias || !shift_is_legal(graph, layer, affine)) return false;

  const WeightIndex index(layer, weights->shape());
  const double alpha = layer.is("Gemm") ? double(layer.float_or("alpha", 1)) : 1;
  Tensor new_weights = *weights;
  std::span<float> w = new_weights.mutable_data<float>();
  for (size_t k = 0; k < w.size(); ++k) {
    const WeightPosition at = index(int64_t(k));
    const double shift = affine.shift[size_t(at.input_channel)];
    if (shift != 0) (*bias)[size_t(at.output_channel)] += alpha * double(w[k]) * shift;
    w[k] = float(double(w[k]) * affine.scale[size_t(at.input_channel)]);
  }
  const std::vector<float> b(bias->begin(), bias->end());
  const std::string name = layer.name;
  editor.set_input(id, 0, affine.input);
  editor.set_input(id, 1, editor.add_constant(name + "_weights", std::move(new_weights)));
  editor.set_input(
      id, 2,
      editor.add_constant(name + "_bias", Tensor(Shape{int64_t(b.size())}, std::span<const float>(b))));
  editor.mutable_node(id).attributes.erase("beta");
  return true;
}

}  // namespace

Graph fold_input_affine(Graph graph) {
  GraphEditor editor(std::move(graph));
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    const Node& layer = editor.node(id);
    if (!layer.is("Conv") && !layer.is("ConvTranspose") && !layer.is("Gemm")) continue;
    for (;;) {  // several may follow each other
      const ValueId input = editor.node(id).input(0);
      const NodeId source = editor.producer(input);
      if (source == kNoNode || editor.only_reader(input) != id) break;
      const std::optional<ChannelAffine> affine = as_channel_affine(editor.graph(), editor.node(source));
      if (!affine || editor.value(affine->input).type != ElementType::kF32) break;
      if (!fold_into_input(editor, id, *affine)) break;
      editor.kill(source);
    }
  }
  return std::move(editor).finish();
}

}  // namespace tilewright
