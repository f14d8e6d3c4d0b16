// The host engine's integer operators against the reference kernels of `tensor`, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/host/integer/integer_conv.h"
#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_pool.h"
#include "tilewright/host/integer/integer_testing.h"
#include "tilewright/host/kernel_testing.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {
namespace {

using Ints = std::vector<int64_t>;

OutputStage random_output(Random& random) {
  if (random.chance(0.2)) return {int32_t(random.between(-2, 2)), 0, 1, true};
  const int32_t low = int32_t(random.between(-128, 0));
  return {int32_t(random.between(-140, 140)), low, int32_t(random.between(low, 127))};
}

Attributes with_output(Attributes attributes, const OutputStage& o) {
  attributes.insert({{"y_zero_point", int64_t{o.y_zero_point}},
                     {"clip_low", int64_t{o.clip_low}},
                     {"clip_high", int64_t{o.clip_high}},
                     {"bipolar", int64_t{o.bipolar}}});
  return attributes;
}

Attributes attributes(const WindowParameters& w, const OutputStage& o) {
  return with_output({{"strides", Ints{w.strides[0], w.strides[1]}},
                      {"dilations", Ints{w.dilations[0], w.dilations[1]}},
                      {"pads", Ints{w.pads[0], w.pads[1], w.pads[2], w.pads[3]}}},
                     o);
}

// Bias, multiplier and shift whose outputs spread over the range of i8.
struct Scales {
  Tensor bias, multiplier, shift;
};

Scales random_scales(Random& random, int64_t channels) {
  const int64_t count = random.chance(0.5) ? channels : 1;
  Scales scales{random_integers(ElementType::kI32, {channels}, -3000, 3000, random),
                random_integers(ElementType::kI32, {count}, 1 << 30, INT32_MAX, random),
                random_integers(ElementType::kI32, {count}, 36, 41, random)};
  if (random.chance(0.3)) {
    scales.multiplier = Tensor::of<int32_t>({1}, {1});
    scales.shift = random_integers(ElementType::kI32, {1}, 0, 10, random);
  }
  return scales;
}

Tensor run_integer(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs, int threads) {
  std::vector<std::optional<Tensor>> listed(inputs.begin(), inputs.end());
  return testing::run_op(op, listed, std::move(attrs), 1, kTilewrightDomain, HostOptions{threads})[0];
}

TEST(HostInteger, ConvEqualsTheReference) {
  const uint64_t seed = 5150;
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const bool depthwise = random.chance(0.25);
    const int64_t group = depthwise ? random.between(2, 9) : random.chance(0.7) ? 1 : random.between(2, 3);
    const int64_t c = depthwise ? 1 : random.between(1, 9),
                  o = depthwise ? random.between(1, 2) : random.between(1, 20);
    const int64_t kh = random.between(1, 4), kw = random.between(1, 5);
    ConvParameters p;
    p.window = random_window(random, kh, kw);
    p.group = group;
    p.pad_value = int32_t(random.between(-128, 127));
    p.output = random_output(random);
    const Tensor x = random_integers(
        ElementType::kI8, {random.between(1, 2), c * group, random.between(8, 16), random.between(13, 40)},
        -128, 127, random);
    const bool wide = random.chance(0.25);
    const Tensor w = random_integers(wide ? ElementType::kI16 : ElementType::kI8, {o * group, c, kh, kw},
                                     wide ? -255 : -128, wide ? 255 : 127, random);
    const Scales s = random_scales(random, o * group);
    auto attrs = attributes(p.window, p.output);
    attrs["group"] = group;
    attrs["pad_value"] = int64_t{p.pad_value};
    const Tensor expected = reference_conv(x, w, s.bias, s.multiplier, s.shift, p);
    const Tensor actual =
        run_integer("QConv", {x, w, s.bias, s.multiplier, s.shift}, attrs, int(random.between(1, 3)));
    ASSERT_TRUE(actual.identical(expected));
  }
}

