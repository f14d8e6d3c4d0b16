#include <gtest/gtest.h>

#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright {
namespace {

// The inferred first output of an operator on f32 data of `data` and i64 indices of `indices`, or the error.
std::string inferred(const char* op, Shape data, Shape indices, std::optional<Shape> updates = std::nullopt,
                     Attributes attributes = {}) {
  Graph graph;
  std::vector<ValueId> inputs = {graph.add_input("data", ElementType::kF32, std::move(data)),
                                 graph.add_input("indices", ElementType::kI64, std::move(indices))};
  if (updates) inputs.push_back(graph.add_input("updates", ElementType::kF32, *updates));
  const ValueId y = graph.add_value("y", ElementType::kF32, {});
  Node& node = graph.add_node("n", op, inputs, {y});
  node.attributes = std::move(attributes);
  try {
    return to_string(infer_node(graph, node).at(0));
  } catch (const Error& error) {
    return error.what();
  }
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

TEST(ScatterOperators, Shapes) {
  EXPECT_EQ(inferred("GatherElements", {3, 4}, {2, 4}), "f32[2x4]");
  EXPECT_EQ(inferred("ScatterElements", {3, 4}, {2, 4}, Shape{2, 4}), "f32[3x4]");
  EXPECT_EQ(inferred("GatherND", {2, 3, 4}, {5, 2}), "f32[5x4]");
  EXPECT_EQ(inferred("GatherND", {2, 3, 4}, {2, 1}, std::nullopt, {{"batch_dims", int64_t{1}}}), "f32[2x4]");
  EXPECT_EQ(inferred("ScatterND", {4, 5}, {3, 1}, Shape{3, 5}), "f32[4x5]");
  EXPECT_EQ(inferred("CumSum", {4, 5}, {}), "f32[4x5]");
  EXPECT_EQ(inferred("Trilu", {2, 4, 5}, {}), "f32[2x4x5]");
}

TEST(ScatterOperators, WhatDoesNotFitIsNamed) {
  EXPECT_MENTIONS(inferred("GatherElements", {3, 4}, {2, 5}),
                  "input 1 ('indices') of shape 2x5 does not lie within input 0 ('data') of shape 3x4");
  EXPECT_MENTIONS(inferred("GatherElements", {3, 4}, {2}), "does not lie within");
  EXPECT_MENTIONS(inferred("ScatterElements", {3, 4}, {2, 4}, Shape{2, 3}),
                  "updates of shape 2x3 for indices of shape 2x4");
  EXPECT_MENTIONS(inferred("ScatterElements", {3}, {3}, Shape{3}, {{"reduction", std::string("max")}}),
                  "attribute 'reduction' is 'max'; supported: none, add, mul");
  EXPECT_MENTIONS(inferred("GatherND", {2, 3}, {5, 3}),
                  "indices of shape 5x3 do not address data of shape 2x3");
  EXPECT_MENTIONS(inferred("GatherND", {2, 3}, {4, 1}, std::nullopt, {{"batch_dims", int64_t{1}}}),
                  "with 1 batch axes");
  EXPECT_MENTIONS(inferred("ScatterND", {4, 5}, {3, 1}, Shape{3, 4}), "updates of shape 3x4, 3x5 is needed");
  EXPECT_MENTIONS(inferred("Trilu", {4}, {}), "input 0 ('data') has shape 4, a matrix is needed");
}

}  // namespace
}  // namespace tilewright
