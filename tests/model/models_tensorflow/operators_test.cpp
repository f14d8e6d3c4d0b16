// TensorFlow's operators against plain loops over channels-last arrays, on random shapes and attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

Floats drawn(int64_t count, Random& random) {
  Floats values;
  for (int64_t i = 0; i < count; ++i) values.push_back(float(random.between(-64, 64)) / 16);
  return values;
}

Tensor tensor(const Shape& shape, const Floats& values) {
  return Tensor(shape, std::span<const float>(values));
}

// The node "y" of `text` on the input "x", as read and behind the passes.
Tensor compute(const GraphDefText& text, const Tensor& x) {
  TensorflowOptions options;
  options.outputs = {"y"};
  if (x.shape().rank() > 0) options.dimensions["x.0"] = x.shape()[0];
  const Graph graph = parse_tensorflow(text.build(), options);
  const Tensor plain = run(graph, {x})[0], optimized = run(optimize(graph), {x})[0];
  EXPECT_EQ(plain.shape(), optimized.shape());
  for (int64_t i = 0; i < plain.size() && plain.size() == optimized.size(); ++i) {
    EXPECT_NEAR(plain.number_at(i), optimized.number_at(i), 1e-3) << "the passes changed element " << i;
  }
  return plain;
}

void expect_near(const Tensor& found, const Shape& shape, const Floats& expected, double tolerance = 1e-3) {
  ASSERT_EQ(found.shape(), shape);
  ASSERT_EQ(size_t(found.size()), expected.size());
  for (int64_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found.number_at(i), double(expected[size_t(i)]), tolerance) << "element " << i;
  }
}

// A window operator over one image of H x W x C.
struct Case {
  int64_t image[2], channels, kernel[2], stride[2], dilation[2] = {1, 1};
  int64_t pads[4] = {0, 0, 0, 0};  // top, left, bottom, right
  std::string attributes;
  int64_t outputs[2];

  int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
};

Case random_case(Random& random, bool may_dilate) {
  Case c;
  for (int axis = 0; axis < 2; ++axis) {
    c.kernel[axis] = random.between(1, 4);
    c.stride[axis] = random.between(1, 3);
    c.dilation[axis] = may_dilate && random.chance(0.3) ? 2 : 1;
    c.image[axis] = random.between(c.reach(axis), 11);
  }
  c.channels = random.between(1, 3);
  const int mode = int(random.between(0, may_dilate ? 2 : 1));
  for (int axis = 0; axis < 2; ++axis) {
    int64_t total = 0;
    if (mode == 1) {
      const int64_t outputs = (c.image[axis] + c.stride[axis] - 1) / c.stride[axis];
      total = std::max<int64_t>(0, (outputs - 1) * c.stride[axis] + c.reach(axis) - c.image[axis]);
      c.pads[axis] = total / 2;
      c.pads[axis + 2] = total - total / 2;
    } else if (mode == 2) {
      c.pads[axis] = random.between(0, 2);
      c.pads[axis + 2] = random.between(0, 2);
    }
    c.outputs[axis] = (c.image[axis] + c.pads[axis] + c.pads[axis + 2] - c.reach(axis)) / c.stride[axis] + 1;
  }
  const char* kModes[] = {"VALID", "SAME", "EXPLICIT"};
  c.attributes = string_attribute("padding", kModes[mode]) +
                 ints_attribute("strides", {1, c.stride[0], c.stride[1], 1}) +
                 ints_attribute("dilations", {1, c.dilation[0], c.dilation[1], 1});
  if (mode == 2) {
    c.attributes +=
        ints_attribute("explicit_paddings", {0, 0, c.pads[0], c.pads[2], c.pads[1], c.pads[3], 0, 0});
  }
  return c;
}

// Calls body(output pixel, input pixel, tap) for every tap that falls into the image.
void for_taps(const Case& c, const std::function<void(int64_t, int64_t, int64_t)>& body) {
  for (int64_t oy = 0; oy < c.outputs[0]; ++oy) {
    for (int64_t ox = 0; ox < c.outputs[1]; ++ox) {
      for (int64_t ky = 0; ky < c.kernel[0]; ++ky) {
        for (int64_t kx = 0; kx < c.kernel[1]; ++kx) {
          const int64_t y = oy * c.stride[0] + ky * c.dilation[0] - c.pads[0];
          const int64_t x = ox * c.stride[1] + kx * c.dilation[1] - c.pads[1];
          if (y < 0 || y >= c.image[0] || x < 0 || x >= c.image[1]) continue;
          body(oy * c.outputs[1] + ox, y * c.image[1] + x, ky * c.kernel[1] + kx);
        }
      }
    }
  }
}

