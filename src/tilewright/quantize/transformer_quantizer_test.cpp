// Random transformer blocks through the quantiser: everything but a last softmax becomes integer, and the
// results stay close to those of the float network.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_seed_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/float_graph_testing.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/mixed_precision.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {
namespace {

using Integers = std::vector<int64_t>;

// x + heads of attention over layer_norm(x), then x + two dense layers over rms_norm(x). Of a language:
// queries and keys are turned by their places, and a mask hides what comes later.
class BlockBuilder {
 public:
  explicit BlockBuilder(uint64_t seed, bool language = false)
      : random_(seed * 4001 + 9), language_(language) {
    g_.random = random_;
    heads_ = random_.between(1, 3);
    width_ = heads_ * (language ? 2 * random_.between(2, 5) : random_.between(4, 9));
    tokens_ = random_.between(3, 14);
  }

  FloatGraph build() {
    const ValueId x = g_.graph.add_input("x", ElementType::kF32, Shape{1, tokens_, width_});
    const ValueId attended = g_.node("Add", {x, attention(norm("LayerNormalization", x))}, image());
    const ValueId y =
        g_.node("Add", {attended, dense(hidden(norm("RMSNormalization", attended)), width_)}, image());
    g_.graph.outputs = {g_.node("Softmax", {dense(norm("LayerNormalization", y), 5)}, Shape{1, tokens_, 5},
                                {{"axis", int64_t{-1}}})};
    return std::move(g_);
  }
  Shape image() const { return {1, tokens_, width_}; }

