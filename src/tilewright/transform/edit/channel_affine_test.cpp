#include "tilewright/graph/channel_affine.h"

#include <gtest/gtest.h>

#include "support/transform/layer_builder_testing.h"

namespace tilewright {
namespace {

using Numbers = std::optional<std::vector<double>>;

TEST(ChannelConstant, VariesAlongTheSecondAxisAlone) {
  const Shape shape{2, 3, 4, 5};
  const Tensor three = Tensor::of<float>({3}, {1, 2, 3});
  const auto of = [&](const Shape& constant) { return channel_constant(three.reshaped(constant), shape); };
  EXPECT_EQ(of({3, 1, 1}), (Numbers{{1, 2, 3}}));
  EXPECT_EQ(of({1, 3, 1, 1}), (Numbers{{1, 2, 3}}));
  EXPECT_EQ(of({3}), std::nullopt);              // along the last axis
  EXPECT_EQ(of({1, 1, 3, 1, 1}), std::nullopt);  // widens the result
  EXPECT_EQ(channel_constant(Tensor::scalar(7.0f), shape), (Numbers{{7, 7, 7}}));
  EXPECT_EQ(channel_constant(Tensor::of<float>({1, 1, 1, 1, 1}, {7}), shape), std::nullopt);
  EXPECT_EQ(channel_constant(Tensor::of<int32_t>({3, 1, 1}, {1, 2, 3}), shape), std::nullopt);
  EXPECT_EQ(channel_constant(three, {3}), std::nullopt);
}

// Division by a constant with a zero has no finite factor.
TEST(AsChannelAffine, IsFinite) {
  for (const float number : {0.0f, 2.0f}) {
    LayerBuilder b;
    const ValueId divisor = b.constant(Tensor::of<float>({2, 1, 1}, {4, number}));
    const Graph graph = b.finish({b.node("Div", {b.input({1, 2, 3, 3}), divisor})});
    const std::optional<ChannelAffine> affine = as_channel_affine(graph, graph.nodes[0]);
    ASSERT_EQ(affine.has_value(), number != 0);
    if (affine) {
      EXPECT_EQ(affine->scale, (std::vector<double>{0.25, 0.5}));
      EXPECT_EQ(affine->shift, (std::vector<double>{0, 0}));
    }
  }
}

}  // namespace
}  // namespace tilewright