TEST(TensorflowOperators, Conv2D) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const Case c = random_case(random, true);
    const int64_t filters = random.between(1, 4);
    const Floats x = drawn(c.image[0] * c.image[1] * c.channels, random);
    const Floats w = drawn(c.kernel[0] * c.kernel[1] * c.channels * filters, random);
    Floats expected(size_t(c.outputs[0] * c.outputs[1] * filters));
    for_taps(c, [&](int64_t out, int64_t in, int64_t tap) {
      for (int64_t i = 0; i < c.channels; ++i) {
        for (int64_t o = 0; o < filters; ++o) {
          expected[size_t(out * filters + o)] +=
              x[size_t(in * c.channels + i)] * w[size_t((tap * c.channels + i) * filters + o)];
        }
      }
    });
    GraphDefText text;
    text.placeholder("x", {-1, c.image[0], c.image[1], c.channels});
    text.floats("w", {c.kernel[0], c.kernel[1], c.channels, filters}, w);
    text.node("y", "Conv2D", {"x", "w"}, c.attributes);
    expect_near(compute(text, tensor({1, c.image[0], c.image[1], c.channels}, x)),
                {1, c.outputs[0], c.outputs[1], filters}, expected);
  }
}

// SpaceToBatchND, a convolution and BatchToSpaceND are the dilated convolution that they were written for,
// and compute the same where paddings that depend on the size of the image keep that from being seen.
TEST(TensorflowOperators, DilationThroughTheBatch) {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    const int64_t rate = random.between(2, 3), size = random.between(5, 9), filters = 2;
    const Floats x = drawn(size * size * 2, random), w = drawn(9 * 2 * filters, random);
    const int32_t pad = int32_t(rate), extra = int32_t((rate - (size + 2 * rate) % rate) % rate);
    GraphDefText direct, dealt;
    for (GraphDefText* text : {&direct, &dealt}) {
      text->placeholder("x", {-1, size, size, 2}).floats("w", {3, 3, 2, filters}, w);
    }
    direct.node("y", "Conv2D", {"x", "w"},
                string_attribute("padding", "SAME") + ints_attribute("strides", {1, 1, 1, 1}) +
                    ints_attribute("dilations", {1, rate, rate, 1}));
    dealt.ints("block", {2}, {int32_t(rate), int32_t(rate)});
    dealt.ints("pads", {2, 2}, {pad, pad + extra, pad, pad + extra})
        .ints("crops", {2, 2}, {0, extra, 0, extra});
    dealt.node("shape", "Shape", {"x"}).node("zeros", "Sub", {"shape", "shape"}).ints("square", {2}, {2, 2});
    dealt.node("nothing", "Reshape", {"zeros", "square"}).node("computed", "Add", {"pads", "nothing"});
    dealt.node("s", "SpaceToBatchND", {"x", "block", round % 2 == 0 ? "pads" : "computed"});
    dealt.node("c", "Conv2D", {"s", "w"},
               string_attribute("padding", "VALID") + ints_attribute("strides", {1, 1, 1, 1}));
    dealt.node("y", "BatchToSpaceND", {"c", "block", "crops"});
    const Tensor input = tensor({1, size, size, 2}, x), expected = compute(direct, input);
    expect_near(compute(dealt, input), expected.shape(), expected.to_floats());
  }
}

TEST(TensorflowOperators, DepthwiseConvolution) {
  Random random(2);
  for (int round = 0; round < 40; ++round) {
    const Case c = random_case(random, true);
    const int64_t multiplier = random.between(1, 3), filters = c.channels * multiplier;
    const Floats x = drawn(c.image[0] * c.image[1] * c.channels, random);
    const Floats w = drawn(c.kernel[0] * c.kernel[1] * filters, random);
    Floats expected(size_t(c.outputs[0] * c.outputs[1] * filters));
    for_taps(c, [&](int64_t out, int64_t in, int64_t tap) {
      for (int64_t f = 0; f < filters; ++f) {
        expected[size_t(out * filters + f)] +=
            x[size_t(in * c.channels + f / multiplier)] * w[size_t(tap * filters + f)];
      }
    });
    GraphDefText text;
    text.placeholder("x", {-1, c.image[0], c.image[1], c.channels});
    text.floats("w", {c.kernel[0], c.kernel[1], c.channels, multiplier}, w);
    text.node("y", "DepthwiseConv2dNative", {"x", "w"}, c.attributes);
    expect_near(compute(text, tensor({1, c.image[0], c.image[1], c.channels}, x)),
                {1, c.outputs[0], c.outputs[1], filters}, expected);
  }
}

