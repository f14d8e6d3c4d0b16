// MultiThreshold: the counts of its definition, in float and in integers.
#include <gtest/gtest.h>

#include <cmath>

#include "support/frontend/model_builder_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

using namespace onnx_testing;
using Floats = std::vector<float>;

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

ModelText thresholds(const Shape& x, int64_t rows, const Floats& numbers, const std::string& attributes) {
  ModelText model;
  model.input("x", shape_text(x)).output("y");
  model.initializer(floats("t", {rows, int64_t(numbers.size()) / rows}, numbers));
  model.node("n", "MultiThreshold", {"x", "t"}, {"y"}, attributes, "qonnx.custom_op.general");
  return model;
}

// The definition: how many thresholds of its channel (axis 1) an element reaches, scaled.
Floats defined(const Tensor& x, int64_t rows, const Floats& numbers, double scale, double bias) {
  const int64_t count = int64_t(numbers.size()) / rows, inner = x.shape().count(2, x.shape().rank());
  Floats result;
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t row = rows == 1 ? 0 : i / inner % x.shape()[1];
    int64_t reached = 0;
    for (int64_t k = 0; k < count; ++k) {
      reached += x.data<float>()[size_t(i)] >= numbers[size_t(row * count + k)];
    }
    result.push_back(float(scale * double(reached) + bias));
  }
  return result;
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) result.push_back(node.op);
  return result;
}

TEST(MultiThreshold, OneThresholdIsASign) {
  const Tensor x = Tensor::of<float>({1, 2, 3}, {-1, 0.5f, 2, 0.4f, 0.5f, 0.6f});
  const std::string bipolar = float_attribute("out_scale", 2) + float_attribute("out_bias", -1);
  const Graph graph = parse_onnx(thresholds(x.shape(), 2, {0, 0.5f}, bipolar).build());
  EXPECT_EQ(operators_of(graph), (std::vector<std::string>{"Sub", "GreaterOrEqual", "Where"}));
  EXPECT_EQ(run(graph, {x})[0].to_floats(), (Floats{-1, 1, 1, -1, 1, 1}));
}

TEST(MultiThreshold, ThreeUnequalThresholdsAreComparedOneByOne) {
  const Tensor x = Tensor::of<float>({1, 1, 6}, {-3, -1, 0, 0.25f, 4, 5});
  const Floats numbers = {-1, 0.25f, 4};
  const Graph graph =
      parse_onnx(thresholds(x.shape(), 1, numbers, float_attribute("out_scale", 0.5f)).build());
  EXPECT_EQ(run(graph, {x})[0].to_floats(), defined(x, 1, numbers, 0.5, 0));
}

// Sums of integers times a scale, as in front of every threshold of a network; many lie on a threshold.
TEST(MultiThreshold, EqualStepsCountAsDefinedOnTheLatticeOfSums) {
  Random random(99);
  int on_threshold = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int bits = int(random.between(2, 4));
    const int64_t count = (int64_t{1} << bits) - 1, rows = random.chance(0.5) ? 4 : 1;
    const int64_t step = random.between(1, 40);
    const float unit = float(std::ldexp(double(random.between(1, 1000)), -10));
    Floats numbers;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t first = random.between(-100, 100);
      for (int64_t k = 0; k < count; ++k) numbers.push_back(float(double(first + k * step) * unit));
    }
    const double bias = random.chance(0.5) ? -double(count / 2) : 0;
    Tensor x(ElementType::kF32, Shape{1, 4, 50});
    for (float& number : x.mutable_data<float>()) number = float(double(random.between(-300, 700)) * unit);
    const Graph graph =
        parse_onnx(thresholds(x.shape(), rows, numbers, float_attribute("out_bias", float(bias))).build());
    EXPECT_EQ(run(graph, {x})[0].to_floats(), defined(x, rows, numbers, 1, bias)) << "trial " << trial;
    for (const float number : x.to_floats()) {
      on_threshold += std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    }
  }
  EXPECT_GT(on_threshold, 500);
}

