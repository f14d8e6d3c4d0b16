#include "tilewright/graph/lcg_weights.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright {
namespace {

// The rule, by hand: s <- s * a + c, u = top 24 bits.
float first_draw(uint64_t seed) {
  const uint64_t state = seed * 6364136223846793005u + 1442695040888963407u;
  return float(state >> 40) / 16777216.0f;
}

Graph two_constant_of_shape() {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{1, 3, 8, 8});
  const ValueId weight_shape = graph.add_constant("ws", Tensor::of<int64_t>(Shape{4}, {4, 3, 3, 3}));
  const ValueId bias_shape = graph.add_constant("bs", Tensor::of<int64_t>(Shape{1}, {4}));
  const ValueId w = graph.add_value("w", ElementType::kF32, Shape{4, 3, 3, 3});
  const ValueId b = graph.add_value("b", ElementType::kF32, Shape{4});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1, 4, 6, 6});
  graph.add_node("fill_w", "ConstantOfShape", {weight_shape}, {w});
  graph.add_node("fill_b", "ConstantOfShape", {bias_shape}, {b});
  graph.add_node("conv", "Conv", {x, w, b}, {y});
  graph.outputs = {y};
  return graph;
}

const Tensor& constant_named(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values) {
    if (value.name == name && value.constant) return *value.constant;
  }
  throw Error(ErrorKind::kInternal, "no constant " + name);
}

TEST(LcgWeights, ConstantOfShapeNodesBecomeSeededConstants) {
  const Graph graph = fill_lcg_weights(two_constant_of_shape(), {3.0, LcgOrder::kConstantOfShape});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, "Conv");
  const float amplitude = float(std::sqrt(3.0 / 27.0));
  EXPECT_EQ(constant_named(graph, "w").data<float>()[0], (2.0f * first_draw(1000) - 1.0f) * amplitude);
  EXPECT_EQ(constant_named(graph, "b").data<float>()[0], (2.0f * first_draw(1001) - 1.0f) * 0.1f);
}

TEST(LcgWeights, ConstantsAreCountedInValueOrder) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kF32, Shape{1, 2, 4, 4});
  const ValueId shape = graph.add_constant("shape", Tensor::of<int64_t>(Shape{2}, {1, -1}));  // k = 0, kept
  std::vector<ValueId> parameters;
  for (const char* name : {"gamma", "beta", "mean", "variance"}) {
    parameters.push_back(graph.add_constant(name, Tensor(ElementType::kF32, Shape{2})));
  }
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{1, 2, 4, 4});
  const ValueId z = graph.add_value("z", ElementType::kF32, Shape{1, 32});
  graph.add_node("bn", "BatchNormalization", {x, parameters[0], parameters[1], parameters[2], parameters[3]},
                 {y});
  graph.add_node("flat", "Reshape", {y, shape}, {z});
  graph.outputs = {z};
  const Graph filled = fill_lcg_weights(graph, {3.0, LcgOrder::kConstants});
  EXPECT_EQ(constant_named(filled, "shape").to_integers(), (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(constant_named(filled, "gamma").data<float>()[0], 0.75f + 0.5f * first_draw(1001));
  EXPECT_EQ(constant_named(filled, "beta").data<float>()[0], (2.0f * first_draw(1002) - 1.0f) * 0.1f);
  EXPECT_EQ(constant_named(filled, "mean").data<float>()[0], (2.0f * first_draw(1003) - 1.0f) * 0.1f);
  EXPECT_EQ(constant_named(filled, "variance").data<float>()[0], 0.75f + 0.5f * first_draw(1004));
}

TEST(LcgWeights, RefusesConstantsThatAreNoWeights) {
  Graph graph;
  const ValueId shape = graph.add_constant("shape", Tensor::of<int64_t>(Shape{1}, {4}));
  const ValueId c = graph.add_value("c", ElementType::kF32, Shape{4});
  const ValueId y = graph.add_value("y", ElementType::kF32, Shape{4});
  graph.add_node("zeros", "ConstantOfShape", {shape}, {c});
  graph.add_node("relu", "Relu", {c}, {y});
  graph.outputs = {y};
  try {
    fill_lcg_weights(graph, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what())
                  .find("node 'zeros' (ConstantOfShape): cannot be filled: it is read by node "
                        "'relu' (Relu), not as a float weight"),
              std::string::npos)
        << error.what();
  }
}

TEST(LcgWeights, InputsOfEachType) {
  LcgStream stream(1);
  const float u = first_draw(1);
  EXPECT_EQ(lcg_input(ElementType::kF32, Shape{1}, stream).data<float>()[0], u);
  LcgStream again(1);
  EXPECT_EQ(lcg_input(ElementType::kU8, Shape{1}, again).integer_at(0), int64_t(256.0f * u));
  LcgStream third(1);
  EXPECT_EQ(lcg_input(ElementType::kI8, Shape{1}, third).integer_at(0), int64_t(256.0f * u) - 128);
  LcgStream fourth(1);
  EXPECT_EQ(lcg_input(ElementType::kI16, Shape{1}, fourth).integer_at(0), int64_t(65536.0f * u) - 32768);
  EXPECT_THROW(lcg_input(ElementType::kI64, Shape{1}, stream), Error);
}

TEST(LcgWeights, GainsByNetwork) {
  EXPECT_EQ(lcg_gain_of("light_resnet50.onnx"), 3.0);
  EXPECT_EQ(lcg_gain_of("light_inception_v1"), 6.0);
  EXPECT_EQ(lcg_gain_of("lenet"), std::nullopt);
}

}  // namespace
}  // namespace tilewright
