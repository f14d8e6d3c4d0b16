// The quantisers of QONNX files as standard operators: what they become and what they compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/frontend/model_builder_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/opset/qonnx_converters.h"
#include "tilewright/graph/value_range.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

using namespace onnx_testing;
using Ops = std::vector<std::string>;
using Floats = std::vector<float>;

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) result.push_back(node.op);
  return result;
}

// "x" f32[8] through a quantiser with these constants.
ModelText quantizer(const std::string& op, const std::vector<std::pair<std::string, float>>& constants,
                    const std::string& attributes = "",
                    const std::string& domain = "qonnx.custom_op.general") {
  ModelText model;
  model.input("x", "8").output("y");
  std::vector<std::string> inputs{"x"};
  for (const auto& [name, value] : constants) {
    model.initializer(floats(name, {}, {value}));
    inputs.push_back(name);
  }
  model.node("n", op, inputs, {"y"}, attributes, domain);
  return model;
}

const Tensor kInput = Tensor::of<float>({8}, {-9, -0.75f, -0.25f, 0, 0.25f, 0.75f, 1.25f, 9});

Floats values(const ModelText& model) { return run(parse_onnx(model.build()), {kInput})[0].to_floats(); }

std::string error_of(const ModelText& model) {
  try {
    parse_onnx(model.build());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Qonnx, BipolarQuantIsASignTimesItsScale) {
  const ModelText model = quantizer("BipolarQuant", {{"s", 0.5f}}, "", "onnx.brevitas");
  EXPECT_EQ(ops(parse_onnx(model.build())), (Ops{"GreaterOrEqual", "Where"}));
  EXPECT_EQ(values(model), (Floats{-0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}));
}

TEST(Qonnx, QuantRoundsHalfToEvenAndClipsToItsLevels) {
  const std::vector<std::pair<std::string, float>> two_bits{{"s", 0.5f}, {"z", 0}, {"b", 2}};
  const ModelText model = quantizer("Quant", two_bits, int_attribute("signed", 1));
  EXPECT_EQ(ops(parse_onnx(model.build())), (Ops{"QuantizeLinear", "Clip", "DequantizeLinear"}));
  EXPECT_EQ(values(model), (Floats{-1, -1, 0, 0, 0, 0.5f, 0.5f, 0.5f}));
  const ModelText narrow =
      quantizer("Quant", two_bits, int_attribute("signed", 1) + int_attribute("narrow", 1));
  EXPECT_EQ(values(narrow), (Floats{-0.5f, -0.5f, 0, 0, 0, 0.5f, 0.5f, 0.5f}));
  const ModelText positive = quantizer("Quant", two_bits, int_attribute("signed", 0));
  EXPECT_EQ(values(positive), (Floats{0, 0, 0, 0, 0, 1, 1, 1.5f}));
  // Unsigned numbers are stored centred: as wide as signed ones.
  const Graph centred = parse_onnx(positive.build());
  EXPECT_EQ(value_range(centred, centred.nodes[1].outputs[0]), (ValueRange{-2, 1, false}));
  const ModelText bit = quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 1}}, int_attribute("signed", 0));
  EXPECT_EQ(values(bit), (Floats{0, 0, 0, 0, 0, 0.5f, 0.5f, 0.5f}));
  const Graph single = parse_onnx(bit.build());
  EXPECT_EQ(value_range(single, single.nodes[1].outputs[0]), (ValueRange{0, 1, false}));
  const ModelText eight = quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 8}}, int_attribute("signed", 1));
  EXPECT_EQ(ops(parse_onnx(eight.build())), (Ops{"QuantizeLinear", "DequantizeLinear"}));
}

// The zero point is added before rounding: halves go to even levels, whatever its own parity.
TEST(Qonnx, HalvesGoToEvenLevelsWithEveryZeroPoint) {
  const std::vector<std::pair<std::string, float>> constants{{"s", 1}, {"z", 1}, {"b", 4}};
  const std::string positive = int_attribute("signed", 0);
  const Tensor x = Tensor::of<float>({8}, {0.5f, 1.5f, 2.5f, 3.5f, -0.5f, -1.5f, 20, 0.25f});
  const Floats expected = {1, 1, 3, 3, -1, -1, 14, 0};
  EXPECT_EQ(run(parse_onnx(quantizer("Quant", constants, positive).build()), {x})[0].to_floats(), expected);
  ModelText weights;
  weights.input("x", "8").output("y").initializer(floats("w", {8}, x.to_floats()));
  for (const auto& [name, value] : constants) weights.initializer(floats(name, {}, {value}));
  weights.node("n", "Quant", {"w", "s", "z", "b"}, {"q"}, positive, "onnx.brevitas");
  weights.node("a", "Add", {"x", "q"}, {"y"});
  EXPECT_EQ(run(parse_onnx(weights.build()), {Tensor(ElementType::kF32, {8})})[0].to_floats(), expected);
}

