// 16-bit activations with 8-bit weights: what TFLite's runtime gave for a network of most operators (its
// built-in kernels, which XNNPACK leaves such networks to), and its rules operator by operator.
#include <gtest/gtest.h>

#include "int16_network_testing.h"
#include "nhwc_testing.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

// Outputs of the runtime (as WebAssembly) for the inputs of seeds 1 to 5, in steps of
// kOutputScale.
constexpr int64_t kRuntime[5][Int16Network::kClasses] = {
    {4078, 1438, -6122, 14146, -310, 2064, 11402, 7078, 2193, 5063},
    {-2690, -328, -10724, 2490, 1529, 8153, 3026, 317, -2197, 13749},
    {6459, -8123, -3466, 4093, 6917, -2275, -2794, 6686, 7462, 8439},
    {8261, 842, -2635, 9695, 10863, 660, 3506, 6467, 7285, 7547},
    {9858, -7144, -5565, 7506, 8983, 3487, -783, 8282, 6479, 6548},
};

TEST(TfliteInt16, TheNetworkHasTheBitsOfTheRuntime) {
  const Graph graph = parse_tflite(Int16Network().build().build());
  IntegerizeReport report;
  const Graph integer = integerize(optimize(graph), &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  for (const Node& node : integer.nodes) {
    const bool covered = node.domain == kTilewrightDomain || node.is("Reshape") || node.is("Flatten") ||
                         node.is("Transpose") || node.is("QuantizeLinear") || node.is("DequantizeLinear") ||
                         node.is("Clip");
    EXPECT_TRUE(covered) << node.op;
  }
  int in_float = 0;
  for (uint64_t seed = 1; seed <= std::size(kRuntime); ++seed) {
    const Tensor x = Int16Network::input(seed);
    const Tensor y = run(integer, {x})[0], real = run(graph, {x})[0];
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t wanted = kRuntime[seed - 1][i];
      EXPECT_EQ(std::lround(y.number_at(i) / double(Int16Network::kOutputScale)), wanted)
          << seed << ": " << i;
      in_float += std::lround(real.number_at(i) / double(Int16Network::kOutputScale)) != wanted;
    }
  }
  EXPECT_GT(in_float, 40);  // of 50: the numbers above tell rules apart
}

struct OneLayer {
  TfliteBuilder model;
  float x_scale = 0, y_scale = 0;
  std::vector<float> w_scales;
  Tensor weights, bias;
};

// A dense layer with weights of one scale and a bias of `type` (kF32: none).
OneLayer dense_layer(Random& random, int64_t depth, int64_t outputs, ElementType type, int64_t most_bias) {
  OneLayer layer;
  layer.x_scale = std::ldexp(float(random.between(600, 1000)), -23);
  layer.w_scales = {std::ldexp(float(random.between(200, 1000)), -17)};
  layer.y_scale =
      layer.x_scale * layer.w_scales[0] * std::sqrt(float(depth)) * float(random.between(60, 200));
  layer.weights = Tensor(ElementType::kI8, {outputs, depth});
  for (int64_t i = 0; i < layer.weights.size(); ++i) layer.weights.set_integer(i, random.between(-127, 127));
  TfliteBuilder& model = layer.model;
  const int x = model.input("x", {1, int32_t(depth)}, ElementType::kI16);
  const int y = model.output("y", {1, int32_t(outputs)}, ElementType::kI16);
  const int w = model.constant("w", layer.weights);
  model.quantize(x, {layer.x_scale}, {0}).quantize(y, {layer.y_scale}, {0}).quantize(w, layer.w_scales, {0});
  std::vector<int> inputs{x, w, -1};
  if (type != ElementType::kF32) {
    layer.bias = Tensor(type, {outputs});
    for (int64_t o = 0; o < outputs; ++o) layer.bias.set_integer(o, random.between(-most_bias, most_bias));
    inputs[2] = model.constant("b", layer.bias);
    model.quantize(inputs[2], {layer.x_scale * layer.w_scales[0]}, {0});
  }
  model.op(Op::BuiltinOperator_FULLY_CONNECTED, inputs, {y}, schema::FullyConnectedOptionsT());
  return layer;
}