// Thresholds that are equally spaced but for their rounding to f32: what lies on one has reached it, and what
// lies a hundredth of a step below has not.
TEST(MultiThresholdClass, RoundedThresholdsAreReachedByWhatLiesOnThem) {
  Random random(test_seed());
  RecordProperty("cases", int(test_cases(300)));
  for (int64_t trial = 0; trial < test_cases(300); ++trial) {
    const int64_t count = trial == 0 ? 7 : random.between(2, 40),
                  rows = trial == 0 ? 1 : random.between(1, 3);
    const double step = trial == 0 ? 0.4 : std::ldexp(1 + random.uniform(), int(random.between(-8, 4)));
    Floats numbers;
    for (int64_t row = 0; row < rows; ++row) {
      const double first = trial == 0 ? 8.9 : (random.uniform() * 40 - 20) * step;
      for (int64_t k = 0; k < count; ++k) numbers.push_back(float(first + double(k) * step));
    }
    Tensor x(ElementType::kF32, Shape{1, rows, 2 * count});
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < count; ++k) {
        const float threshold = numbers[size_t(row * count + k)];
        x.set_number((row * count + k) * 2, threshold);
        x.set_number((row * count + k) * 2 + 1, threshold - step / 100);
      }
    }
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", trial " + std::to_string(trial));
    const Graph graph = parse_onnx(thresholds(x.shape(), rows, numbers, "").build());
    ASSERT_EQ(run(graph, {x})[0].to_floats(), defined(x, rows, numbers, 1, 0));
  }
}

// A dense layer between thresholds, in integers: every decision as defined.
TEST(MultiThreshold, IntegerLayersDecideAsDefined) {
  Random random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t bits = random.between(1, 4), count = (int64_t{1} << bits) - 1;
    const int64_t step = random.between(1, 6);
    ModelText model;
    model.input("x", "1x16").output("y");
    Floats levels, weights, second;
    for (int64_t k = 0; k < count; ++k) levels.push_back(float(k + 1) - 0.5f);
    for (int i = 0; i < 16 * 8; ++i) weights.push_back(random.chance(0.5) ? 1.0f : -1.0f);
    for (int row = 0; row < 8; ++row) {
      const int64_t first = random.between(-8, 8);
      for (int64_t k = 0; k < count; ++k) second.push_back(float(first + k * step));
    }
    const std::string domain = "qonnx.custom_op.general";
    const std::string first_output =
        bits == 1 ? float_attribute("out_scale", 2) + float_attribute("out_bias", -1) : std::string();
    model.initializer(floats("t1", {1, count}, levels)).initializer(floats("w", {16, 8}, weights));
    model.initializer(floats("t2", {8, count}, second));
    model.node("a", "MultiThreshold", {"x", "t1"}, {"h"}, first_output, domain)
        .node("m", "MatMul", {"h", "w"}, {"s"})
        .node("b", "MultiThreshold", {"s", "t2"}, {"y"}, first_output, domain);
    const Graph graph = parse_onnx(model.build());
    Tensor x(ElementType::kF32, Shape{1, 16});
    for (float& number : x.mutable_data<float>()) number = float(random.between(-2, 2 * count)) / 2;
    Floats hidden = defined(x, 1, levels, bits == 1 ? 2 : 1, bits == 1 ? -1 : 0);
    Tensor sums(ElementType::kF32, Shape{1, 8, 1});
    for (int64_t o = 0; o < 8; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < 16; ++i) sum += hidden[size_t(i)] * weights[size_t(i * 8 + o)];
      sums.set_number(o, sum);
    }
    const Floats expected = defined(sums, 8, second, bits == 1 ? 2 : 1, bits == 1 ? -1 : 0);
    EXPECT_EQ(run(graph, {x})[0].to_floats(), expected) << "trial " << trial;
    IntegerizeReport report;
    const Graph integer = integerize(optimize(graph), &report);
    EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
    EXPECT_EQ(run(integer, {x})[0].to_floats(), expected) << "trial " << trial << ", " << bits << " bits";
  }
}

TEST(MultiThreshold, WhatIsNotCoveredIsNamed) {
  const auto expect = [](const ModelText& model, const std::string& part) {
    try {
      parse_onnx(model.build());
      ADD_FAILURE() << "accepted: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const Shape x{1, 4, 5};
  expect(thresholds(x, 3, {1, 2, 3}, ""), "node 'n' (MultiThreshold): has thresholds 3x1 for 4 channels");
  expect(thresholds(x, 1, {1, 3, 2}, ""), "its thresholds of channel 0 do not ascend");
  expect(thresholds(x, 1, {1, 2}, float_attribute("out_scale", -1)), "scales its counts by -1");
  expect(thresholds(x, 1, Floats(256, 1.0f), ""), "has 256 thresholds; up to 255 are supported");
  Floats uneven;
  for (int k = 0; k < 16; ++k) uneven.push_back(float(k * k));
  expect(thresholds(x, 1, uneven, ""),
         "has 16 thresholds that are not equally spaced; up to 15 are supported");
  expect(thresholds({7}, 1, {1}, ""), "reads 1 axes");
  ModelText computed;
  computed.input("x", "1x4").input("t", "1x1").output("y");
  computed.node("n", "MultiThreshold", {"x", "t"}, {"y"}, "", "qonnx.custom_op.general");
  expect(computed, "its thresholds are not a constant f32 matrix");
}

}  // namespace
}  // namespace tilewright