// Weights are prepared once where they are constant, and for every run where they are computed.
TEST(HostInteger, ConvTakesComputedWeights) {
  Random random(5);
  const Tensor x = random_integers(ElementType::kI8, {1, 3, 5, 5}, -128, 127, random);
  const Scales s = random_scales(random, 4);
  Graph graph;
  const std::vector<Tensor> constants{s.bias, s.multiplier, s.shift};
  std::vector<ValueId> inputs{graph.add_input("x", ElementType::kI8, x.shape()),
                              graph.add_input("w", ElementType::kI8, {4, 3, 2, 2})};
  for (const Tensor& constant : constants) inputs.push_back(graph.add_constant("c", constant));
  graph.outputs = {graph.add_value("y", ElementType::kI8, {1, 4, 4, 4})};
  graph.add_node("conv", "QConv", inputs, graph.outputs, kTilewrightDomain);
  const Executor executor(graph);
  for (int run = 0; run < 2; ++run) {
    const Tensor w = random_integers(ElementType::kI8, {4, 3, 2, 2}, -128, 127, random);
    EXPECT_TRUE(executor.run({x, w})[0].identical(
        run_integer("QConv", {x, w, s.bias, s.multiplier, s.shift}, {}, 1)));
  }
}

TEST(HostInteger, ConvTransposeEqualsTheReference) {
  const uint64_t seed = 5151;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const int64_t group = random.between(1, 3), c = random.between(1, 5), o = random.between(1, 9);
    const int64_t kh = random.between(1, 5), kw = random.between(1, 4);
    ConvTransposeParameters p;
    p.window = random_window(random, 0, 0);
    p.group = group;
    p.output = random_output(random);
    p.output_padding = {random.between(0, p.window.strides[0] - 1),
                        random.between(0, p.window.strides[1] - 1)};
    const Tensor x = random_integers(
        ElementType::kI8, {random.between(1, 2), c * group, random.between(1, 9), random.between(1, 20)},
        -128, 127, random);
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t size = transpose_output_size(p, axis, x.shape()[2 + axis], axis == 0 ? kh : kw);
      p.window.pads[size_t(axis)] = random.between(0, std::min<int64_t>(3, (size - 1) / 2));
      p.window.pads[size_t(axis) + 2] = random.between(0, std::min<int64_t>(3, (size - 1) / 2));
    }
    const Tensor w = random_integers(ElementType::kI8, {c * group, o, kh, kw}, -128, 127, random);
    const Scales s = random_scales(random, o * group);
    auto attrs = attributes(p.window, p.output);
    attrs["group"] = group;
    attrs["output_padding"] = Ints{p.output_padding[0], p.output_padding[1]};
    const Tensor expected = reference_conv_transpose(x, w, s.bias, s.multiplier, s.shift, p);
    const Tensor actual = run_integer("QConvTranspose", {x, w, s.bias, s.multiplier, s.shift}, attrs,
                                      int(random.between(1, 3)));
    ASSERT_TRUE(actual.identical(expected)) << fmt::format(
        "x {} w {} group {} strides {} dilations {} pads {} out padding {} y {}", to_string(x.shape()),
        to_string(w.shape()), group, fmt::join(p.window.strides, ","), fmt::join(p.window.dilations, ","),
        fmt::join(p.window.pads, ","), fmt::join(p.output_padding, ","), to_string(actual.shape()));
  }
}

