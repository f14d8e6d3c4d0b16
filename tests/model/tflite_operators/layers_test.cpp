// Convolutions, dense layers and pools over random shapes, strides, dilations and paddings.
#include "nhwc_testing.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

double activated(double value, schema::ActivationFunctionType type) {
  switch (type) {
    case schema::ActivationFunctionType_RELU:
      return std::max(value, 0.0);
    case schema::ActivationFunctionType_RELU6:
      return std::clamp(value, 0.0, 6.0);
    case schema::ActivationFunctionType_RELU_N1_TO_1:
      return std::clamp(value, -1.0, 1.0);
    case schema::ActivationFunctionType_TANH:
      return std::tanh(value);
    default:
      return value;
  }
}

struct Layer {
  explicit Layer(Random& random)
      : same(random.chance(0.5)),
        stride_h(random.between(1, 3)),
        stride_w(random.between(1, 3)),
        dilation_h(random.chance(0.3) ? 2 : 1),
        dilation_w(random.chance(0.3) ? 2 : 1),
        kernel_h(random.between(1, 3)),
        kernel_w(random.between(1, 4)),
        x{random.between(1, 2), random.between(5, 9), random.between(7, 10), random.between(1, 4)},
        activation(schema::ActivationFunctionType(random.between(0, 4))) {}

  template <typename Options>
  Options options() const {
    Options result;
    result.padding = same ? schema::Padding_SAME : schema::Padding_VALID;
    result.stride_h = int32_t(stride_h);
    result.stride_w = int32_t(stride_w);
    result.fused_activation_function = activation;
    return result;
  }
  template <typename Options>
  Options dilated_options() const {
    Options result = options<Options>();
    result.dilation_h_factor = int32_t(dilation_h);
    result.dilation_w_factor = int32_t(dilation_w);
    return result;
  }
  Extent rows(int64_t dilation) const { return extent(same, x[1], kernel_h, stride_h, dilation); }
  Extent columns(int64_t dilation) const { return extent(same, x[2], kernel_w, stride_w, dilation); }

  bool same;
  int64_t stride_h, stride_w, dilation_h, dilation_w, kernel_h, kernel_w;
  Shape x;
  schema::ActivationFunctionType activation;
};

TEST(TfliteLayers, Conv2dGroupsIncluded) {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    Layer l(random);
    const int64_t groups = random.between(1, 2), per_group = random.between(1, 3);
    l.x[3] *= groups;
    const int64_t depth = l.x[3] / groups, channels = groups * per_group;
    const Tensor x = random_tensor(random, l.x);
    const Tensor w = random_tensor(random, {channels, l.kernel_h, l.kernel_w, depth});
    const Tensor b = random_tensor(random, {channels});
    const Extent rows = l.rows(l.dilation_h), columns = l.columns(l.dilation_w);
    const Tensor expected =
        nhwc({l.x[0], rows.output, columns.output, channels}, [&](auto n, auto oy, auto ox, auto o) {
          double sum = b.number_at(o);
          for (int64_t ky = 0; ky < l.kernel_h; ++ky) {
            for (int64_t kx = 0; kx < l.kernel_w; ++kx) {
              const int64_t y = oy * l.stride_h + ky * l.dilation_h - rows.before;
              const int64_t xx = ox * l.stride_w + kx * l.dilation_w - columns.before;
              if (y < 0 || xx < 0 || y >= l.x[1] || xx >= l.x[2]) continue;
              for (int64_t i = 0; i < depth; ++i) {
                sum += at(x, n, y, xx, o / per_group * depth + i) * at(w, o, ky, kx, i);
              }
            }
          }
          return activated(sum, l.activation);
        });
    TfliteBuilder model;
    const int in = model.input("x", dims_of(l.x));
    const int weights = model.constant("w", w), bias = model.constant("b", b);
    const int out = model.output("y", dims_of(expected.shape()));
    model.op(Op::BuiltinOperator_CONV_2D, {in, weights, bias}, {out},
             l.dilated_options<schema::Conv2DOptionsT>());
    expect_output(model, {x}, expected);
  }
}