// The kernels' scale of such a layer: 31 bits and what they are to be shifted by.
std::pair<int64_t, int> kernel_scale(const OneLayer& layer) {
  const double scale = double(layer.x_scale * layer.w_scales[0]) / double(layer.y_scale);
  int exponent = 0;
  const int64_t multiplier = std::llround(std::ldexp(std::frexp(scale, &exponent), 31));
  return {multiplier, exponent};
}

// The rules written out: a 64-bit bias keeps 15 bits of the multiplier, other layers all 31.
void check_dense(Random& random, int64_t depth, ElementType type, int64_t most_bias, bool wide_sums) {
  constexpr int64_t kOutputs = 12;
  OneLayer layer = dense_layer(random, depth, kOutputs, type, most_bias);
  const Graph integer = integerize(optimize(parse_tflite(layer.model.build())));
  const auto product = std::find_if(integer.nodes.begin(), integer.nodes.end(),
                                    [](const Node& node) { return node.op == "QGemm"; });
  ASSERT_NE(product, integer.nodes.end());
  EXPECT_EQ(integer.value(product->input(2)).type, wide_sums ? ElementType::kI64 : ElementType::kI32);
  Tensor x(ElementType::kI16, {1, depth});
  for (int64_t i = 0; i < depth; ++i)
    x.set_integer(i,
                  random.chance(0.1) ? (random.chance(0.5) ? -32768 : 32767) : random.between(-32768, 32767));
  const Tensor y = run(integer, {x})[0];
  const auto [multiplier, exponent] = kernel_scale(layer);
  for (int64_t o = 0; o < kOutputs; ++o) {
    int64_t sum = layer.bias.size() == 0 ? 0 : layer.bias.integer_at(o);
    for (int64_t k = 0; k < depth; ++k) sum += x.integer_at(k) * layer.weights.integer_at(o * depth + k);
    const bool reduced = type == ElementType::kI64;
    const int64_t kept = reduced ? std::min<int64_t>((multiplier + (1 << 15)) >> 16, 0x7FFF) : multiplier;
    const int shift = (reduced ? 15 : 31) - exponent;
    EXPECT_EQ(y.integer_at(o), clip((sum * kept + (int64_t{1} << (shift - 1))) >> shift, -32768, 32767)) << o;
  }
}

TEST(TfliteInt16, BiasesSayHowManyBitsTheMultiplierHas) {
  Random random(61);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const int64_t depth = random.between(4, 300);
    check_dense(random, depth, ElementType::kI64, 1 << 24, false);
    check_dense(random, depth, ElementType::kI32, 1 << 24, false);
    check_dense(random, depth, ElementType::kF32, 0, false);
  }
}

// Sums that 32 bits do not hold, by their number of products or by their bias.
TEST(TfliteInt16, SumsThatLeave32BitsHave64) {
  Random random(62);
  for (int trial = 0; trial < 10; ++trial) {
    SCOPED_TRACE(trial);
    check_dense(random, 2000, ElementType::kI64, 1 << 24, true);
    check_dense(random, 20, ElementType::kI64, int64_t{1} << 34, true);
  }
}

// ADD and SUB, literally: both operands times 2^15, rescaled to twice the larger scale, added, rescaled.
int64_t rescaled_sum(int64_t a, int64_t b, float a_scale, float b_scale, float y_scale, bool subtract) {
  const auto high_product = [](int64_t v, int64_t m) { return (v * m + (int64_t{1} << 30)) >> 31; };
  const auto rescale = [&](int64_t v, double scale) {
    int exponent = 0;
    const int64_t multiplier = std::llround(std::ldexp(std::frexp(scale, &exponent), 31));
    const int64_t first = high_product(v, multiplier);
    if (exponent == 0) return first;
    const int64_t half = int64_t{1} << (-exponent - 1);
    return first >= 0 ? (first + half) >> -exponent : -((-first + half) >> -exponent);
  };
  const double unit = 2 * double(std::max(a_scale, b_scale));
  const int64_t x = rescale(a * 32768, double(a_scale) / unit),
                y = rescale(b * 32768, double(b_scale) / unit);
  return clip(rescale(subtract ? x - y : x + y, unit / (32768 * double(y_scale))), -32768, 32767);
}