// All instruction sets on the same convolutions, signed and unsigned inputs, zero points and paddings.
TEST(HostInteger, ConvolutionsGiveTheSameSumsOnEveryInstructionSet) {
  const uint64_t seed = 5152;
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    IntegerConvShape shape{1, random.between(1, 6), random.between(1, 12), 1, {}, {}};
    for (WindowAxis* axis : {&shape.height, &shape.width}) {
      *axis = {random.between(4, 20),
               random.between(1, 3),
               random.between(1, 3),
               1,
               random.between(0, 2),
               random.between(0, 2),
               1};
      axis->output = (axis->input + axis->pad_begin + axis->pad_end - axis->kernel) / axis->stride + 1;
    }
    std::vector<int16_t> weights(
        size_t(shape.output_channels * shape.input_channels * shape.height.kernel * shape.width.kernel));
    for (int16_t& v : weights) v = int16_t(random.between(-128, 127));
    const bool is_signed_input = random.chance(0.5);
    const int64_t low = is_signed_input ? -128 : 0;
    const Tensor x = random_integers(is_signed_input ? ElementType::kI8 : ElementType::kU8,
                                     {1, shape.input_channels, shape.height.input, shape.width.input}, low,
                                     low + 255, random);
    const int32_t zero = int32_t(random.between(low, low + 255)),
                  pad = int32_t(random.between(low, low + 255));
    const Shape y_shape{1, shape.output_channels, shape.height.output, shape.width.output};
    std::optional<Tensor> expected;
    for (const IntegerIsa isa : {IntegerIsa::kPortable, IntegerIsa::kAvx2, IntegerIsa::kAvx512Vnni}) {
      if (!is_available(isa)) continue;
      Tensor y(ElementType::kI32, y_shape);
      IntegerConvolution::forward(shape, weights, isa)
          .run(
              x, zero, pad,
              [](int64_t, const int32_t* acc, uint32_t base, int64_t count, void* out) {
                for (int64_t i = 0; i < count; ++i)
                  static_cast<int32_t*>(out)[i] = int32_t(uint32_t(acc[i]) + base);
              },
              y, 1);
      if (!expected) expected = y;
      ASSERT_TRUE(y.identical(*expected)) << "isa " << int(isa);
    }
    // One output element from the definition.
    const int64_t o = random.between(0, y_shape[1] - 1), oy = random.between(0, y_shape[2] - 1),
                  ox = random.between(0, y_shape[3] - 1);
    int64_t sum = 0;
    for (int64_t c = 0; c < shape.input_channels; ++c) {
      for (int64_t ky = 0; ky < shape.height.kernel; ++ky) {
        for (int64_t kx = 0; kx < shape.width.kernel; ++kx) {
          const int64_t iy = shape.height.input_index(oy, ky), ix = shape.width.input_index(ox, kx);
          const bool in = iy >= 0 && ix >= 0 && iy < shape.height.input && ix < shape.width.input;
          const int64_t value =
              in ? x.integer_at((c * shape.height.input + iy) * shape.width.input + ix) : pad;
          sum += (value - zero) *
                 weights[size_t(
                     ((o * shape.input_channels + c) * shape.height.kernel + ky) * shape.width.kernel + kx)];
        }
      }
    }
    ASSERT_EQ(expected->integer_at((o * y_shape[2] + oy) * y_shape[3] + ox), sum);
  }
}

TEST(HostInteger, GemmEqualsTheReference) {
  const uint64_t seed = 5153;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const int64_t n = random.chance(0.5) ? 1 : random.between(1, 100), k = random.between(1, 90),
                  o = random.between(1, 40);
    const Tensor x = random_integers(ElementType::kI8, {n, k}, -128, 127, random);
    const Tensor w =
        random_integers(random.chance(0.7) ? ElementType::kI8 : ElementType::kI16, {o, k}, -128, 127, random);
    const Scales s = random_scales(random, o);
    const OutputStage output = random_output(random);
    auto attrs = attributes({}, output);
    for (const char* unused : {"strides", "pads", "dilations"}) attrs.erase(unused);
    const Tensor actual =
        run_integer("QGemm", {x, w, s.bias, s.multiplier, s.shift}, attrs, int(random.between(1, 3)));
    ASSERT_TRUE(actual.identical(reference_gemm(x, w, s.bias, s.multiplier, s.shift, output)));
  }
}

TEST(HostInteger, AddEqualsTheReference) {
  const uint64_t seed = 5154;
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    const Shape shape{random.between(1, 3), random.between(1, 300)};
    const Tensor a = random_integers(ElementType::kI8, shape, -128, 127, random);
    const Tensor b = random_integers(ElementType::kI8, shape, -128, 127, random);
    AddParameters p;
    p.multiplier_a = int32_t(random.between(-(1 << 23) + 1, (1 << 23) - 1));
    p.multiplier_b = int32_t(random.between(-(1 << 23) + 1, (1 << 23) - 1));
    p.bias = int32_t(random.next());
    p.shift = int32_t(random.between(0, 31));
    p.output = random_output(random);
    const Attributes attrs = with_output({{"multiplier_a", int64_t{p.multiplier_a}},
                                          {"multiplier_b", int64_t{p.multiplier_b}},
                                          {"bias", int64_t{p.bias}},
                                          {"shift", int64_t{p.shift}}},
                                         p.output);
    ASSERT_TRUE(run_integer("QAdd", {a, b}, attrs, 2).identical(reference_add(a, b, p))) << "seed " << seed;
  }
}