TEST(TfliteLayers, DepthwiseConv2dWithMultiplier) {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const Layer l(random);
    const int64_t multiplier = random.between(1, 3), channels = l.x[3] * multiplier;
    const Tensor x = random_tensor(random, l.x);
    const Tensor w = random_tensor(random, {1, l.kernel_h, l.kernel_w, channels});
    const Extent rows = l.rows(l.dilation_h), columns = l.columns(l.dilation_w);
    const Tensor expected =
        nhwc({l.x[0], rows.output, columns.output, channels}, [&](auto n, auto oy, auto ox, auto o) {
          double sum = 0;
          for (int64_t ky = 0; ky < l.kernel_h; ++ky) {
            for (int64_t kx = 0; kx < l.kernel_w; ++kx) {
              const int64_t y = oy * l.stride_h + ky * l.dilation_h - rows.before;
              const int64_t xx = ox * l.stride_w + kx * l.dilation_w - columns.before;
              if (y < 0 || xx < 0 || y >= l.x[1] || xx >= l.x[2]) continue;
              sum += at(x, n, y, xx, o / multiplier) * at(w, 0, ky, kx, o);
            }
          }
          return activated(sum, l.activation);
        });
    TfliteBuilder model;
    const int in = model.input("x", dims_of(l.x)), weights = model.constant("w", w);
    const int out = model.output("y", dims_of(expected.shape()));
    auto options = l.dilated_options<schema::DepthwiseConv2DOptionsT>();
    options.depth_multiplier = int32_t(multiplier);
    // Without a bias: the absent input is -1.
    model.op(Op::BuiltinOperator_DEPTHWISE_CONV_2D, {in, weights, -1}, {out}, options);
    expect_output(model, {x}, expected);
  }
}

// The gradient of a convolution: every input element is added where that convolution would have read.
TEST(TfliteLayers, TransposeConv) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const Layer l(random);
    const Shape y{l.x[0], l.x[1] + 3, l.x[2] + 3, random.between(1, 3)};
    const Extent rows = extent(l.same, y[1], l.kernel_h, l.stride_h, 1);
    const Extent columns = extent(l.same, y[2], l.kernel_w, l.stride_w, 1);
    const Tensor x = random_tensor(random, {l.x[0], rows.output, columns.output, l.x[3]});
    const Tensor w = random_tensor(random, {y[3], l.kernel_h, l.kernel_w, l.x[3]});
    Tensor expected(ElementType::kF32, y);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t c = i % l.x[3], ix = i / l.x[3] % columns.output;
      const int64_t iy = i / l.x[3] / columns.output % rows.output,
                    n = i / l.x[3] / columns.output / rows.output;
      for (int64_t ky = 0; ky < l.kernel_h; ++ky) {
        for (int64_t kx = 0; kx < l.kernel_w; ++kx) {
          const int64_t oy = iy * l.stride_h - rows.before + ky, ox = ix * l.stride_w - columns.before + kx;
          if (oy < 0 || ox < 0 || oy >= y[1] || ox >= y[2]) continue;
          for (int64_t o = 0; o < y[3]; ++o) {
            const int64_t to = ((n * y[1] + oy) * y[2] + ox) * y[3] + o;
            expected.set_number(to, expected.number_at(to) + x.number_at(i) * at(w, o, ky, kx, c));
          }
        }
      }
    }
    TfliteBuilder model;
    const int sizes = model.integers("sizes", dims_of(y)), weights = model.constant("w", w);
    const int in = model.input("x", dims_of(x.shape())), out = model.output("y", dims_of(y));
    Layer plain = l;
    plain.activation = schema::ActivationFunctionType_NONE;
    model.op(Op::BuiltinOperator_TRANSPOSE_CONV, {sizes, weights, in}, {out},
             plain.options<schema::TransposeConvOptionsT>());
    expect_output(model, {x}, expected, 1e-4);
  }
}

