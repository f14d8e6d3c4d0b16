#include "tilewright/graph/window.h"

#include <gtest/gtest.h>

#include "support/error_text_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

Node node(const char* op, Attributes attributes) { return {"n", "", op, {}, {}, std::move(attributes)}; }

TEST(Window, ConvolutionWithExplicitPadsAndDilation) {
  const Window w = convolution_window(
      node("Conv", {{"pads", Ints{1, 0, 2, 3}}, {"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}}),
      {1, 3, 10, 9}, {8, 3, 3, 3});
  EXPECT_EQ(w.height(), (WindowAxis{10, 3, 2, 1, 1, 2, 6}));
  EXPECT_EQ(w.width(), (WindowAxis{9, 3, 1, 2, 0, 3, 8}));
  EXPECT_EQ(w.pads(), (Ints{1, 0, 2, 3}));
  EXPECT_EQ(w.output_shape(1, 8), (Shape{1, 8, 6, 8}));
  EXPECT_EQ(w.kernel_elements(), 9);
}

TEST(Window, AutoPadPutsTheOddElementWhereItsNameSays) {
  for (const bool upper : {true, false}) {
    const Window w = convolution_window(
        node("Conv", {{"auto_pad", std::string(upper ? "SAME_UPPER" : "SAME_LOWER")}, {"strides", Ints{2}}}),
        {1, 1, 8}, {1, 1, 3});
    EXPECT_EQ(w[0].output, 4);
    EXPECT_EQ(w[0].pad_begin, upper ? 0 : 1);
    EXPECT_EQ(w[0].pad_end, upper ? 1 : 0);
  }
  EXPECT_EQ(convolution_window(node("Conv", {{"auto_pad", std::string("VALID")}, {"pads", Ints{5, 5}}}),
                               {1, 1, 8}, {1, 1, 3})[0],
            (WindowAxis{8, 3, 1, 1, 0, 0, 6}));
}

TEST(Window, CeilModeDropsAWindowThatBeginsInTheEndPadding) {
  const auto output = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    return pool_window(node("MaxPool", {{"kernel_shape", Ints{kernel}},
                                        {"strides", Ints{stride}},
                                        {"pads", Ints{pad, pad}},
                                        {"ceil_mode", int64_t{1}}}),
                       {1, 1, size})[0]
        .output;
  };
  EXPECT_EQ(output(4, 3, 2, 0), 2);
  EXPECT_EQ(output(6, 3, 2, 0), 3);
  EXPECT_EQ(output(2, 2, 3, 1), 1);  // ceil((2 + 2 - 2) / 3) + 1 = 2 windows, the second would begin at 3
}

TEST(Window, TransposedSizesAndPads) {
  // The cases of the ConvTranspose page of the operator reference: 3x3 input, 3x3 kernel.
  const Shape x{1, 1, 3, 3}, w{1, 2, 3, 3};
  EXPECT_EQ(transposed_window(node("ConvTranspose", {{"strides", Ints{3, 2}}}), x, w).output_shape(1, 2),
            (Shape{1, 2, 9, 7}));
  const Window padded =
      transposed_window(node("ConvTranspose", {{"strides", Ints{3, 2}}, {"pads", Ints{1, 2, 1, 2}}}), x, w);
  EXPECT_EQ(padded.output_shape(1, 2), (Shape{1, 2, 7, 3}));
  const Window larger = transposed_window(
      node("ConvTranspose", {{"strides", Ints{3, 2}}, {"output_shape", Ints{10, 8}}}), x, w);
  EXPECT_EQ(larger.output_shape(1, 2), (Shape{1, 2, 10, 8}));
  EXPECT_FALSE(larger.has_padding());
  const Window same = transposed_window(
      node("ConvTranspose", {{"strides", Ints{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}), x, w);
  EXPECT_EQ(same.output_shape(1, 2), (Shape{1, 2, 6, 6}));
  EXPECT_EQ(same.pads(), (Ints{0, 0, 1, 1}));
  const Window extra = transposed_window(
      node("ConvTranspose", {{"strides", Ints{3, 2}}, {"output_padding", Ints{1, 1}}}), x, w);
  EXPECT_EQ(extra.output_shape(1, 2), (Shape{1, 2, 10, 8}));
}

TEST(Window, GlobalPoolCoversTheInput) {
  EXPECT_EQ(global_window(node("GlobalMaxPool", {}), {2, 3, 7, 5}).output_shape(2, 3), (Shape{2, 3, 1, 1}));
}

// The last tap of the last window lies inside the padded input, and one more stride would not.
TEST(Window, OutputIsTheLargestThatFits) {
  const uint64_t seed = 20261121;
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Ints kernel{random.between(1, 5)}, strides{random.between(1, 4)}, dilations{random.between(1, 3)};
    const Ints pads{random.between(0, 3), random.between(0, 3)};
    const Shape x{1, 1, random.between(13, 40)};
    const Window window = convolution_window(
        node("Conv", {{"strides", strides}, {"dilations", dilations}, {"pads", pads}}), x, {1, 1, kernel[0]});
    const WindowAxis& axis = window[0];
    EXPECT_LT(axis.input_index(axis.output - 1, axis.kernel - 1), axis.input + axis.pad_end)
        << "seed " << seed;
    EXPECT_GE(axis.input_index(axis.output, axis.kernel - 1), axis.input + axis.pad_end) << "seed " << seed;
  }
}

TEST(Window, Rejects) {
  const Shape x{1, 3, 4, 4}, w{8, 3, 5, 5};
  EXPECT_EQ(
      error_text([&] { convolution_window(node("Conv", {}), x, w); }),
      "node 'n' (Conv): a kernel of 5 with dilation 1 does not fit axis 2 of size 4 with padding 0 + 0");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {{"pads", Ints{1, 1}}}), x, w);
            }),
            "node 'n' (Conv): attribute 'pads' has 2 numbers, 2 spatial axes need 4");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {{"strides", Ints{0, 1}}}), x, w);
            }),
            "node 'n' (Conv): attribute 'strides' holds 0, which is outside 1..1073741824");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {{"strides", int64_t{1}}}), x, w);
            }),
            "node 'n' (Conv): attribute 'strides' is not a list of integers");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {{"kernel_shape", Ints{3, 3}}}), x, w);
            }),
            "node 'n' (Conv): attribute 'kernel_shape' is 3x3, the weights have shape 8x3x5x5");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {{"auto_pad", std::string("SAME")}}), x, w);
            }),
            "node 'n' (Conv): attribute 'auto_pad' is 'SAME'; use NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  EXPECT_EQ(error_text([&] {
              convolution_window(node("Conv", {}), {4, 4}, w);
            }),
            "node 'n' (Conv): input has shape 4x4, batch, channels and at least one spatial axis are needed");
  EXPECT_EQ(error_text([&] { pool_window(node("MaxPool", {}), x); }),
            "node 'n' (MaxPool): attribute 'kernel_shape' is missing");
  EXPECT_EQ(
      error_text([&] {
        pool_window(node("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 0, 0, 0}}}), x);
      }),
      "node 'n' (MaxPool): padding 2 + 0 on axis 2 is not smaller than the kernel of 2; a window would hold "
      "nothing but padding");
  EXPECT_EQ(
      error_text([&] {
        transposed_window(node("ConvTranspose", {{"pads", Ints{9, 9, 9, 9}}}), x, {3, 8, 5, 5});
      }),
      "node 'n' (ConvTranspose): the output would have size -10 on axis 2; check pads, output_padding and "
      "output_shape");
  EXPECT_EQ(error_text([&] {
              pool_window(node("MaxPool", {{"kernel_shape", Ints{2}}}), {1, 1, int64_t{1} << 40});
            }),
            "node 'n' (MaxPool): axis 2 of the input shape 1x1x1099511627776 is outside 1..1073741824");
}

}  // namespace
}  // namespace tilewright
