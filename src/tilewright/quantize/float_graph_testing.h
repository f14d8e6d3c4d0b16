// Float graphs with random weights, for tests of what quantises them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

class FloatGraph {
 public:
  Graph graph;
  Random random{7};

  Tensor numbers(Shape shape, double low, double high) {
    Tensor tensor(ElementType::kF32, std::move(shape));
    for (float& x : tensor.mutable_data<float>()) x = float(low + random.uniform() * (high - low));
    return tensor;
  }
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Shape shape, Attributes attributes = {}) {
    const ValueId out = graph.add_value(op + "_out", ElementType::kF32, std::move(shape));
    graph.add_node(op, op, std::move(inputs), {out}).attributes = std::move(attributes);
    return out;
  }
  // 3x3, padded: the spatial size stays.
  ValueId convolution(ValueId x, int64_t channels) {
    const Shape shape = graph.value(x).shape;
    const ValueId w = graph.add_constant("w", numbers({channels, shape[1], 3, 3}, -0.5, 0.5));
    const ValueId b = graph.add_constant("b", numbers({channels}, -1, 1));
    return node("Conv", {x, w, b}, {shape[0], channels, shape[2], shape[3]},
                {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  }
  ValueId relu(ValueId x) { return node("Relu", {x}, graph.value(x).shape); }
};

// Conv, Relu, depthwise Conv, Clip, Conv without bias.
inline FloatGraph separable_graph(uint64_t seed = 7) {
  FloatGraph g;
  g.random = Random(seed);
  const ValueId x = g.graph.add_value("x", ElementType::kF32, Shape{1, 3, 12, 12});
  g.graph.inputs = {x};
  const ValueId a = g.relu(g.convolution(x, 6));
  const ValueId w = g.graph.add_constant("depthwise", g.numbers({6, 1, 3, 3}, -0.5, 0.5));
  Tensor uneven = *g.graph.constant_input(g.graph.nodes[0], 1);
  for (int64_t i = 0; i < uneven.size(); ++i) uneven.set_number(i, uneven.number_at(i) * (i < 54 ? 0.05 : 1));
  g.graph.nodes[0].inputs[1] = g.graph.add_constant("uneven", uneven);
  const ValueId d = g.node("Conv", {a, w}, {1, 6, 12, 12},
                           {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", int64_t{6}}});
  const ValueId high = g.graph.add_constant("high", Tensor::scalar(6.0f));
  const ValueId low = g.graph.add_constant("low", Tensor::scalar(0.0f));
  const ValueId c = g.node("Clip", {d, low, high}, {1, 6, 12, 12});
  const ValueId last = g.graph.add_constant("last", g.numbers({4, 6, 1, 1}, -0.5, 0.5));
  g.graph.outputs = {g.node("Conv", {c, last}, {1, 4, 12, 12})};
  return g;
}

// x -> Conv -> Relu -> (+ Conv -> Relu) -> Add -> Relu -> MaxPool -> Flatten -> Gemm -> Softmax.
inline FloatGraph residual_network(uint64_t seed = 7) {
  FloatGraph g;
  g.random = Random(seed);
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 2, 8, 8});
  const ValueId first = g.relu(g.convolution(x, 4));
  const ValueId second = g.convolution(first, 4);
  const ValueId sum = g.relu(g.node("Add", {first, second}, {1, 4, 8, 8}));
  const ValueId pooled =
      g.node("MaxPool", {sum}, {1, 4, 4, 4},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const ValueId flat = g.node("Flatten", {pooled}, {1, 64});
  const ValueId w = g.graph.add_constant("w", g.numbers({64, 10}, -0.3, 0.3));
  const ValueId b = g.graph.add_constant("b", g.numbers({1, 10}, -0.3, 0.3));
  const ValueId logits = g.node("Gemm", {flat, w, b}, {1, 10}, {{"alpha", 0.5f}, {"beta", 2.0f}});
  g.graph.outputs = {g.node("Softmax", {logits}, {1, 10})};
  g.graph.value(g.graph.outputs[0]).name = "probabilities";
  return g;
}

}  // namespace tilewright