// The transposed convolution scatters what the convolution gathers.
TEST(TensorflowOperators, Conv2DBackpropInput) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const Case c = random_case(random, true);
    const int64_t filters = random.between(1, 4);
    const Floats x = drawn(c.outputs[0] * c.outputs[1] * filters, random);
    const Floats w = drawn(c.kernel[0] * c.kernel[1] * c.channels * filters, random);
    Floats expected(size_t(c.image[0] * c.image[1] * c.channels));
    for_taps(c, [&](int64_t out, int64_t in, int64_t tap) {
      for (int64_t i = 0; i < c.channels; ++i) {
        for (int64_t o = 0; o < filters; ++o) {
          expected[size_t(in * c.channels + i)] +=
              x[size_t(out * filters + o)] * w[size_t((tap * c.channels + i) * filters + o)];
        }
      }
    });
    GraphDefText text;
    text.placeholder("x", {-1, c.outputs[0], c.outputs[1], filters});
    text.ints("sizes", {4}, {1, int32_t(c.image[0]), int32_t(c.image[1]), int32_t(c.channels)});
    text.floats("w", {c.kernel[0], c.kernel[1], c.channels, filters}, w);
    text.node("y", "Conv2DBackpropInput", {"sizes", "w", "x"}, c.attributes);
    SCOPED_TRACE(round);
    expect_near(compute(text, tensor({1, c.outputs[0], c.outputs[1], filters}, x)),
                {1, c.image[0], c.image[1], c.channels}, expected);
  }
}

TEST(TensorflowOperators, Pools) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const Case c = random_case(random, false);
    const bool is_max = round % 2 == 0;
    const Floats x = drawn(c.image[0] * c.image[1] * c.channels, random);
    const int64_t pixels = c.outputs[0] * c.outputs[1];
    Floats expected(size_t(pixels * c.channels), is_max ? -INFINITY : 0);
    std::vector<int> counts(size_t(pixels), 0);
    for_taps(c, [&](int64_t out, int64_t in, int64_t) {
      ++counts[size_t(out)];
      for (int64_t i = 0; i < c.channels; ++i) {
        float& result = expected[size_t(out * c.channels + i)];
        const float value = x[size_t(in * c.channels + i)];
        result = is_max ? std::max(result, value) : result + value;
      }
    });
    for (int64_t i = 0; !is_max && i < pixels * c.channels; ++i) {
      expected[size_t(i)] /= float(counts[size_t(i / c.channels)]);  // what is outside does not count
    }
    GraphDefText text;
    text.placeholder("x", {-1, c.image[0], c.image[1], c.channels});
    text.node("y", is_max ? "MaxPool" : "AvgPool", {"x"},
              c.attributes + ints_attribute("ksize", {1, c.kernel[0], c.kernel[1], 1}));
    expect_near(compute(text, tensor({1, c.image[0], c.image[1], c.channels}, x)),
                {1, c.outputs[0], c.outputs[1], c.channels}, expected);
  }
}

TEST(TensorflowOperators, ChannelsFirst) {
  Random random(5);
  const Floats x = drawn(2 * 5 * 6, random), w = drawn(2 * 3 * 2 * 3, random), b = {1, -2, 3};
  const auto network = [&](bool channels_last) {
    const std::string format = string_attribute("data_format", channels_last ? "NHWC" : "NCHW");
    const std::string same = string_attribute("padding", "SAME") + format;
    GraphDefText text;
    text.placeholder("x", channels_last ? Ints{-1, 5, 6, 2} : Ints{-1, 2, 5, 6});
    text.floats("w", {2, 3, 2, 3}, w).floats("b", {3}, b).floats("v", {3}, {1, 4, 9});
    text.node("conv", "Conv2D", {"x", "w"},
              same + ints_attribute("strides", channels_last ? Ints{1, 2, 1, 1} : Ints{1, 1, 2, 1}));
    text.node("biased", "BiasAdd", {"conv", "b"}, format);
    text.node("norm", "FusedBatchNorm", {"biased", "b", "b", "b", "v"},
              format + bool_attribute("is_training", false) + float_attribute("epsilon", 0.001f));
    text.node("y", "MaxPool", {"norm"},
              same + ints_attribute("ksize", channels_last ? Ints{1, 2, 2, 1} : Ints{1, 1, 2, 2}) +
                  ints_attribute("strides", {1, 1, 1, 1}));
    return text;
  };
  Floats first;  // channels first
  for (size_t c = 0; c < 2; ++c) {
    for (size_t p = 0; p < 30; ++p) first.push_back(x[p * 2 + c]);
  }
  const Tensor last = compute(network(true), tensor({1, 5, 6, 2}, x));
  const Tensor other = compute(network(false), tensor({1, 2, 5, 6}, first));
  ASSERT_EQ(last.shape(), (Shape{1, 3, 6, 3}));
  ASSERT_EQ(other.shape(), (Shape{1, 3, 3, 6}));
  for (int64_t p = 0; p < 18; ++p) {
    for (int64_t c = 0; c < 3; ++c) EXPECT_NEAR(last.number_at(p * 3 + c), other.number_at(c * 18 + p), 1e-3);
  }
}

