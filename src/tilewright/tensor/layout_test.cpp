#include "tilewright/tensor/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

Tensor random_bits(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (is_float(type)) {
      tensor.set_number(i, random.uniform());
    } else {
      tensor.set_integer(i, random.between(lowest(type), highest(type)));
    }
  }
  return tensor;
}

TEST(Layout, BlocksWhatTheFormulaSays) {
  Tensor x(ElementType::kI8, {1, 3, 1, 2});
  for (int64_t i = 0; i < 6; ++i) x.set_integer(i, i + 1);
  const Tensor blocked = block_activations(x, 1, 2, 9);
  EXPECT_EQ(blocked.shape(), (Shape{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(blocked.to_integers(), (std::vector<int64_t>{1, 3, 2, 4, 5, 9, 6, 9}));
  EXPECT_EQ(nchw_to_nhwc(x).to_integers(), (std::vector<int64_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Layout, EveryElementTypeSurvivesTheRoundTrips) {
  const uint64_t seed = 20261;
  Random random(seed);
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = ElementType(t);
    for (int round = 0; round < 12; ++round) {
      SCOPED_TRACE(testing::Message() << name(type) << " round " << round << " seed " << seed);
      const Shape shape{random.between(1, 5), random.between(1, 9), random.between(0, 4),
                        random.between(1, 4)};
      const Tensor x = random_bits(type, shape, random);
      const int64_t p = random.between(1, 4), q = random.between(1, 6);
      EXPECT_TRUE(nhwc_to_nchw(nchw_to_nhwc(x)).identical(x));
      const Tensor blocked = block_activations(x, p, q, 1);
      EXPECT_TRUE(unblock_activations(blocked, shape[0], shape[1]).identical(x));
      EXPECT_TRUE(unblock_weights(block_weights(x, p, q), shape[0], shape[1]).identical(x));
      // Element by element against the index formula, fill included.
      const double fill = is_float(type) ? 1 : double(std::min<int64_t>(1, highest(type)));
      const Shape& s = blocked.shape();
      const Shape indexing{s[0], s[1], s[2], s[3], s[4], s[5]};
      for (int64_t i = 0; i < blocked.size(); ++i) {
        int64_t rest = i, index[6];
        for (int axis = 5; axis >= 0; --axis) {
          index[axis] = rest % indexing[axis];
          rest /= indexing[axis];
        }
        const int64_t n = index[0] * p + index[4], c = index[1] * q + index[5];
        const double expected =
            n < shape[0] && c < shape[1]
                ? x.number_at(((n * shape[1] + c) * shape[2] + index[2]) * shape[3] + index[3])
                : fill;
        ASSERT_EQ(blocked.number_at(i), expected);
      }
    }
  }
}

TEST(Layout, PermuteFollowsTheIndices) {
  const uint64_t seed = 5;
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const Shape shape{random.between(1, 4), random.between(1, 4), random.between(1, 4)};
    const Tensor x = random_bits(ElementType::kI4, shape, random);
    std::vector<int> permutation{0, 1, 2};
    for (int i = 2; i > 0; --i) std::swap(permutation[size_t(i)], permutation[size_t(random.between(0, i))]);
    const Tensor y = permute(x, permutation);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t index[3] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
      int64_t j = 0;
      for (int k = 0; k < 3; ++k) j = j * y.shape()[k] + index[permutation[size_t(k)]];
      ASSERT_EQ(y.integer_at(j), x.integer_at(i)) << "round " << round << " seed " << seed;
    }
  }
}

TEST(Layout, ResizeCropsAndFills) {
  const Tensor x = Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(resize(x, {1, 3}, -7).to_integers(), (std::vector<int64_t>{1, 2, -7}));
  EXPECT_EQ(resize(x, {3, 1}).to_integers(), (std::vector<int64_t>{1, 3, 0}));
}

TEST(Layout, RefusesWhatDoesNotFit) {
  const Tensor x(ElementType::kI8, {2, 3, 4, 5});
  EXPECT_THROW(permute(x, {0, 1, 2}), Error);
  EXPECT_THROW(permute(x, {0, 1, 2, 2}), Error);
  EXPECT_THROW(resize(x, {2, 3}), Error);
  EXPECT_THROW(nchw_to_nhwc(x.reshaped({6, 20})), Error);
  EXPECT_THROW(block_activations(x, 0, 16), Error);
  EXPECT_THROW(unblock_activations(block_activations(x, 1, 2), 2, 5), Error);
}

}  // namespace
}  // namespace tilewright
