// The C of a Gemm broadcasts to rows x columns and is a bias where it varies along columns only; beta is
// multiplied in. The bias of a convolution is taken as it stands.
#include "tilewright/transform/edit/layer_bias.h"

#include "tilewright/graph/channel_affine.h"

namespace tilewright {

std::optional<std::vector<double>> layer_bias(const Graph& graph, const Node& layer) {
  const Shape& output = graph.value(layer.outputs[0]).shape;
  if (!layer.has_input(2)) return std::vector<double>(size_t(output[1]), 0);
  const Tensor* bias = graph.constant_input(layer, 2);
  if (bias == nullptr || bias->type() != ElementType::kF32) return {};
  if (layer.is("Gemm")) {
    std::optional<std::vector<double>> values = channel_constant(*bias, output);
    const double beta = double(layer.float_or("beta", 1));
    if (values) {
      for (double& value : *values) value *= beta;
    }
    return values;
  }
  if (bias->size() != output[1]) return {};
  const std::vector<float> values = bias->to_floats();
  return std::vector<double>(values.begin(), values.end());
}

}  // namespace tilewright
