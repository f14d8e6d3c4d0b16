// Refuses computed weights and biases and biases that differ between rows, transposes dense weights to [O,K],
// and applies alpha and beta in double precision.
#include "tilewright/quantize/fixed_point/real_layer.h"

#include <algorithm>

#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {
namespace {

RealLayer refused(const std::string& problem) {
  RealLayer layer;
  layer.problem = problem;
  return layer;
}

}  // namespace

RealLayer real_convolution(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant_input(node, 1);
  if (weights == nullptr) return refused("its weights are computed");
  if (graph.value(node.input(0)).shape.rank() != 4) return refused("it does not have two spatial dimensions");
  if (node.has_input(2) && !graph.is_constant(node.input(2))) return refused("its bias is computed");
  RealLayer layer;
  layer.weight_shape = weights->shape();
  for (int64_t i = 0; i < weights->size(); ++i) layer.weights.push_back(weights->number_at(i));
  layer.bias.assign(size_t(layer.weight_shape[0]), 0);
  if (const Tensor* bias = graph.constant_input(node, 2)) {
    for (int64_t i = 0; i < bias->size(); ++i) layer.bias[size_t(i)] = bias->number_at(i);
  }
  return layer;
}

RealLayer real_dense(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant_input(node, 1);
  if (weights == nullptr) return refused("both factors are computed, or the weights are the left one");
  if (weights->shape().rank() != 2) return refused("its weights do not have rank 2");
  if (graph.value(node.input(0)).shape.rank() < 1) return refused("its input is a scalar");
  const bool gemm = node.is("Gemm");
  if (gemm && node.int_or("transA", 0) != 0) return refused("it transposes its input");
  const bool transposed = gemm && node.int_or("transB", 0) != 0;
  const double alpha = gemm ? double(node.float_or("alpha", 1)) : 1;
  const double beta = gemm ? double(node.float_or("beta", 1)) : 1;
  const int64_t rows = weights->shape()[0], columns = weights->shape()[1];
  const int64_t outputs = transposed ? rows : columns, depth = transposed ? columns : rows;
  RealLayer layer;
  layer.weight_shape = {outputs, depth};
  layer.weights.reserve(size_t(weights->size()));
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < depth; ++k) {
      layer.weights.push_back(alpha * weights->number_at(transposed ? o * depth + k : k * outputs + o));
    }
  }
  layer.bias.assign(size_t(outputs), 0);
  if (!gemm || !node.has_input(2)) return layer;
  const Tensor* bias = graph.constant_input(node, 2);
  if (bias == nullptr) return refused("its bias is computed");
  if (!varies_by_column_only(bias->shape(), outputs)) return refused("its bias differs between rows");
  for (int64_t o = 0; o < outputs; ++o) {
    layer.bias[size_t(o)] = beta * bias->number_at(bias->size() == 1 ? 0 : o);
  }
  return layer;
}

}  // namespace tilewright