// Images of one channel, by the position that each output reads.
TEST(TensorflowOperators, Resizing) {
  Random random(6);
  for (int round = 0; round < 40; ++round) {
    const int64_t size = random.between(2, 6), target = random.between(2, 11);
    const bool linear = random.chance(0.5), aligned = random.chance(0.3);
    const bool centred = !aligned && random.chance(0.5);
    const Floats x = drawn(size * size, random);
    const double scale = aligned ? double(size - 1) / double(target - 1) : double(size) / double(target);
    const auto position = [&](int64_t i) {
      return centred ? (double(i) + 0.5) * scale - 0.5 : double(i) * scale;
    };
    const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, size - 1); };
    const auto nearest = [&](int64_t i) {
      const double at = centred ? (double(i) + 0.5) * scale : double(i) * scale;
      return clamped(int64_t(aligned ? std::round(at) : std::floor(at)));
    };
    Floats expected;
    for (int64_t i = 0; i < target; ++i) {
      for (int64_t j = 0; j < target; ++j) {
        if (!linear) {
          expected.push_back(x[size_t(nearest(i) * size + nearest(j))]);
          continue;
        }
        double sum = 0;
        const double y = std::max(0.0, position(i)), z = std::max(0.0, position(j));
        const int64_t y0 = int64_t(y), z0 = int64_t(z);
        for (int64_t a = 0; a < 2; ++a) {
          for (int64_t b = 0; b < 2; ++b) {
            const double weight =
                (a ? y - double(y0) : 1 - y + double(y0)) * (b ? z - double(z0) : 1 - z + double(z0));
            sum += weight * double(x[size_t(clamped(y0 + a) * size + clamped(z0 + b))]);
          }
        }
        expected.push_back(float(sum));
      }
    }
    GraphDefText text;
    text.placeholder("x", {-1, size, size, 1}).ints("size", {2}, {int32_t(target), int32_t(target)});
    text.node("y", linear ? "ResizeBilinear" : "ResizeNearestNeighbor", {"x", "size"},
              bool_attribute("align_corners", aligned) + bool_attribute("half_pixel_centers", centred));
    SCOPED_TRACE(testing::Message() << size << " -> " << target << " linear " << linear << " aligned "
                                    << aligned << " centred " << centred);
    expect_near(compute(text, tensor({1, size, size, 1}, x)), {1, target, target, 1}, expected);
  }
}

// y = op(x, ...) of x = 0, 1, 2, ... in `shape`.
Tensor apply(const std::function<void(GraphDefText&)>& add, const Shape& shape) {
  GraphDefText text;
  text.placeholder("x", shape.dims());
  add(text);
  Floats values;
  for (int64_t i = 0; i < shape.element_count(); ++i) values.push_back(float(i));
  return compute(text, tensor(shape, values));
}

TEST(TensorflowOperators, StridedSlice) {
  const auto slice = [](const std::vector<int32_t>& begin, const std::vector<int32_t>& end,
                        const std::vector<int32_t>& strides, const std::string& masks) {
    return apply(
        [&](GraphDefText& text) {
          const int64_t count = int64_t(begin.size());
          text.ints("b", {count}, begin).ints("e", {count}, end).ints("s", {count}, strides);
          text.node("y", "StridedSlice", {"x", "b", "e", "s"}, masks);
        },
        {2, 3, 4});
  };
  expect_near(slice({0, 1}, {2, 3}, {1, 1}, ""), {2, 2, 4},
              {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23});
  expect_near(slice({1, -1}, {2, 0}, {1, 1}, int_attribute("shrink_axis_mask", 3)), {4}, {20, 21, 22, 23});
  expect_near(slice({0, 3}, {0, 0}, {1, -2}, int_attribute("ellipsis_mask", 1)), {2, 3, 2},
              {3, 1, 7, 5, 11, 9, 15, 13, 19, 17, 23, 21});
  expect_near(slice({0, 0, 1}, {0, 1, 0}, {1, 1, 2},
                    int_attribute("new_axis_mask", 1) + int_attribute("end_mask", 4) +
                        int_attribute("begin_mask", 2)),
              {1, 1, 1, 4}, {4, 5, 6, 7});
}

