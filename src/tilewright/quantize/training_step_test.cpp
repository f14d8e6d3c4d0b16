// Gradients beside differences of losses, on random small networks.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/finetune/trained_network.h"
#include "tilewright/quantize/finetune/training_pass.h"
#include "tilewright/quantize/float_graph_testing.h"

namespace tilewright {
namespace {

struct Classifier {
  FloatGraph g;
  std::vector<NodeId> layers;
  std::vector<bool> biased;

  ValueId layer(const std::string& op, std::vector<ValueId> inputs, Shape shape, Attributes attributes) {
    layers.push_back(NodeId(g.graph.nodes.size()));
    biased.push_back(inputs.size() > 2);
    return g.node(op, std::move(inputs), std::move(shape), std::move(attributes));
  }
  // Random kernel, stride and padding; groups: of the input's channels.
  ValueId convolution(ValueId x, int64_t outputs, int64_t groups) {
    const Shape shape = g.graph.value(x).shape;
    const int64_t kernel = g.random.between(1, 3), stride = g.random.between(1, 2);
    const int64_t pad = g.random.between(0, kernel - 1), end = g.random.between(0, kernel - 1);
    const ValueId w =
        g.graph.add_constant("w", g.numbers({outputs, shape[1] / groups, kernel, kernel}, -0.7, 0.7));
    std::vector<ValueId> inputs = {x, w};
    if (g.random.chance(0.7)) inputs.push_back(g.graph.add_constant("b", g.numbers({outputs}, -1, 1)));
    const auto size = [&](int axis) { return (shape[axis] + pad + end - kernel) / stride + 1; };
    return layer("Conv", inputs, {shape[0], outputs, size(2), size(3)},
                 {{"group", groups},
                  {"strides", std::vector<int64_t>{stride, stride}},
                  {"pads", std::vector<int64_t>{pad, pad, end, end}}});
  }
};

// Of smooth parts alone, or with a clip and a maximum too, whose corners a small difference seldom meets.
Classifier random_classifier(uint64_t seed, bool corners) {
  Classifier c;
  FloatGraph& g = c.g;
  g.random = Random(seed);
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 4, 7, 9});
  ValueId y = c.convolution(x, 6, g.random.chance(0.5) ? 2 : 1);
  if (corners) y = g.relu(y);
  y = c.convolution(y, 6, 6);
  const Shape shape = g.graph.value(y).shape;
  const ValueId twin =
      c.layer("Conv", {y, g.graph.add_constant("w", g.numbers({6, 6, 1, 1}, -0.5, 0.5))}, shape, {});
  y = g.node("Add", {y, twin}, shape);
  const ValueId offset = g.graph.add_constant("offset", g.numbers({6, 1, 1}, -1, 1));
  y = g.node("Add", {y, offset}, shape);
  if (shape[2] > 1 && shape[3] > 1) {
    y = g.node(corners ? "MaxPool" : "AveragePool", {y}, {1, 6, shape[2] - 1, shape[3] - 1},
               {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  }
  const Shape pooled = g.graph.value(y).shape;
  if (g.random.chance(0.5)) {
    y = g.node("Transpose", {y}, {1, pooled[2], pooled[3], 6}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
    y = g.node("Flatten", {y}, {1, pooled.element_count()});
  } else {
    y = g.node("GlobalAveragePool", {y}, {1, 6, 1, 1});
    y = g.node("Flatten", {y}, {1, 6});
  }
  const int64_t width = g.graph.value(y).shape[1];
  if (g.random.chance(0.5)) {
    const ValueId w = g.graph.add_constant("w", g.numbers({5, width}, -0.5, 0.5));
    const ValueId b = g.graph.add_constant("b", g.numbers({5}, -0.5, 0.5));
    y = c.layer("Gemm", {y, w, b}, {1, 5}, {{"transB", int64_t{1}}});
  } else {
    y = c.layer("MatMul", {y, g.graph.add_constant("w", g.numbers({width, 5}, -0.5, 0.5))}, {1, 5}, {});
  }
  g.graph.outputs = {g.node("Softmax", {y}, {1, 5})};
  return c;
}

std::vector<Numbers> numbers_of(const Classifier& c) {
  std::vector<Numbers> numbers;
  for (size_t i = 0; i < c.layers.size(); ++i) {
    const Node& node = c.g.graph.nodes[size_t(c.layers[i])];
    numbers.push_back(c.g.graph.constant_input(node, 1)->to_floats());
    numbers.push_back(c.biased[i] ? c.g.graph.constant_input(node, 2)->to_floats() : Numbers{});
  }
  return numbers;
}

// A loss whose gradient by score i is i's own weight.
double weighted_sum(const TrainedNetwork& network, TrainingPass& pass, const Numbers& weights) {
  network.forwards(pass);
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += double(weights[i]) * double(network.scores(pass)[i]);
  return sum;
}

TEST(TrainingStep, GradientsAreSlopes) {
  constexpr int64_t kRuns = 3;
  for (uint64_t i = 0; i < 24; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Classifier c = random_classifier(seed, i % 2 == 1);
    const TrainedNetwork network(c.g.graph, c.layers, c.biased, {});
    ASSERT_EQ(network.problem(), "");
    std::vector<Numbers> numbers = numbers_of(c), gradients = numbers;
    for (Numbers& own : gradients) std::fill(own.begin(), own.end(), 0.0f);
    TrainingPass pass;
    network.prepare(pass, kRuns);
    pass.trained = &numbers;
    pass.trained_gradients = &gradients;
    const Tensor x = c.g.numbers({kRuns, network.input_size()}, -1, 1);
    const auto input = x.data<float>();
    network.input(pass).assign(input.begin(), input.end());
    const Numbers weights = c.g.numbers({kRuns * 5}, -1, 1).to_floats();
    weighted_sum(network, pass, weights);
    network.backwards(pass, weights);
    int64_t wrong = 0, checked = 0;
    for (size_t n = 0; n < numbers.size(); ++n) {
      for (int trial = 0; trial < 6 && !numbers[n].empty(); ++trial) {
        const auto k = size_t(c.g.random.between(0, int64_t(numbers[n].size()) - 1));
        const float kept = numbers[n][k], step = 1e-3f;
        numbers[n][k] = kept + step;
        const double above = weighted_sum(network, pass, weights);
        numbers[n][k] = kept - step;
        const double below = weighted_sum(network, pass, weights);
        numbers[n][k] = kept;
        const double slope = (above - below) / (2 * double(step));
        ++checked;
        if (std::abs(slope - double(gradients[n][k])) > 0.02 * (1 + std::abs(slope))) ++wrong;
      }
    }
    EXPECT_GT(checked, 10);
    // At the kinks of clips and maxima a slope is none.
    EXPECT_LE(wrong, i % 2 == 1 ? checked / 2 : 0) << "of " << checked;
  }
}

// Scores are those of the executor, without rounding.
TEST(TrainingStep, ComputesWhatTheExecutorComputes) {
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Classifier c = random_classifier(seed, i % 2 == 1);
    const TrainedNetwork network(c.g.graph, c.layers, c.biased, {});
    ASSERT_EQ(network.problem(), "");
    const std::vector<Numbers> numbers = numbers_of(c);
    TrainingPass pass;
    network.prepare(pass, 1);
    pass.trained = &numbers;
    const Tensor x = c.g.numbers({1, 4, 7, 9}, -1, 1);
    const auto input = x.data<float>();
    network.input(pass).assign(input.begin(), input.end());
    network.forwards(pass);
    Graph graph = c.g.graph;
    graph.outputs = {graph.nodes.back().input(0)};
    const Numbers expected = Executor(graph).run({x}).at(0).to_floats();
    for (size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(network.scores(pass)[k], expected[k], 1e-4 * (1 + std::abs(expected[k])));
  }
}

TEST(TrainingStep, SaysWhichOperatorHasNoGradient) {
  FloatGraph g = residual_network();
  const ValueId sum = g.graph.nodes[4].outputs[0];
  const ValueId sine = g.node("Sin", {sum}, g.graph.value(sum).shape);
  Node node = g.graph.nodes.back();
  g.graph.nodes.pop_back();
  for (Node& reader : g.graph.nodes) {
    for (ValueId& v : reader.inputs) v = v == sum ? sine : v;
  }
  g.graph.nodes.insert(g.graph.nodes.begin() + 5, node);
  std::vector<NodeId> layers;
  for (size_t n = 0; n < g.graph.nodes.size(); ++n) {
    if (g.graph.nodes[n].is("Conv") || g.graph.nodes[n].is("Gemm")) layers.push_back(NodeId(n));
  }
  const TrainedNetwork network(g.graph, layers, std::vector<bool>(layers.size(), true), {});
  EXPECT_NE(network.problem().find("(Sin) has no gradient here"), std::string::npos) << network.problem();
}

}  // namespace
}  // namespace tilewright