TEST(HostInteger, MultiplyEqualsTheReference) {
  const uint64_t seed = 5156;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    const int rank = int(random.between(1, 4));
    std::vector<int64_t> a_shape, b_shape;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t size = random.between(1, axis + 1 == rank ? 300 : 4);
      a_shape.push_back(random.chance(0.2) ? 1 : size);
      b_shape.push_back(random.chance(0.4) ? 1 : size);
    }
    b_shape.erase(b_shape.begin(), b_shape.begin() + random.between(0, rank - 1));
    const Tensor a = random_integers(ElementType::kI8, Shape(a_shape), -128, 127, random);
    const Tensor b = random_integers(ElementType::kI8, Shape(b_shape), -128, 127, random);
    MultiplyParameters p;
    p.a_zero_point = int32_t(random.between(-128, 127));
    p.b_zero_point = int32_t(random.between(-128, 127));
    p.multiplier = int32_t(random.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random.between(30, 46));
    p.output = random_output(random);
    const Attributes attrs = with_output({{"a_zero_point", int64_t{p.a_zero_point}},
                                          {"b_zero_point", int64_t{p.b_zero_point}},
                                          {"multiplier", int64_t{p.multiplier}},
                                          {"shift", int64_t{p.shift}}},
                                         p.output);
    ASSERT_TRUE(run_integer("QMul", {a, b}, attrs, 2).identical(reference_multiply(a, b, p)))
        << "seed " << seed << " round " << round;
  }
}

TEST(HostInteger, PoolsEqualTheReference) {
  const uint64_t seed = 5155;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " seed " << seed);
    const Tensor x = random_integers(
        ElementType::kI8,
        {random.between(1, 2), random.between(1, 5), random.between(7, 14), random.between(12, 20)}, -128,
        127, random);
    AveragePoolParameters p;
    p.kernel = {random.between(1, 4), random.between(1, 4)};
    p.window = random_window(random, p.kernel[0] - 1, p.kernel[1] - 1);
    p.pad_value = int32_t(random.between(-128, 127));
    p.bias = int32_t(random.between(-5000, 5000));
    p.multiplier = int32_t(random.between(1 << 30, INT32_MAX));
    p.shift = int32_t(random.between(31, 36));
    p.output = random_output(random);
    auto attrs = attributes(p.window, p.output);
    attrs["kernel_shape"] = Ints{p.kernel[0], p.kernel[1]};
    attrs["pad_value"] = int64_t{p.pad_value};
    attrs["bias"] = int64_t{p.bias};
    attrs["multiplier"] = int64_t{p.multiplier};
    attrs["shift"] = int64_t{p.shift};
    ASSERT_TRUE(run_integer("QAveragePool", {x}, attrs, 2).identical(reference_average_pool(x, p)));
    const MaxPoolParameters q{p.window, p.kernel, random.chance(0.5)};
    auto pool = attributes(q.window, {});
    for (const char* unused : {"y_zero_point", "clip_low", "clip_high", "bipolar"}) pool.erase(unused);
    pool["kernel_shape"] = Ints{q.kernel[0], q.kernel[1]};
    pool["ceil_mode"] = int64_t{q.ceil_mode};
    const Tensor most = testing::run_op("MaxPool", {x}, pool)[0];
    ASSERT_TRUE(most.identical(reference_max_pool(x, q)));
    // u8 is i8 shifted by 128.
    Tensor unsigned_x(ElementType::kU8, x.shape());
    for (int64_t i = 0; i < x.size(); ++i) unsigned_x.set_integer(i, x.integer_at(i) + 128);
    const Tensor unsigned_most = testing::run_op("MaxPool", {unsigned_x}, pool)[0];
    for (int64_t i = 0; i < most.size(); ++i)
      ASSERT_EQ(unsigned_most.integer_at(i), most.integer_at(i) + 128);
  }
}

TEST(HostInteger, RequantizeEqualsTheReference) {
  const uint64_t seed = 5156;
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const Tensor x = random_integers(ElementType::kI8, {300}, -128, 127, random);
    const RequantizeParameters p{int32_t(random.next()), int32_t(random.between(1 << 30, INT32_MAX)),
                                 int32_t(random.between(29, 62)), random_output(random)};
    const Attributes attrs = with_output(
        {{"bias", int64_t{p.bias}}, {"multiplier", int64_t{p.multiplier}}, {"shift", int64_t{p.shift}}},
        p.output);
    ASSERT_TRUE(run_integer("QRequantize", {x}, attrs, 1).identical(reference_requantize(x, p)))
        << "seed " << seed;
  }
}

