#include "tilewright/spatial/taxonomy/layer_shape.h"

#include <gtest/gtest.h>

namespace tilewright::study {
namespace {

ConvShape conv(int64_t input, int64_t kernel, int64_t stride, int64_t pad, int64_t output) {
  ConvShape shape;
  shape.height = shape.width = {input, kernel, stride, 1, pad, pad, output};
  return shape;
}

std::string refusal(const Workload& workload) {
  try {
    layer_shape(workload);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LayerShape, GroupedConvolution) {
  ConvShape shape = conv(27, 5, 1, 2, 27);
  shape.batch = 4;
  shape.group = 2;
  shape.input_channels = 96;
  shape.output_channels = 256;
  LayerShape expected = square_layer("conv2", 2, 4, 31, 5, 48, 128, 1);
  EXPECT_EQ(layer_shape(conv2d_workload("conv2", shape)), expected);
  EXPECT_EQ(expected.macs(), 4 * int64_t{223948800});
}

TEST(LayerShape, RowsThatNoFilterReachesAreLeftOut) {
  const LayerShape shape = layer_shape(conv2d_workload("stem", conv(224, 7, 2, 3, 112)));
  EXPECT_EQ(shape.H, 229);  // of 230 with the padding
  EXPECT_EQ(shape.E, 112);
  EXPECT_EQ(shape.U, 2);
}

TEST(LayerShape, DenseDepthwiseAndMatrixProducts) {
  const LayerShape dense = layer_shape(dense_workload("fc", 3, 4096, 1000));
  EXPECT_EQ(dense, square_layer("fc", 1, 3, 1, 1, 4096, 1000, 1));
  ConvShape shape = conv(14, 3, 1, 1, 14);
  shape.input_channels = 32;
  const LayerShape depthwise = layer_shape(depthwise_workload("dw", shape));
  EXPECT_EQ(depthwise, square_layer("dw", 32, 1, 16, 3, 1, 1, 1));
  const LayerShape own = layer_shape(batched_matmul_workload("qk", 12, 64, 48, 32, false));
  EXPECT_EQ(own.G, 12);
  EXPECT_EQ(own.N, 64);
  EXPECT_EQ(own.M, 48);
  EXPECT_EQ(own.C, 32);
  const LayerShape shared = layer_shape(batched_matmul_workload("ff", 12, 64, 48, 32, true));
  EXPECT_EQ(shared.G, 1);
  EXPECT_EQ(shared.N, 12 * 64);
  EXPECT_EQ(shared.macs(), own.macs());
}

TEST(LayerShape, RefusesWhatTheModelDoesNotKnow) {
  ConvShape dilated = conv(15, 3, 1, 0, 11);
  dilated.height.dilation = dilated.width.dilation = 2;
  EXPECT_EQ(refusal(conv2d_workload("d", dilated)), "workload 'd': the study cost model knows no dilation");
  ConvShape skewed = conv(15, 3, 1, 0, 13);
  skewed.width.stride = 2;
  skewed.width.output = 7;
  EXPECT_EQ(refusal(conv2d_workload("s", skewed)),
            "workload 's': the study cost model knows one stride, not 1 and 2");
  EXPECT_EQ(refusal(conv2d_transpose_workload("t", conv(15, 3, 1, 0, 17))),
            "workload 't': the study cost model takes no transposed convolution");
  LayerShape wrong = square_layer("w", 1, 1, 15, 3, 0, 4, 1);
  wrong.E = 12;
  Diagnostics diagnostics;
  wrong.verify(diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_EQ(to_string(diagnostics.errors()[0]), "layer 'w' (C): 0 is not in 1..2^53");
  wrong.C = 1;
  Diagnostics second;
  wrong.verify(second);
  ASSERT_EQ(second.errors().size(), 1u);
  EXPECT_EQ(to_string(second.errors()[0]), "layer 'w' (H): 15 input rows are not (12 - 1) * 1 + 3");
  LayerShape huge = square_layer("h", 1, int64_t{1} << 30, 1, 1, int64_t{1} << 20, 1 << 10, 1);
  Diagnostics third;
  huge.verify(third);
  ASSERT_EQ(third.errors().size(), 1u);
  EXPECT_EQ(to_string(third.errors()[0]), "layer 'h': more than 2^53 operations or words");
}

}  // namespace
}  // namespace tilewright::study
