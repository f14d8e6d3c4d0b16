// Weights and biases are read once, in the form in which integers will replace them.
#include "tilewright/quantize/prepared_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/calibrate/layer_inputs.h"
#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {
namespace {

// In the graph, too: calibration runs it.
void fold_factors(Graph& graph, Node& node, Tensor& weights) {
  const float alpha = node.float_or("alpha", 1), beta = node.float_or("beta", 1);
  if (alpha != 1) {
    for (float& x : weights.mutable_data<float>()) x *= alpha;
    node.inputs[1] = graph.add_constant(node.name + "_scaled_weights", weights);
  }
  node.attributes.erase("alpha");
  node.attributes.erase("beta");
  if (node.has_input(2) && beta != 1) {
    Tensor scaled = *graph.constant_input(node, 2);
    for (int64_t i = 0; i < scaled.size(); ++i) scaled.set_number(i, scaled.number_at(i) * beta);
    node.inputs[2] = graph.add_constant(node.name + "_scaled_bias", std::move(scaled));
  }
}

LayerWeights prepare_layer(Graph& graph, const WeightedOperator& op) {
  Node& node = graph.nodes[size_t(op.node)];
  LayerWeights layer{op, *graph.constant_input(node, 1), 0, {}, {}};
  if (node.is("ConvTranspose") || node.is("MatMul")) layer.axis = 1;
  if (node.is("Gemm")) {
    layer.axis = node.int_or("transB", 0) != 0 ? 0 : 1;
    fold_factors(graph, node, layer.weights);
  }
  const int64_t groups = node.is("ConvTranspose") ? node.int_or("group", 1) : 1;
  const int64_t per_group = layer.weights.shape()[layer.axis], channels = per_group * groups;
  std::vector<double> magnitudes(size_t(channels), 0.0);
  if (const Tensor* bias = graph.constant_input(node, 2)) {
    // A bias that differs between rows stays as it is, and the operator stays in float.
    if (varies_by_column_only(bias->shape(), channels)) {
      for (int64_t o = 0; o < channels; ++o) layer.bias.push_back(bias->number_at(bias->size() == 1 ? 0 : o));
    }
    for (size_t o = 0; o < layer.bias.size(); ++o) magnitudes[o] += std::fabs(layer.bias[o]);
  }
  if (op.bias_addition != kNoNode) {
    const Node& addition = graph.nodes[size_t(op.bias_addition)];
    const Tensor* more = graph.constant_input(addition, graph.is_constant(addition.input(0)) ? 0 : 1);
    for (size_t o = 0; o < magnitudes.size(); ++o)
      magnitudes[o] += std::fabs(more->number_at(more->size() == 1 ? 0 : int64_t(o)));
  }
  layer.bias_magnitudes.assign(size_t(per_group), 0.0);
  for (size_t o = 0; o < magnitudes.size(); ++o) {
    double& largest = layer.bias_magnitudes[o % size_t(per_group)];
    largest = std::max(largest, magnitudes[o]);
  }
  return layer;
}

}  // namespace

PreparedNetwork prepare_network(Graph graph, QuantizationPlan plan) {
  PreparedNetwork network{std::move(graph), std::move(plan), {}};
  for (const WeightedOperator& op : network.plan.weighted)
    network.layers.push_back(prepare_layer(network.graph, op));
  return network;
}

SampleStatistics gather_statistics(const PreparedNetwork& network, const std::vector<Tensor>& samples,
                                   int threads) {
  SampleStatistics result;
  const QuantizationPlan& plan = network.plan;
  const std::vector<Histogram> seen = calibrate(network.graph, samples, plan.values, threads);
  result.groups.resize(plan.zero_point_zero.size());
  for (size_t i = 0; i < seen.size(); ++i) result.groups[size_t(plan.group[i])].merge(seen[i]);
  std::vector<NodeId> nodes;
  for (const LayerWeights& layer : network.layers) nodes.push_back(layer.op.node);
  result.rows = sample_layer_rows(network.graph, samples, nodes, threads);
  return result;
}

}  // namespace tilewright