TEST(HostInteger, RefusesWhatTheOperatorsExclude) {
  const Tensor x(ElementType::kI8, {1, 4, 5, 5}), w(ElementType::kI8, {2, 4, 3, 3});
  const Tensor b(ElementType::kI32, {2}), m = Tensor::of<int32_t>({1}, {1}), s(ElementType::kI32, {1});
  const auto conv = [&](const std::vector<Tensor>& inputs, Attributes attrs) {
    return error_text([&] { run_integer("QConv", inputs, attrs, 1); });
  };
  const auto expect_in = [](const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_in("'clip_low' is -129, allowed are -128..127",
            conv({x, w, b, m, s}, {{"clip_low", int64_t{-129}}}));
  expect_in("'clip_high' is -3, allowed are 5..127",
            conv({x, w, b, m, s}, {{"clip_low", int64_t{5}}, {"clip_high", int64_t{-3}}}));
  expect_in("a bipolar output has the clip range 0..1", conv({x, w, b, m, s}, {{"bipolar", int64_t{1}}}));
  expect_in("'pad_value' is 128", conv({x, w, b, m, s}, {{"pad_value", int64_t{128}}}));
  expect_in("3 groups do not fit", conv({x, w, b, m, s}, {{"group", int64_t{3}}}));
  expect_in("multipliers must be at least 1", conv({x, w, b, s, s}, {}));
  expect_in("shifts must be in 0..62 or, to round twice, 96..126",
            conv({x, w, b, m, Tensor::of<int32_t>({1}, {63})}, {}));
  expect_in("the bias must be i32[2], is i32[1]", conv({x, w, s, m, s}, {}));
  expect_in("the multiplier must be i32[2] or i32[1], is i32[3]",
            conv({x, w, b, Tensor(ElementType::kI32, {3}), s}, {}));
  expect_in("element type u8 is not supported", conv({x.cast(ElementType::kU8), w, b, m, s}, {}));
  expect_in("element type i32 is not supported", conv({x, w.cast(ElementType::kI32), b, m, s}, {}));
  expect_in(
      "one or two spatial axes, this one has 3",
      conv({Tensor(ElementType::kI8, {1, 4, 5, 5, 5}), Tensor(ElementType::kI8, {2, 4, 1, 1, 1}), b, m, s},
           {}));
  expect_in("GiB per image", conv({x, Tensor(ElementType::kI8, {2, 4, 2, 2}), b, m, s},
                                  {{"pads", Ints{1 << 29, 1 << 29, 0, 0}},
                                   {"dilations", Ints{1 << 29, 1 << 29}},
                                   {"strides", Ints{8, 8}}}));
  expect_in("1 groups do not fit",
            conv({x, Tensor(ElementType::kI8, {0, 4, 3, 3}), Tensor(ElementType::kI32, {0}), m, s}, {}));
  expect_in("strides 100000x100000 are too large", error_text([&] {
              run_integer("QConvTranspose", {x, Tensor(ElementType::kI8, {4, 2, 1, 1}), b, m, s},
                          {{"strides", Ints{100000, 100000}}}, 1);
            }));
  // Kernels that reach far into the padding are answered at once.
  const int64_t far = int64_t{1} << 28;
  EXPECT_EQ(run_integer("QAveragePool", {x},
                        {{"kernel_shape", Ints{far, far}}, {"pads", Ints{far - 1, far - 1, 0, 0}}}, 1)
                .shape(),
            (Shape{1, 4, 5, 5}));
  expect_in("must be [N,K] and [O,K]", error_text([&] {
              run_integer("QGemm",
                          {Tensor(ElementType::kI8, {1, 3}), Tensor(ElementType::kI8, {2, 4}), b, m, s}, {},
                          1);
            }));
  expect_in("the operands have shapes", error_text([&] { run_integer("QAdd", {x, w}, {}, 1); }));
}

}  // namespace
}  // namespace tilewright