TEST(TensorflowOperators, PartsAndShapes) {
  const Shape shape = {2, 3};
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.ints("b", {2}, {0, 1}).ints("s", {2}, {-1, 2}).node("y", "Slice", {"x", "b", "s"});
                  },
                  shape),
              {2, 2}, {1, 2, 4, 5});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.ints("axis", {}, {1}).node("p", "Split", {"axis", "x"}, int_attribute("num_split", 3));
                    t.node("y", "ConcatV2", {"p:2", "p", "axis"});
                  },
                  shape),
              {2, 2}, {2, 0, 5, 3});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.ints("axis", {}, {-1}).ints("sizes", {2}, {1, -1}).node("p", "SplitV", {"x", "sizes", "axis"});
            t.node("y", "Identity", {"p:1"});
          },
          shape),
      {2, 2}, {1, 2, 4, 5});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.node("p", "Unpack", {"x"}, int_attribute("axis", 1) + int_attribute("num", 3));
                    t.node("y", "Pack", {"p:2", "p:0"}, int_attribute("axis", 0));
                  },
                  shape),
              {2, 2}, {2, 5, 0, 3});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.node("shape", "Shape", {"x"}).ints("i", {}, {1}).ints("zero", {1}, {0}).ints("one", {1}, {1});
            t.node("n", "StridedSlice", {"shape", "zero", "one", "one"},
                   int_attribute("shrink_axis_mask", 1));
            t.ints("rest", {}, {-1})
                .node("target", "Pack", {"rest", "n"})
                .node("y", "Reshape", {"x", "target"});
          },
          shape),
      {3, 2}, {0, 1, 2, 3, 4, 5});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.ints("perm", {2}, {1, 0}).node("t", "Transpose", {"x", "perm"});
                    t.ints("axis", {}, {1}).node("e", "ExpandDims", {"t", "axis"});
                    t.node("y", "Squeeze", {"e"}, ints_attribute("squeeze_dims", {1}));
                  },
                  shape),
              {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.ints("n", {2}, {1, 2}).node("tiled", "Tile", {"x", "n"}).ints("i", {2}, {5, 0});
                    t.ints("axis", {}, {1}).node("y", "GatherV2", {"tiled", "i", "axis"});
                  },
                  shape),
              {2, 2}, {2, 0, 5, 3});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.ints("p", {2, 2}, {0, 1, 2, 0}).floats("v", {}, {-1}).node("y", "PadV2", {"x", "p", "v"});
          },
          shape),
      {3, 5}, {-1, -1, 0, 1, 2, -1, -1, 3, 4, 5, -1, -1, -1, -1, -1});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.ints("p", {2, 2}, {1, 0, 0, 2});
                    t.node("y", "MirrorPad", {"x", "p"}, string_attribute("mode", "REFLECT"));
                  },
                  shape),
              {3, 5}, {3, 4, 5, 4, 3, 0, 1, 2, 1, 0, 3, 4, 5, 4, 3});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.ints("two", {}, {2}).ints("ten", {}, {8}).node("r", "Range", {"two", "ten", "two"});
            t.node("f", "Cast", {"r"}, type_attribute("DstT", kFloat)).node("ones", "OnesLike", {"x"});
            t.node("a", "Add", {"ones", "f"}).ints("dims", {1}, {3}).floats("c", {}, {10});
            t.node("fill", "Fill", {"dims", "c"}).node("y", "Mul", {"a", "fill"});
          },
          shape),
      {2, 3}, {30, 50, 70, 30, 50, 70});
}

