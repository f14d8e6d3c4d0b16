#include "tilewright/transform/fold/fold_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

enum class Obstacle { kNone, kReader, kOutput, kSideBySide, kRefused, kCausal };

struct Chain {
  Graph graph;
  std::vector<Tensor> inputs;
};

// Scores of `heads` heads and their softmax, and what may stand between the two.
Chain scores_and_softmax(Random& random, Obstacle obstacle) {
  Chain chain;
  Graph& g = chain.graph;
  const int64_t heads = obstacle == Obstacle::kSideBySide ? random.between(2, 3) : random.between(1, 3);
  const int64_t rows = random.between(1, 9), depth = random.between(1, 9), columns = random.between(1, 9);
  const auto input = [&](const Shape& shape) {
    Tensor tensor(ElementType::kI8, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-128, 127));
    chain.inputs.push_back(tensor);
    return g.add_input("x", ElementType::kI8, shape);
  };
  const bool side_by_side = obstacle == Obstacle::kSideBySide;
  const ValueId a = input({heads * rows, depth}), b = input({heads * depth, columns});
  const Shape shape = side_by_side ? Shape{rows, heads * columns} : Shape{heads * rows, columns};
  const ValueId scores = g.add_value("scores", ElementType::kI8, shape);
  Node& product = g.add_node("product", "QMatMul", {a, b}, {scores}, kTilewrightDomain);
  product.attributes = {{"heads", heads},
                        {"y_columns", int64_t{side_by_side}},
                        {"a_zero_point", random.between(-128, 127)},
                        {"y_zero_point", random.between(-20, 20)},
                        {"clip_high", random.between(50, 127)},
                        {"multiplier", random.between(1, 9)},
                        {"shift", random.between(3, 10)}};
  const int64_t one = random.between(1, 1 << 20);
  Tensor table(ElementType::kI32, {256});
  for (int64_t i = 0; i < 256; ++i) table.set_integer(i, i == 0 ? one : random.between(0, one));
  const ValueId y = g.add_value("y", ElementType::kI8, shape);
  Node& softmax =
      g.add_node("softmax", "QSoftmax", {scores, g.add_constant("table", table)}, {y}, kTilewrightDomain);
  softmax.attributes = {{"numerator", random.between(1, one * 1000)},
                        {"shift", random.between(0, 20)},
                        {"y_zero_point", random.between(-128, 127)},
                        {"clip_low", random.between(-128, 0)}};
  if (obstacle == Obstacle::kCausal) softmax.attributes["causal"] = rows;
  g.outputs = {y};
  if (obstacle == Obstacle::kOutput) g.outputs.push_back(scores);
  if (obstacle == Obstacle::kReader) {
    const ValueId other = g.add_value("other", ElementType::kI8, shape);
    g.add_node("reader", "QRequantize", {scores}, {other}, kTilewrightDomain).attributes = {
        {"multiplier", int64_t{1}}, {"shift", int64_t{0}}};
    g.outputs.push_back(other);
  }
  return chain;
}

TEST(FoldSoftmaxClass, ResultsStay) {
  Random random(test_seed());
  for (int i = 0; i < 200; ++i) {
    const auto obstacle = Obstacle(i % 6);
    const Chain chain = scores_and_softmax(random, obstacle);
    const Graph after =
        fold_softmax(chain.graph, [&](const Graph&, const Node&) { return obstacle != Obstacle::kRefused; });
    Diagnostics problems;
    verify(after, problems);
    ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
    const bool folded =
        std::ranges::none_of(after.nodes, [](const Node& n) { return n.is_tilewright("QSoftmax"); });
    EXPECT_EQ(folded, obstacle == Obstacle::kNone) << i;
    const std::vector<Tensor> expected = run(chain.graph, chain.inputs), actual = run(after, chain.inputs);
    for (size_t k = 0; k < expected.size(); ++k) ASSERT_TRUE(expected[k].identical(actual[k])) << i;
  }
}

}  // namespace
}  // namespace tilewright
