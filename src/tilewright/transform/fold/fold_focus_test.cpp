#include "tilewright/transform/fold/fold_focus.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

Tensor integers(const std::vector<int64_t>& numbers) {
  return Tensor(Shape{int64_t(numbers.size())}, std::span<const int64_t>(numbers));
}

// Rows i::r and columns j::r of x, in one Slice or two.
ValueId corner(LayerBuilder& b, ValueId x, int64_t i, int64_t j, int64_t r, bool two) {
  const int64_t end = INT64_MAX;
  if (!two) {
    return b.node("Slice", {x, b.constant(integers({i, j})), b.constant(integers({end, end})),
                            b.constant(integers({2, -1})), b.constant(integers({r, r}))});
  }
  const ValueId rows = b.node("Slice", {x, b.constant(integers({i})), b.constant(integers({end})),
                                        b.constant(integers({2})), b.constant(integers({r}))});
  return b.node("Slice", {rows, b.constant(integers({j})), b.constant(integers({end})),
                          b.constant(integers({3})), b.constant(integers({r}))});
}

void expect_folded(const Graph& graph) {
  const Graph folded = fold_focus(graph);
  Diagnostics problems;
  verify(folded, problems);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ(ops(folded), "Conv");
  Random random(91);
  Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
  for (float& value : x.mutable_data<float>()) value = float(random.uniform()) - 0.5f;
  const Tensor a = run(graph, {x})[0], b = run(folded, {x})[0];
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.number_at(i), b.number_at(i), 1e-4) << i;
}

TEST(FoldFocus, TheConvolutionReadsTheImage) {
  Random random(92);
  for (int round = 0; round < 20; ++round) {
    const int64_t r = random.between(2, 3), kernel = random.between(1, 3),
                  pad = random.between(0, kernel - 1);
    LayerBuilder b;
    const ValueId x = b.input({2, 3, 4 * r, 5 * r});
    std::vector<ValueId> parts;
    for (int64_t j = 0; j < r; ++j) {
      for (int64_t i = 0; i < r; ++i) parts.push_back(corner(b, x, i, j, r, random.chance(0.5)));
    }
    const ValueId joined = b.node("Concat", parts, {{"axis", int64_t{1}}});
    Tensor weights(ElementType::kF32, {4, 3 * r * r, kernel, kernel});
    for (float& value : weights.mutable_data<float>()) value = float(random.uniform()) - 0.5f;
    const ValueId y =
        b.node("Conv", {joined, b.constant(weights)},
               {{"pads", std::vector<int64_t>(4, pad)}, {"strides", std::vector<int64_t>{1 + round % 2, 1}}});
    expect_folded(b.finish({y}));
  }
}

TEST(FoldFocus, SpaceToDepth) {
  LayerBuilder b;
  const ValueId deep = b.node("SpaceToDepth", {b.input({1, 2, 8, 6})}, {{"blocksize", int64_t{2}}});
  Tensor weights(ElementType::kF32, {3, 8, 3, 3});
  for (int64_t i = 0; i < weights.size(); ++i) weights.set_number(i, std::sin(double(i)));
  expect_folded(
      b.finish({b.node("Conv", {deep, b.constant(weights)}, {{"pads", std::vector<int64_t>(4, 1)}})}));
}

TEST(FoldFocus, OtherPartsStay) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2, 8, 6});
  const ValueId joined = b.node("Concat", {corner(b, x, 3, 0, 2, false), corner(b, x, 2, 0, 2, false)},
                                {{"axis", int64_t{1}}});  // rows 2::2 do not begin in the first block
  const Graph graph = b.finish({b.conv(joined, {.channels = 2})});
  EXPECT_EQ(ops(fold_focus(graph)), ops(graph));
}

}  // namespace
}  // namespace tilewright