TEST(TensorflowOperators, Arithmetic) {
  const Shape shape = {5};
  const auto unary = [&](const std::string& op, const std::string& attributes = "") {
    return apply(
        [&](GraphDefText& t) {
          t.floats("two", {}, {2}).node("c", "Sub", {"x", "two"}).node("y", op, {"c"}, attributes);
        },
        shape);
  };
  expect_near(unary("Relu6"), shape, {0, 0, 0, 1, 2});
  expect_near(unary("LeakyRelu", float_attribute("alpha", 0.5f)), shape, {-1, -0.5f, 0, 1, 2});
  expect_near(unary("LeakyRelu"), shape, {-0.4f, -0.2f, 0, 1, 2});
  expect_near(unary("Square"), shape, {4, 1, 0, 1, 4});
  expect_near(unary("Elu"), shape, {-0.8647f, -0.6321f, 0, 1, 2});
  const auto integers = [&](const std::string& op) {
    return apply(
        [&](GraphDefText& t) {
          t.ints("a", {5}, {-7, 7, -7, 7, -6}).ints("b", {5}, {2, 2, -2, -2, 3}).node("i", op, {"a", "b"});
          t.node("f", "Cast", {"i"}, type_attribute("DstT", kFloat)).floats("zero", {}, {0});
          t.node("none", "Mul", {"x", "zero"}).node("y", "Add", {"none", "f"});
        },
        shape);
  };
  expect_near(integers("FloorDiv"), shape, {-4, 3, 3, -4, -2});
  expect_near(integers("FloorMod"), shape, {1, 1, -1, -1, 0});
  expect_near(integers("SquaredDifference"), shape, {81, 25, 25, 81, 81});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.floats("two", {}, {2}).node("big", "Greater", {"x", "two"}).node("n", "Neg", {"x"});
            t.node("s", "SelectV2", {"big", "x", "n"}).floats("h", {}, {1.5f}).floats("l", {}, {-1.5f});
            t.node("y", "ClipByValue", {"s", "l", "h"});
          },
          shape),
      shape, {0, -1, -1.5f, 1.5f, 1.5f});
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
                    t.node("y", "MatMul", {"x", "w"},
                           bool_attribute("transpose_a", true) + bool_attribute("transpose_b", true));
                  },
                  {2, 1}),
              {1, 3}, {2, 4, 6});
}

TEST(TensorflowOperators, Reductions) {
  const auto reduce = [](const std::string& op, const std::vector<int32_t>& axes, bool keep) {
    return apply(
        [&](GraphDefText& t) {
          t.ints("axes", {int64_t(axes.size())}, axes)
              .node("y", op, {"x", "axes"}, bool_attribute("keep_dims", keep));
        },
        {2, 3});
  };
  expect_near(reduce("Mean", {1}, false), {2}, {1, 4});
  expect_near(reduce("Sum", {0, 1}, true), {1, 1}, {15});
  expect_near(reduce("Max", {-1}, true), {2, 1}, {2, 5});
  expect_near(reduce("Min", {0}, false), {3}, {0, 1, 2});
  expect_near(reduce("Prod", {1}, false), {2}, {0, 60});
  expect_near(reduce("Mean", {}, false), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_near(
      apply(
          [](GraphDefText& t) {
            t.ints("axis", {}, {0}).node("i", "ArgMax", {"x", "axis"}, type_attribute("output_type", kInt32));
            t.node("y", "Cast", {"i"}, type_attribute("DstT", kFloat));
          },
          {2, 3}),
      {3}, {1, 1, 1});
}

TEST(TensorflowOperators, BlocksAndNormalization) {
  expect_near(
      apply([](GraphDefText& t) { t.node("y", "SpaceToDepth", {"x"}, int_attribute("block_size", 2)); },
            {1, 2, 4, 1}),
      {1, 1, 2, 4}, {0, 1, 4, 5, 2, 3, 6, 7});
  expect_near(
      apply([](GraphDefText& t) { t.node("y", "DepthToSpace", {"x"}, int_attribute("block_size", 2)); },
            {1, 1, 2, 4}),
      {1, 2, 4, 1}, {0, 1, 4, 5, 2, 3, 6, 7});
  const auto scaled = [](float x, float squares) { return x / std::pow(2 + 0.5f * squares, 0.75f); };
  expect_near(apply(
                  [](GraphDefText& t) {
                    t.node("y", "LRN", {"x"},
                           int_attribute("depth_radius", 1) + float_attribute("bias", 2) +
                               float_attribute("alpha", 0.5f) + float_attribute("beta", 0.75f));
                  },
                  {1, 1, 1, 4}),
              {1, 1, 1, 4}, {scaled(0, 1), scaled(1, 5), scaled(2, 14), scaled(3, 13)});
}

}  // namespace
}  // namespace tilewright