TEST(TfliteInt16, SumsAndDifferencesHaveSixRoundings) {
  Random random(63);
  constexpr int32_t kCount = 2000;
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const bool subtract = trial % 2 == 1;
    std::vector<float> scales;
    for (int i = 0; i < 3; ++i) scales.push_back(std::ldexp(float(random.between(300, 1000)), -23));
    TfliteBuilder model;
    const int a = model.input("a", {1, kCount}, ElementType::kI16);
    const int b = model.input("b", {1, kCount}, ElementType::kI16);
    const int y = model.output("y", {1, kCount}, ElementType::kI16);
    model.quantize(a, {scales[0]}, {0}).quantize(b, {scales[1]}, {0}).quantize(y, {scales[2]}, {0});
    if (subtract) {
      model.op(Op::BuiltinOperator_SUB, {a, b}, {y}, schema::SubOptionsT());
    } else {
      model.op(Op::BuiltinOperator_ADD, {a, b}, {y}, schema::AddOptionsT());
    }
    const Graph integer = integerize(optimize(parse_tflite(model.build())));
    ASSERT_EQ(integer.nodes.size(), 1u);
    ASSERT_EQ(integer.nodes[0].op, "QRescaledAdd");
    Tensor left(ElementType::kI16, {1, kCount}), right(ElementType::kI16, {1, kCount});
    for (int64_t i = 0; i < kCount; ++i) {
      left.set_integer(i, i < 4 ? (i % 2 == 0 ? -32768 : 32767) : random.between(-32768, 32767));
      right.set_integer(i, i < 4 ? (i / 2 == 0 ? -32768 : 32767) : random.between(-32768, 32767));
    }
    const Tensor sum = run(integer, {left, right})[0];
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(sum.integer_at(i), rescaled_sum(left.integer_at(i), right.integer_at(i), scales[0], scales[1],
                                                scales[2], subtract))
          << left.integer_at(i) << " " << right.integer_at(i);
    }
  }
}

// The sum divided by the number of elements, halves away from zero.
TEST(TfliteInt16, AveragesAreQuotients) {
  Random random(64);
  for (const auto& [height, width] : {std::pair{1, 2}, {2, 2}, {3, 3}, {5, 4}, {7, 7}, {16, 24}}) {
    SCOPED_TRACE(height * width);
    TfliteBuilder model;
    const std::vector<int32_t> shape{1, 2 * height, width, 5};
    const int x = model.input("x", shape, ElementType::kI16),
              y = model.output("y", {1, 2, 1, 5}, ElementType::kI16);
    model.quantize(x, {1e-3F}, {0}).quantize(y, {1e-3F}, {0});
    schema::Pool2DOptionsT options;
    options.padding = schema::Padding_VALID;
    options.stride_h = options.filter_height = height;
    options.stride_w = options.filter_width = width;
    model.op(Op::BuiltinOperator_AVERAGE_POOL_2D, {x}, {y}, options);
    const Graph integer = integerize(optimize(parse_tflite(model.build())));
    for (int trial = 0; trial < 200; ++trial) {
      Tensor in(ElementType::kI16, {1, 2 * height, width, 5});
      // Small numbers have halves among their averages.
      const int64_t most = trial % 2 == 0 ? 32767 : 3;
      for (int64_t i = 0; i < in.size(); ++i) in.set_integer(i, random.between(-most - 1, most));
      const Tensor out = run(integer, {in})[0];
      for (int64_t i = 0; i < out.size(); ++i) {
        int64_t sum = 0;
        for (int64_t k = 0; k < height * width; ++k)
          sum += in.integer_at((i / 5 * height * width + k) * 5 + i % 5);
        const int64_t count = height * width;
        ASSERT_EQ(out.integer_at(i), sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count) << sum;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
