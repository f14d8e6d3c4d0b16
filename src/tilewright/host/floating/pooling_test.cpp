#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/graph/window.h"
#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::contains;
using testing::f32;
using testing::run_op;
using Integers = std::vector<int64_t>;

Tensor counting_up(Shape shape) {
  Tensor x(ElementType::kF32, std::move(shape));
  for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, double(i + 1));
  return x;
}

TEST(Pooling, MaxWithIndices) {
  const Tensor x = f32({1, 1, 3, 3}, {1, 9, 3, 4, 5, 6, 9, 8, 7});
  const Attributes window = {{"kernel_shape", Integers{2, 2}}};
  const auto y = run_op("MaxPool", {x}, window, 2);
  EXPECT_EQ(y[0].to_floats(), (std::vector<float>{9, 9, 9, 8}));
  EXPECT_EQ(y[1].to_integers(), (Integers{1, 1, 6, 7}));
  Attributes columns = window;
  columns["storage_order"] = int64_t{1};
  EXPECT_EQ(run_op("MaxPool", {x}, columns, 2)[1].to_integers(), (Integers{3, 3, 2, 5}));
  const Tensor bytes = Tensor::of<int8_t>({1, 1, 1, 3}, {-128, -127, 5});
  EXPECT_EQ(run_op("MaxPool", {bytes}, {{"kernel_shape", Integers{1, 2}}})[0].to_integers(),
            (Integers{-127, 5}));
}

TEST(Pooling, IndicesCountAcrossPlanes) {
  const auto y = run_op("MaxPool", {counting_up({2, 2, 1, 2})}, {{"kernel_shape", Integers{1, 2}}}, 2);
  EXPECT_EQ(y[1].to_integers(), (Integers{1, 3, 5, 7}));
}

TEST(Pooling, AverageWithAndWithoutPadding) {
  const Tensor x = counting_up({1, 1, 2, 2});
  Attributes attributes = {{"kernel_shape", Integers{2, 2}}, {"pads", Integers{1, 1, 0, 0}}};
  EXPECT_EQ(run_op("AveragePool", {x}, attributes)[0].to_floats(), (std::vector<float>{1, 1.5f, 2, 2.5f}));
  attributes["count_include_pad"] = int64_t{1};
  EXPECT_EQ(run_op("AveragePool", {x}, attributes)[0].to_floats(),
            (std::vector<float>{0.25f, 0.75f, 1, 2.5f}));
  // ceil_mode: the last window reaches beyond the padded input, which counts for nothing.
  const Tensor line = counting_up({1, 1, 5});
  const Tensor y = run_op("AveragePool", {line},
                          {{"kernel_shape", Integers{2}},
                           {"strides", Integers{2}},
                           {"ceil_mode", int64_t{1}},
                           {"count_include_pad", int64_t{1}}})[0];
  EXPECT_EQ(y.to_floats(), (std::vector<float>{1.5f, 3.5f, 5}));
}

TEST(Pooling, Global) {
  const Tensor x = counting_up({1, 2, 2, 3});
  EXPECT_EQ(run_op("GlobalAveragePool", {x})[0].to_floats(), (std::vector<float>{3.5f, 9.5f}));
  EXPECT_EQ(run_op("GlobalMaxPool", {x})[0].to_floats(), (std::vector<float>{6, 12}));
  EXPECT_EQ(run_op("GlobalMaxPool", {x})[0].shape(), (Shape{1, 2, 1, 1}));
}

TEST(Pooling, NanWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto y = run_op("MaxPool", {f32({1, 1, 4}, {1, nan, 9, 2})}, {{"kernel_shape", Integers{3}}}, 2);
  EXPECT_TRUE(std::isnan(y[0].number_at(0)));
  EXPECT_EQ(y[1].to_integers(), (Integers{1, 1}));
}

TEST(Pooling, RejectsAWindowOfPadding) {
  // Taps 0 and 3 of a dilated window both miss an input of size 2.
  EXPECT_PRED2(contains, error_text([] {
                 run_op(
                     "MaxPool", {Tensor(ElementType::kF32, Shape{1, 1, 2})},
                     {{"kernel_shape", Integers{2}}, {"dilations", Integers{3}}, {"pads", Integers{1, 1}}});
               }),
               "a window holds nothing but padding");
}

// Every window summed tap by tap.
TEST(Pooling, RandomWindowsMatchTapByTap) {
  const uint64_t seed = 21;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    const int spatial = int(random.between(1, 3));
    Integers dims{random.between(1, 2), random.between(1, 2)}, kernel, strides, begins, ends;
    for (int axis = 0; axis < spatial; ++axis) {
      kernel.push_back(random.between(1, 4));
      strides.push_back(random.between(1, 3));
      begins.push_back(random.between(0, kernel.back() - 1));
      ends.push_back(random.between(0, kernel.back() - 1));
      dims.push_back(random.between(kernel.back(), kernel.back() + 5));
    }
    Integers pads = begins;
    pads.insert(pads.end(), ends.begin(), ends.end());
    const bool count_pad = random.chance(0.5);
    const Attributes attributes = {{"kernel_shape", kernel},
                                   {"strides", strides},
                                   {"pads", pads},
                                   {"ceil_mode", random.between(0, 1)},
                                   {"count_include_pad", int64_t{count_pad}}};
    SCOPED_TRACE(fmt::format("seed {} round {}: x {} kernel {} strides {} pads {}", seed, round,
                             fmt::join(dims, "x"), fmt::join(kernel, ","), fmt::join(strides, ","),
                             fmt::join(pads, ",")));
    const Tensor x = testing::random_tensor(random, ElementType::kF32, Shape(dims));
    Node node;
    node.name = node.op = "AveragePool";
    node.attributes = attributes;
    const Window window = pool_window(node, x.shape());
    const Tensor maxima = run_op("MaxPool", {x}, attributes)[0],
                 means = run_op("AveragePool", {x}, attributes)[0];
    const int64_t out_plane = window.output_elements(), in_plane = x.shape().count(2, x.shape().rank());
    ASSERT_EQ(maxima.shape(), means.shape());
    for (int64_t i = 0; i < maxima.size(); ++i) {
      double best = -1e300, sum = 0, taps = 0;
      for (int64_t t = 0; t < window.kernel_elements(); ++t) {
        int64_t rest_o = i % out_plane, rest_t = t, index = 0, scale = 1;
        bool inside = true, padded = true;
        for (int axis = spatial - 1; axis >= 0; --axis) {
          const WindowAxis& a = window[axis];
          const int64_t at = a.input_index(rest_o % a.output, rest_t % a.kernel);
          rest_o /= a.output;
          rest_t /= a.kernel;
          inside = inside && at >= 0 && at < a.input;
          padded = padded && at < a.input + a.pad_end;
          index += at * scale;
          scale *= a.input;
        }
        taps += count_pad ? padded : inside;
        if (!inside) continue;
        const double value = x.number_at(i / out_plane * in_plane + index);
        best = std::max(best, value);
        sum += value;
      }
      ASSERT_EQ(maxima.number_at(i), best);
      ASSERT_NEAR(means.number_at(i), sum / taps, 1e-6);
    }
  }
}

}  // namespace
}  // namespace tilewright
