// Graphs in which an axis has size zero: legal ONNX, and what remains of a detection network that found
// nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "support/transform/layer_builder_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// A random node after `x`. Errors: those of shape inference, where it does not fit.
ValueId random_node(LayerBuilder& b, ValueId x, Random& random) {
  const Shape shape = b.shape(x);
  const int rank = shape.rank();
  const int64_t axis = rank > 0 ? random.between(0, rank - 1) : 0;
  const int64_t kind = random.between(0, 22);
  if (rank < 2 && kind >= 11 && kind <= 17) return x;  // their parameters are as long as an axis of x
  switch (kind) {
    case 0:
      return b.relu(x);
    case 1:
      return b.add(x, b.uniform(Shape(shape.dims())));
    case 2:
      return b.add(b.node("Mul", {x, b.uniform({})}), x);
    case 3: {
      std::vector<int64_t> perm;
      for (int i = 0; i < rank; ++i) perm.push_back(i);
      for (int i = rank - 1; i > 0; --i) std::swap(perm[size_t(i)], perm[size_t(random.between(0, i))]);
      return b.transpose(x, perm);
    }
    case 4: {
      std::vector<int64_t> dims = shape.dims();
      std::reverse(dims.begin(), dims.end());
      return b.node("Reshape", {x, b.integers(dims)}, {{"allowzero", int64_t{1}}});
    }
    case 5:
      return b.reshape(x, {0, -1});
    case 6:
      return b.node("Flatten", {x}, {{"axis", axis}});
    case 7:
      return b.node("Unsqueeze", {x, b.integers({axis})});
    case 8:
      return b.node("Squeeze", {x});
    case 9:
      return b.node("Slice", {x, b.integers({0}), b.integers({random.between(0, 2)}), b.integers({axis})});
    case 10:
      return b.node("Concat", {x, x}, {{"axis", axis}});
    case 11:
      return b.conv(x, {.channels = random.between(1, 4), .kernel = random.between(1, 3), .pad = 1});
    case 12:
      return b.batch_norm(x);
    case 13:
      return b.pool(x, random.chance(0.5) ? "MaxPool" : "AveragePool", 2, random.between(1, 2), 1);
    case 14:
      return b.node(random.chance(0.5) ? "GlobalAveragePool" : "GlobalMaxPool", {x});
    case 15:
      return b.pad(x, std::vector<int64_t>(size_t(2 * rank), random.between(0, 1)));
    case 16:
      return b.dense(x, random.between(1, 4));
    case 17:
      return b.node("MatMul", {x, b.uniform({shape[rank - 1], random.between(0, 3)})});
    case 18:
      return b.node("ReduceMean", {x}, {{"axes", std::vector<int64_t>{axis}}});
    case 19:
      return b.node("Softmax", {x}, {{"axis", axis}});
    case 20:
      return b.node("Clip", {x, b.constant(Tensor::scalar(0.0f)), b.constant(Tensor::scalar(1.0f))});
    case 21: {  // a pixel shuffle as exporters write it
      if (rank != 4) return x;
      const int64_t side = shape[1] % 4 == 0 ? 2 : 1;
      const int64_t n = shape[0], c = shape[1] / (side * side), h = shape[2], w = shape[3];
      const auto reshaped = [&](ValueId from, const std::vector<int64_t>& to) {
        return b.node("Reshape", {from, b.integers(to)}, {{"allowzero", int64_t{1}}});
      };
      return reshaped(b.transpose(reshaped(x, {n, c, side, side, h, w}), {0, 1, 4, 2, 5, 3}),
                      {n, c, side * h, side * w});
    }
    default:
      return b.node("Identity", {b.node("Cast", {x}, {{"to", int64_t{1}}})});
  }
}

Graph random_graph_with_empty_axis(Random& random) {
  LayerBuilder b(random.next());
  std::vector<int64_t> dims;
  for (int64_t rank = random.between(1, 4); rank > 0; --rank) dims.push_back(random.between(1, 4));
  dims[size_t(random.between(0, int64_t(dims.size()) - 1))] = 0;
  ValueId x = b.input(Shape(dims));
  for (int64_t nodes = random.between(1, 8); nodes > 0; --nodes) {
    LayerBuilder tried = b;
    try {
      x = random_node(tried, x, random);
      b = tried;
    } catch (const Error&) {  // does not fit here
    }
  }
  return b.finish({b.node("Relu", {x})});
}

TEST(EmptyAxesClass, OptimizeTakesThemAndKeepsResults) {
  Random random(test_seed());
  const int64_t cases = test_cases(1500);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const Graph graph = random_graph_with_empty_axis(random);
    std::string operators;
    for (const Node& node : graph.nodes) operators += node.op + " ";
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i) + ": " + operators);
    try {
      PassReport report;
      const Graph optimized = optimize(graph, &report);
      to_string(report);
      const Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
      const std::vector<Tensor> expected = run(graph, {x}), found = run(optimized, {x});
      ASSERT_EQ(found[0].shape(), expected[0].shape());
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    }
  }
}

}  // namespace
}  // namespace tilewright
