// The quantisers of QONNX files as standard operators: what they become and what they compute.
#include <gtest/gtest.h>

#include "tilewright/frontend/onnx/model_builder_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/qonnx_converters.h"
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

TEST(Qonnx, WhatIsNotCoveredIsNamed) {
  const auto expect = [](const ModelText& model, const std::string& part) {
    const std::string message = error_of(model);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 2}}, string_attribute("rounding_mode", "FLOOR")),
         "node 'n' (Quant): rounds by 'FLOOR'; only ROUND is covered");
  expect(quantizer("Quant", {{"s", 0.5f}, {"z", 0}, {"b", 1}}), "has 1 bits; 2 to 8 are covered");
  expect(quantizer("Quant", {{"s", 0}, {"z", 0}, {"b", 2}}), "its scale is 0");
  expect(quantizer("Quant", {{"s", 1}, {"z", 0.5f}, {"b", 2}}), "its zero point is 0.5");
  expect(quantizer("Quant", {{"s", 1}}), "its bit width is not one constant f32 number");
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
  expect(quantizer("Trunc", {{"s", 1}}), "operator of domain 'qonnx.custom_op.general' is not covered");
}

}  // namespace
}  // namespace tilewright