// Weights: numbers where they are ternary, integers with a scale otherwise.
TEST(Qonnx, WeightsAreRoundedWhenRead) {
  const auto weights = [](const std::string& op, const std::vector<std::pair<std::string, float>>& constants,
                          const std::string& attributes) {
    ModelText model;
    model.input("x", "4").output("y").initializer(floats("w", {4}, {-0.7f, 0.2f, 0, 3}));
    std::vector<std::string> inputs{"w"};
    for (const auto& [name, value] : constants) {
      model.initializer(floats(name, {}, {value}));
      inputs.push_back(name);
    }
    model.node("n", op, inputs, {"q"}, attributes, "onnx.brevitas").node("a", "Add", {"x", "q"}, {"y"});
    return parse_onnx(model.build());
  };
  const Tensor zero(ElementType::kF32, {4});
  const Graph bipolar = weights("BipolarQuant", {{"s", 2}}, "");
  EXPECT_EQ(ops(bipolar), (Ops{"Identity", "Add"}));
  EXPECT_EQ(run(bipolar, {zero})[0].to_floats(), (Floats{-2, 2, 2, 2}));
  const std::string narrow = int_attribute("signed", 1) + int_attribute("narrow", 1);
  const Graph ternary = weights("Quant", {{"s", 1}, {"z", 0}, {"b", 2}}, narrow);
  EXPECT_EQ(ops(ternary), (Ops{"Identity", "Add"}));
  EXPECT_EQ(run(ternary, {zero})[0].to_floats(), (Floats{-1, 0, 0, 1}));
  const Graph four = weights("Quant", {{"s", 0.25f}, {"z", 0}, {"b", 4}}, narrow);
  EXPECT_EQ(ops(four), (Ops{"DequantizeLinear", "Add"}));
  EXPECT_EQ(run(four, {zero})[0].to_floats(), (Floats{-0.75f, 0.25f, 0, 1.75f}));
}

TEST(Qonnx, WeightsMayHaveAScalePerChannel) {
  ModelText model;
  model.input("x", "2x3").output("y").initializer(floats("w", {2, 3}, {-0.7f, 0.2f, 3, 1, -2, 9}));
  model.initializer(floats("s", {2, 1}, {0.5f, 1}))
      .initializer(floats("z", {}, {0}))
      .initializer(floats("b", {}, {4}));
  model.node("n", "Quant", {"w", "s", "z", "b"}, {"q"}, int_attribute("signed", 1), "onnx.brevitas");
  model.node("a", "Add", {"x", "q"}, {"y"});
  EXPECT_EQ(run(parse_onnx(model.build()), {Tensor(ElementType::kF32, {2, 3})})[0].to_floats(),
            (Floats{-0.5f, 0, 3, 1, -2, 7}));
}

// One number under the type that an exporter may have chosen for it: f32, i64, i32 or i8.
std::string number_of_type(const std::string& name, int kind, int64_t value) {
  switch (kind) {
    case 0:
      return floats(name, {}, {float(value)});
    case 1:
      return tensor(name, 7, {}, raw<int64_t>({value}));
    case 2:
      return tensor(name, 6, {}, raw<int32_t>({int32_t(value)}));
    default:
      return tensor(name, 3, {}, raw<int8_t>({int8_t(value)}));
  }
}

TEST(Qonnx, BiasesOfSixteenAndThirtyTwoBits) {
  const auto bias = [](int64_t bits, const std::string& attributes) {
    ModelText model;
    model.input("x", "4").output("y").initializer(floats("w", {4}, {-70000, 0.75f, 1000.25f, 70000}));
    model.initializer(floats("s", {}, {0.5f})).initializer(number_of_type("z", 1, 0));
    model.initializer(number_of_type("b", 1, bits))
        .node("n", "Quant", {"w", "s", "z", "b"}, {"q"}, attributes);
    return parse_onnx(model.node("a", "Add", {"x", "q"}, {"y"}).build());
  };
  const Tensor zero(ElementType::kF32, {4});
  const Graph sixteen = bias(16, int_attribute("signed", 1));
  EXPECT_EQ(ops(sixteen), (Ops{"DequantizeLinear", "Add"}));
  EXPECT_EQ(run(sixteen, {zero})[0].to_floats(), (Floats{-16384, 1, 1000, 16383.5f}));
  EXPECT_EQ(run(bias(16, int_attribute("signed", 1) + int_attribute("narrow", 1)), {zero})[0].to_floats(),
            (Floats{-16383.5f, 1, 1000, 16383.5f}));
  EXPECT_EQ(run(bias(32, ""), {zero})[0].to_floats(), (Floats{-70000, 1, 1000, 70000}));
  EXPECT_EQ(run(bias(16, int_attribute("signed", 0)), {zero})[0].to_floats(), (Floats{0, 1, 1000, 32767.5f}));
}