TEST(TfliteLayers, PoolsLeaveOutPadding) {
  Random random(4);
  for (int trial = 0; trial < 80; ++trial) {
    SCOPED_TRACE(trial);
    const Layer l(random);
    const bool average = trial % 2 == 0;
    const Tensor x = random_tensor(random, l.x);
    const Extent rows = l.rows(1), columns = l.columns(1);
    const Tensor expected =
        nhwc({l.x[0], rows.output, columns.output, l.x[3]}, [&](auto n, auto oy, auto ox, auto c) {
          double sum = 0, highest = -1e9;
          int count = 0;
          for (int64_t ky = 0; ky < l.kernel_h; ++ky) {
            for (int64_t kx = 0; kx < l.kernel_w; ++kx) {
              const int64_t y = oy * l.stride_h + ky - rows.before,
                            xx = ox * l.stride_w + kx - columns.before;
              if (y < 0 || xx < 0 || y >= l.x[1] || xx >= l.x[2]) continue;
              sum += at(x, n, y, xx, c);
              highest = std::max(highest, at(x, n, y, xx, c));
              ++count;
            }
          }
          return activated(average ? sum / count : highest, l.activation);
        });
    TfliteBuilder model;
    const int in = model.input("x", dims_of(l.x)), out = model.output("y", dims_of(expected.shape()));
    auto options = l.options<schema::Pool2DOptionsT>();
    options.filter_height = int32_t(l.kernel_h);
    options.filter_width = int32_t(l.kernel_w);
    model.op(average ? Op::BuiltinOperator_AVERAGE_POOL_2D : Op::BuiltinOperator_MAX_POOL_2D, {in}, {out},
             options);
    expect_output(model, {x}, expected);
  }
}

TEST(TfliteLayers, FullyConnectedFlattensOrKeepsItsDimensions) {
  Random random(5);
  for (const bool keeps : {false, true}) {
    const Shape shape{2, 3, 1, 4};
    const Tensor x = random_tensor(random, shape), w = random_tensor(random, {5, 4});
    const Tensor b = random_tensor(random, {5});
    const Shape y = keeps ? Shape{2, 3, 1, 5} : Shape{6, 5};
    Tensor expected(ElementType::kF32, y);
    for (int64_t i = 0; i < expected.size(); ++i) {
      double sum = b.number_at(i % 5);
      for (int64_t k = 0; k < 4; ++k) sum += x.number_at(i / 5 * 4 + k) * w.number_at(i % 5 * 4 + k);
      expected.set_number(i, std::max(sum, 0.0));
    }
    TfliteBuilder model;
    const int in = model.input("x", dims_of(shape)), out = model.output("y", dims_of(y));
    const int weights = model.constant("w", w), bias = model.constant("b", b);
    schema::FullyConnectedOptionsT options;
    options.keep_num_dims = keeps;
    options.fused_activation_function = schema::ActivationFunctionType_RELU;
    model.op(Op::BuiltinOperator_FULLY_CONNECTED, {in, weights, bias}, {out}, options);
    expect_output(model, {x}, expected);
  }
}

// Weights of half precision behind a DEQUANTIZE, as half-precision conversion leaves them.
TEST(TfliteLayers, HalfPrecisionWeights) {
  Random random(6);
  const Tensor x = random_tensor(random, {1, 4, 4, 2});
  const Tensor half = random_tensor(random, {3, 1, 1, 2}).cast(ElementType::kF16);
  const Tensor w = half.cast(ElementType::kF32);
  const Tensor expected = nhwc({1, 4, 4, 3}, [&](auto n, auto y, auto xx, auto o) {
    return at(x, n, y, xx, 0) * w.number_at(o * 2) + at(x, n, y, xx, 1) * w.number_at(o * 2 + 1);
  });
  TfliteBuilder model;
  const int in = model.input("x", {1, 4, 4, 2}), stored = model.constant("w16", half);
  const int weights = model.add("w", ElementType::kF32, {3, 1, 1, 2}), out = model.output("y", {1, 4, 4, 3});
  model.op(Op::BuiltinOperator_DEQUANTIZE, {stored}, {weights});
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  model.op(Op::BuiltinOperator_CONV_2D, {in, weights, -1}, {out}, options);
  expect_output(model, {x}, expected);
}

}  // namespace
}  // namespace tilewright
