#include <gtest/gtest.h>

#include "support/graph/single_node_testing.h"

namespace tilewright::testing {
namespace {

TEST(NormalizationOperators, Shapes) {
  const Given c = f32({3});
  EXPECT_EQ(infer("BatchNormalization", {f32({1, 3, 4, 4}), c, c, c, c}, {{"epsilon", 1e-3f}}),
            "f32[1x3x4x4]");
  EXPECT_EQ(infer("InstanceNormalization", {f32({1, 3, 4, 4}), c, c}), "f32[1x3x4x4]");
  EXPECT_EQ(infer("LayerNormalization", {f32({2, 5, 3}), c, none()}, {}, 3),
            "f32[2x5x3] f32[2x5x1] f32[2x5x1]");
  EXPECT_EQ(infer("RMSNormalization", {f32({2, 5, 3}), c}), "f32[2x5x3]");
  EXPECT_EQ(infer("RMSNormalization", {f32({2, 5, 3}), f32({5, 1})}, {{"axis", int64_t{-2}}}), "f32[2x5x3]");
  EXPECT_EQ(infer("RotaryEmbedding", {f32({2, 5, 6}), f32({5, 3}), f32({5, 3})}), "f32[2x5x6]");
  EXPECT_EQ(infer("LRN", {f32({1, 3, 4, 4})}, {{"size", int64_t{5}}}), "f32[1x3x4x4]");
  EXPECT_EQ(infer("Softmax", {f32({1, 3})}), "f32[1x3]");
  EXPECT_EQ(infer("LogSoftmax", {f32({1, 3})}, {{"axis", int64_t{0}}}), "f32[1x3]");
}

TEST(NormalizationOperators, Reject) {
  const Given c = f32({3}), wrong = f32({4});
  EXPECT_EQ(infer("BatchNormalization", {f32({1, 3, 4, 4}), c, c, c, c}, {{"training_mode", int64_t{1}}}),
            "unsupported: node 'n' (BatchNormalization): training mode; export the model for inference");
  EXPECT_EQ(infer("BatchNormalization", {f32({1, 3, 4, 4}), c, c, c, c}, {}, 2),
            "unsupported: node 'n' (BatchNormalization): training mode; export the model for inference");
  EXPECT_EQ(infer("BatchNormalization", {f32({1, 3, 4, 4}), c, c, wrong, c}),
            "node 'n' (BatchNormalization): input 3 ('x3') has shape 4, a list of 3 is needed");
  EXPECT_EQ(infer("InstanceNormalization", {f32({3}), c, c}),
            "node 'n' (InstanceNormalization): input 0 ('x0') has shape 3, batch and channels are needed");
  EXPECT_EQ(infer("LayerNormalization", {f32({2, 5, 3}), wrong}),
            "node 'n' (LayerNormalization): shapes 3 and 4 do not broadcast");
  EXPECT_EQ(infer("RMSNormalization", {f32({2, 5, 3}), wrong}),
            "node 'n' (RMSNormalization): shapes 3 and 4 do not broadcast");
  EXPECT_EQ(infer("RMSNormalization", {f32({2, 5, 3}), c}, {{"axis", int64_t{3}}}),
            "node 'n' (RMSNormalization): axis 3 is outside -3..2");
  EXPECT_EQ(infer("RotaryEmbedding", {f32({2, 5, 6}), f32({5, 3}), f32({1, 5, 3})}),
            "node 'n' (RotaryEmbedding): input 2 ('x2') is 1x5x3, which does not fit data 2x5x6; an angle is "
            "needed for each token and each pair of numbers of a head");
  EXPECT_EQ(infer("LRN", {f32({1, 3, 4, 4})}, {{"size", int64_t{0}}}),
            "node 'n' (LRN): attribute 'size' is 0; 1 or more channels are needed");
  EXPECT_EQ(infer("LRN", {f32({1, 3, 4, 4})}), "node 'n' (LRN): attribute 'size' is missing");
  EXPECT_EQ(infer("Softmax", {f32({1, 3})}, {{"axis", int64_t{2}}}),
            "node 'n' (Softmax): axis 2 is outside -2..1");
}

}  // namespace
}  // namespace tilewright::testing