// Quant of activations and constants as any exporter writes it against its definition,
// scale * (clamp(round(x / scale + zero), low, high) - zero), halves to the even level: all widths, signs and
// ranges, zero points, types of the parameters, domains, weights that are stored as integers, scales per
// channel, negative scales.
TEST(QonnxClass, QuantOfEveryExporterIsItsDefinition) {
  Random random(test_seed());
  const int64_t cases = test_cases(1500);
  RecordProperty("cases", int(cases));
  const std::vector<std::string> domains{"", "onnx.brevitas", "qonnx.custom_op.general",
                                         "finn.custom_op.general"};
  for (int64_t i = 0; i < cases; ++i) {
    const bool constant = random.chance(0.6), stored = constant && random.chance(0.3),
               is_signed = random.chance(0.6);
    const int64_t bits = random.between(is_signed ? 2 : 1, constant ? random.chance(0.5) ? 24 : 8 : 8);
    const bool narrow = random.chance(0.4);
    const double low = is_signed ? -std::ldexp(1, int(bits) - 1) + narrow : 0;
    const double high = is_signed ? std::ldexp(1, int(bits) - 1) - 1 : std::ldexp(1, int(bits)) - 1 - narrow;
    const auto zero =
        bits >= 2 && random.chance(0.4) ? random.between(int64_t(low), int64_t(std::min(high, 127.0))) : 0;
    const int zero_type = int(random.between(0, zero >= -128 ? 3 : 2));
    const bool channels = constant && random.chance(0.4);
    std::vector<float> x(8), scales(channels ? 2 : 1);
    std::vector<int8_t> integers(8);
    for (float& scale : scales)
      scale = float(std::ldexp(double(random.between(1, 100)), int(random.between(-9, 0))));
    // An activation may count from the other end; the largest integers of a narrow one then leave 8 bits.
    if (!constant && random.chance(0.3) && (!narrow || zero == 0)) scales[0] = -scales[0];
    for (size_t e = 0; e < 8; ++e) {
      integers[e] = int8_t(random.between(-128, 127));
      const double level =
          double(random.between(-600, 600)) / (random.chance(0.5) ? 2 : 7) * (bits > 8 ? 1000 : 1);
      x[e] = stored ? float(integers[e]) : float(level * double(scales[0]));
    }
    ModelText model;
    model.input("x", "2x4").output("y");
    if (stored) model.initializer(tensor("w", 3, {2, 4}, raw(integers)));
    if (constant && !stored) model.initializer(floats("w", {2, 4}, x));
    model.initializer(floats("s", channels ? std::vector<int64_t>{2, 1} : std::vector<int64_t>{}, scales));
    model.initializer(number_of_type("z", zero_type, zero))
        .initializer(number_of_type("b", int(random.between(0, 3)), bits));
    model.node("n", "Quant", {constant ? "w" : "x", "s", "z", "b"}, {"q"},
               int_attribute("signed", is_signed) + int_attribute("narrow", narrow),
               domains[size_t(random.between(0, 3))]);
    model.node("a", "Add", {"q", "nothing"}, {"y"}).initializer(floats("nothing", {}, {0}));
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    Tensor input(ElementType::kF32, {2, 4});
    std::copy(x.begin(), x.end(), input.mutable_data<float>().begin());
    const Floats found = run(parse_onnx(model.build()), {input})[0].to_floats();
    for (size_t e = 0; e < 8; ++e) {
      const double scale = scales[channels ? e / 4 : 0];
      const double level =
          std::clamp(
              std::nearbyint((constant ? double(x[e]) / scale : double(x[e] / float(scale))) + double(zero)),
              low, high) -
          double(zero);
      ASSERT_EQ(found[e], float(level) * float(scale))
          << "x " << x[e] << ", scale " << scale << ", bits " << bits;
    }
  }
}

TEST(Qonnx, WhatIsNotCoveredIsNamed) {
  const auto expect = [](const ModelText& model, const std::string& part) {
    const std::string message = error_of(model);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 2}}, string_attribute("rounding_mode", "FLOOR")),
         "node 'n' (Quant): rounds by 'FLOOR'; only ROUND is supported");
  expect(quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 1}}), "has 1 bits; 2 to 8 are supported");
  expect(quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 16}}),
         "has 16 bits; 2 to 8 are supported, for constants up");
  expect(quantizer("Quant", {{"s", 0}, {"z", 0}, {"b", 2}}), "its scale is 0");
  expect(quantizer("Quant", {{"s", 1}, {"z", 0.5f}, {"b", 2}}), "its zero point is 0.5");
  expect(quantizer("Quant", {{"s", 1}}), "its bit width is not one constant number");
  expect(quantizer("BipolarQuant", {{"s", -1}}), "its scale is -1");
  const auto weights = [](const std::string& scales) {
    ModelText model;
    model.input("x", "2x3")
        .output("y")
        .initializer(floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}))
        .initializer(scales);
    model.initializer(floats("z", {}, {0})).initializer(floats("b", {}, {4}));
    model.node("n", "Quant", {"w", "s", "z", "b"}, {"q"}, "", "onnx.brevitas")
        .node("a", "Add", {"x", "q"}, {"y"});
    return model;
  };
  expect(weights(floats("s", {2, 3}, {1, 1, 1, 1, 1, 1})),
         "has scales 2x3 for weights 2x3; one scale, or one per");
  expect(weights(floats("s", {2, 1}, {1, -1})), "its scale is -1");
  expect(quantizer("Trunc", {{"s", 1}}), "operator of domain 'qonnx.custom_op.general' is not supported");
}

}  // namespace
}  // namespace tilewright