 private:
  const Shape& shape(ValueId v) const { return g_.graph.value(v).shape; }
  ValueId dense(ValueId x, int64_t outputs) {
    const int64_t inputs = shape(x)[2];
    const double most = 1.5 / std::sqrt(double(inputs));
    return g_.node("MatMul", {x, g_.graph.add_constant("w", g_.numbers({inputs, outputs}, -most, most))},
                   Shape{1, tokens_, outputs});
  }
  ValueId norm(const std::string& op, ValueId x) {
    std::vector<ValueId> inputs{x, g_.graph.add_constant("gamma", g_.numbers({width_}, 0.5, 1.5))};
    if (op[0] == 'L') inputs.push_back(g_.graph.add_constant("beta", g_.numbers({width_}, -0.2, 0.2)));
    return g_.node(op, inputs, image(), {{"axis", int64_t{-1}}});
  }
  ValueId hidden(ValueId x) {
    const ValueId h = dense(x, 2 * width_);
    return g_.node("Mul", {h, g_.node("Sigmoid", {h}, shape(h))}, shape(h));
  }
  ValueId list(const Integers& values) {
    return g_.graph.add_constant("shape",
                                 Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
  }
  // [1, tokens, width] as [1, heads, tokens, width / heads], or, for keys, with the last two axes exchanged.
  ValueId split(ValueId x, bool keys) {
    const int64_t depth = width_ / heads_;
    const Shape parts{1, tokens_, heads_, depth};
    const ValueId y = g_.node("Reshape", {x, list({1, tokens_, heads_, depth})}, parts);
    if (language_ && keys)
      return g_.node("Transpose", {turned(y)}, {1, heads_, depth, tokens_}, {{"perm", Integers{0, 1, 3, 2}}});
    return keys ? g_.node("Transpose", {y}, {1, heads_, depth, tokens_}, {{"perm", Integers{0, 2, 3, 1}}})
                : g_.node("Transpose", {y}, {1, heads_, tokens_, depth}, {{"perm", Integers{0, 2, 1, 3}}});
  }
  // [1, tokens, heads, depth] by heads, turned.
  ValueId turned(ValueId parts) {
    const int64_t depth = width_ / heads_;
    const Shape by_head{1, heads_, tokens_, depth};
    Tensor cosines(ElementType::kF32, {tokens_, depth / 2}), sines = cosines;
    for (int64_t i = 0; i < cosines.size(); ++i) {
      const double angle = double(2 * i / depth) * std::pow(0.3, double(i % (depth / 2)));
      cosines.set_number(i, std::cos(angle));
      sines.set_number(i, std::sin(angle));
    }
    const ValueId heads = g_.node("Transpose", {parts}, by_head, {{"perm", Integers{0, 2, 1, 3}}});
    return g_.node("RotaryEmbedding",
                   {heads, g_.graph.add_constant("cosines", cosines), g_.graph.add_constant("sines", sines)},
                   by_head);
  }
  ValueId masked(ValueId scores) {
    Tensor mask(ElementType::kF32, {tokens_, tokens_});
    for (int64_t i = 0; i < mask.size(); ++i)
      if (i % tokens_ > i / tokens_) mask.set_number(i, -1e9);
    return g_.node("Add", {scores, g_.graph.add_constant("mask", mask)}, shape(scores));
  }
  ValueId attention(ValueId x) {
    const int64_t depth = width_ / heads_;
    const Shape square{1, heads_, tokens_, tokens_};
    const ValueId q_rows = dense(x, width_);
    const ValueId q = language_ ? turned(g_.node("Reshape", {q_rows, list({1, tokens_, heads_, depth})},
                                                 {1, tokens_, heads_, depth}))
                                : split(q_rows, false);
    const ValueId k = split(dense(x, width_), true), v = split(dense(x, width_), false);
    const ValueId factor =
        g_.graph.add_constant("factor", Tensor::scalar(float(1 / std::sqrt(double(depth)))));
    ValueId scores = g_.node("Mul", {g_.node("MatMul", {q, k}, square), factor}, square);
    if (language_) scores = masked(scores);
    const ValueId weights = g_.node("Softmax", {scores}, square, {{"axis", int64_t{-1}}});
    const ValueId mixed = g_.node("MatMul", {weights, v}, {1, heads_, tokens_, depth});
    const ValueId by_token =
        g_.node("Transpose", {mixed}, {1, tokens_, heads_, depth}, {{"perm", Integers{0, 2, 1, 3}}});
    return dense(g_.node("Reshape", {by_token, list({1, tokens_, width_})}, image()), width_);
  }

  Random random_;
  const bool language_;
  FloatGraph g_;
  int64_t heads_ = 1, width_ = 4, tokens_ = 3;
};

int nodes_of(const Graph& graph, const char* op) {
  return int(std::ranges::count_if(graph.nodes, [&](const Node& node) { return node.op == op; }));
}

double ratio_db(const Tensor& exact, const Tensor& got) {
  double signal = 0, noise = 1e-12;
  for (int64_t i = 0; i < exact.size(); ++i) {
    signal += exact.number_at(i) * exact.number_at(i);
    noise += std::pow(exact.number_at(i) - got.number_at(i), 2);
  }
  return 10 * std::log10(signal / noise);
}

TEST(TransformerQuantizer, BlocksBecomeInteger) {
  for (int64_t i = 0; i < test_cases(12); ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const bool language = i % 2 == 1;
    BlockBuilder builder(seed, language);
    FloatGraph g = builder.build();
    Shape many = builder.image();
    const Tensor input = g.numbers(many, -2, 2);
    const std::vector<Tensor> samples{g.numbers({8, many[1], many[2]}, -2, 2)};
    QuantizeOptions options;
    options.calibration = CalibrationMethod::kMinMax;
    IntegerizeReport report;
    const Graph quantized = quantize(g.graph, samples, options), integer = integerize(quantized, &report);
    EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
    EXPECT_EQ(nodes_of(integer, "QMatMul"), 2);
    EXPECT_EQ(nodes_of(integer, "QSoftmax"), 1);
    EXPECT_EQ(nodes_of(integer, "QLayerNorm"), 3);
    EXPECT_EQ(nodes_of(integer, "QRotary"), language ? 2 : 0);
    EXPECT_EQ(nodes_of(integer, "Add") + nodes_of(integer, "RotaryEmbedding"), 0);
    EXPECT_EQ(nodes_of(integer, "Softmax"), 1) << "probabilities for the user stay in float";
    const Tensor exact = run(g.graph, {input})[0];
    const double in_float = ratio_db(exact, run(quantized, {input})[0]),
                 got = ratio_db(exact, run(integer, {input})[0]);
    EXPECT_GT(got, std::min(in_float, 25.0) - 3) << "with the same integers, computed in float: " << in_float;
  }
}

// What has no integer form in 16 bits is not given any.
TEST(TransformerQuantizer, WideActivationsStayInteger) {
  BlockBuilder builder(test_seed());
  FloatGraph g = builder.build();
  const std::vector<Tensor> samples{g.numbers({4, builder.image()[1], builder.image()[2]}, -2, 2)};
  MixedBits bits;
  bits.target_db = 90;  // more than 16 bits reach: as many as possible
  bits.wide_activations = true;
  MixedReport told;
  const Graph wide = quantize_mixed(g.graph, samples, {}, bits, nullptr, &told);
  IntegerizeReport report;
  const Graph integer = integerize(wide, &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  EXPECT_EQ(nodes_of(integer, "QSoftmax"), 1);
  EXPECT_TRUE(std::ranges::any_of(told.activations, [](const auto& activation) { return activation.wide; }));
}

}  // namespace
}  // namespace tilewright
