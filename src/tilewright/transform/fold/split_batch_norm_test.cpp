#include "tilewright/transform/fold/split_batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

Graph normalization(bool with_constants) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 2, 3, 3});
  std::vector<ValueId> inputs = {x};
  const float numbers[4][2] = {{0.5f, 2}, {1, -3}, {0.25f, 4}, {0.09f, 6.25f}};
  for (int k = 0; k < 4; ++k) {
    inputs.push_back(with_constants || k > 0
                         ? graph.add_constant("p", Tensor::of<float>({2}, {numbers[k][0], numbers[k][1]}))
                         : graph.add_input("scale", ElementType::kF32, {2}));
  }
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 2, 3, 3});
  graph.add_node("bn", "BatchNormalization", inputs, {y}).attributes["epsilon"] = 0.01f;
  graph.outputs = {y};
  return graph;
}

TEST(SplitBatchNorm, LeavesAFactorAndASummandPerChannel) {
  const Graph before = normalization(true);
  const Graph after = split_batch_norm(before);
  EXPECT_EQ(ops(after), "Mul Add");
  EXPECT_EQ(output_names(after), output_names(before));
  Tensor x(ElementType::kF32, {1, 2, 3, 3});
  for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, 0.7 * double(i) - 5);
  const Tensor a = run(before, {x})[0], b = run(after, {x})[0];
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.number_at(i), b.number_at(i), 1e-5);
}

TEST(SplitBatchNorm, NeedsConstants) {
  EXPECT_EQ(ops(split_batch_norm(normalization(false))), "BatchNormalization");
}

}  // namespace
}  // namespace tilewright
