#include "tilewright/transform/normalize/remove_no_ops.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

// Relu, the node under test, Sigmoid.
std::string between(const std::function<ValueId(LayerBuilder&, ValueId)>& add) {
  LayerBuilder b;
  const ValueId x = b.node("Sigmoid", {b.input({2, 3, 4, 4})});
  const ValueId y = b.node("Tanh", {add(b, b.node("Neg", {x}))});
  const Graph graph = remove_no_ops(b.finish({y}));
  EXPECT_EQ(graph.nodes.front().op, "Sigmoid");
  EXPECT_EQ(graph.nodes.back().op, "Tanh");
  std::string middle;
  for (size_t k = 2; k + 1 < graph.nodes.size(); ++k) middle += graph.nodes[k].op;
  return middle;
}

TEST(RemoveNoOps, RemovesWhatHandsItsInputOn) {
  const std::vector<std::pair<const char*, std::function<ValueId(LayerBuilder&, ValueId)>>> cases = {
      {"Identity", [](auto& b, ValueId x) { return b.node("Identity", {x}); }},
      {"Dropout", [](auto& b, ValueId x) { return b.node("Dropout", {x}); }},
      {"Cast",
       [](auto& b, ValueId x) {
         return b.node("Cast", {x}, {{"to", int64_t{1}}});
       }},
      {"Reshape",
       [](auto& b, ValueId x) {
         return b.reshape(x, {2, 3, 4, 4});
       }},
      {"Transpose",
       [](auto& b, ValueId x) {
         return b.transpose(x, {0, 1, 2, 3});
       }},
      {"Pad", [](auto& b, ValueId x) { return b.pad(x, std::vector<int64_t>(8, 0)); }},
      {"Concat",
       [](auto& b, ValueId x) {
         return b.node("Concat", {x}, {{"axis", int64_t{1}}});
       }},
      {"Sum", [](auto& b, ValueId x) { return b.node("Sum", {x}); }},
      {"Slice",
       [](auto& b, ValueId x) {
         return b.node("Slice", {x, b.integers({0}), b.integers({99}), b.integers({1}), b.integers({1})});
       }},
      {"Add", [](auto& b, ValueId x) { return b.add(x, b.constant(Tensor::scalar(0.0f))); }},
      {"Add, constant first", [](auto& b, ValueId x) { return b.add(b.constant(Tensor::scalar(0.0f)), x); }},
      {"Mul",
       [](auto& b, ValueId x) {
         return b.node("Mul", {b.constant(Tensor::scalar(1.0f)), x});
       }},
      {"Div",
       [](auto& b, ValueId x) {
         return b.node("Div", {x, b.constant(Tensor::scalar(1.0f))});
       }},
      {"MaxPool", [](auto& b, ValueId x) { return b.pool(x, "MaxPool", 1, 1); }},
      {"Clip", [](auto& b, ValueId x) { return b.node("Clip", {x}); }},
      {"Expand",
       [](auto& b, ValueId x) {
         return b.node("Expand", {x, b.integers({1})});
       }},
  };
  for (const auto& [name, add] : cases) EXPECT_EQ(between(add), "") << name;
}

TEST(RemoveNoOps, KeepsWhatComputes) {
  const std::vector<std::pair<const char*, std::function<ValueId(LayerBuilder&, ValueId)>>> cases = {
      {"Cast",
       [](auto& b, ValueId x) {
         return b.node("Cast", {x}, {{"to", int64_t{11}}});
       }},
      {"Transpose",
       [](auto& b, ValueId x) {
         return b.transpose(x, {0, 1, 3, 2});
       }},  // same shape
      {"Pad",
       [](auto& b, ValueId x) {
         return b.pad(x, {0, 0, 1, 0, 0, 0, -1, 0});
       }},  // same shape
      {"Slice",
       [](auto& b, ValueId x) {  // reverses an axis: same shape
         return b.node("Slice", {x, b.integers({-1}), b.integers({-99}), b.integers({2}), b.integers({-1})});
       }},
      {"Add", [](auto& b, ValueId x) { return b.add(x, b.constant(Tensor::scalar(0.5f))); }},
      {"Add", [](auto& b, ValueId x) { return b.add(x, x); }},
      {"Sub",
       [](auto& b, ValueId x) {
         return b.node("Sub", {b.constant(Tensor::scalar(0.0f)), x});
       }},
      {"Div",
       [](auto& b, ValueId x) {
         return b.node("Div", {b.constant(Tensor::scalar(1.0f)), x});
       }},
      {"Relu", [](auto& b, ValueId x) { return b.relu(x); }},
      {"MaxPool", [](auto& b, ValueId x) { return b.pool(x, "MaxPool", 3, 1, 1); }},
      {"Concat",
       [](auto& b, ValueId x) {
         return b.node("Concat", {x, x}, {{"axis", int64_t{1}}});
       }},
  };
  for (const auto& [name, add] : cases) EXPECT_EQ(between(add), name);
}

TEST(RemoveNoOps, ReluOfNonNegativeValues) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({1, 2, 4, 4}));
  const ValueId pooled = b.pool(x, "MaxPool", 2, 2);
  const ValueId sum = b.add(pooled, b.node("Sigmoid", {pooled}));
  EXPECT_EQ(ops(remove_no_ops(b.finish({b.node("Tanh", {b.relu(sum)})}))), "Relu MaxPool Sigmoid Add Tanh");
}

// The upper bound of a Clip wins over the lower one, so both of them count.
TEST(RemoveNoOps, ReluOfAClip) {
  const auto after = [](std::optional<float> low, std::optional<float> high, bool computed = false) {
    LayerBuilder b;
    const ValueId x = b.input({1, 2});
    const auto bound = [&](std::optional<float> number) {
      return number ? b.constant(Tensor::scalar(*number)) : kNoValue;
    };
    const ValueId upper = computed ? b.node("ReduceMax", {x}, {{"keepdims", int64_t{0}}}) : bound(high);
    const ValueId clip = b.node("Clip", {b.node("Neg", {x}), bound(low), upper});
    return find_op(remove_no_ops(b.finish({b.node("Tanh", {b.relu(clip)})})), "Relu") != nullptr;
  };
  EXPECT_FALSE(after(0.0f, 6.0f));
  EXPECT_FALSE(after(1.0f, std::nullopt));
  EXPECT_FALSE(after(5.0f, 1.0f));
  EXPECT_TRUE(after(1.0f, -5.0f));
  EXPECT_TRUE(after(0.0f, std::nullopt, true));
  EXPECT_TRUE(after(std::nullopt, 6.0f));
}

TEST(RemoveNoOps, RangeAnalysisEndsOnDenseGraphs) {
  LayerBuilder b;
  ValueId x = b.relu(b.input({1, 2}));
  for (int k = 0; k < 200; ++k) x = b.add(x, x);  // 2^200 paths
  const Graph graph = remove_no_ops(b.finish({b.node("Neg", {b.relu(x)})}));
  EXPECT_EQ(graph.nodes.back().op, "Neg");
}

TEST(RemoveNoOps, OutputsKeepTheirNames) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2});
  const ValueId y = b.node("Identity", {b.node("Identity", {b.relu(x)})});
  const Graph graph = remove_no_ops(b.finish({y}));
  EXPECT_EQ(ops(graph), "Relu");
  EXPECT_EQ(output_names(graph), std::vector<std::string>{"y"});
}

TEST(RemoveNoOps, StaysBetweenInputAndOutputAndBetweenOutputs) {
  LayerBuilder b;
  const ValueId x = b.input({1, 2});
  const ValueId copy = b.node("Identity", {x});
  const ValueId first = b.relu(x), second = b.node("Identity", {first});
  const Graph graph = remove_no_ops(b.finish({copy, first, second}));
  EXPECT_EQ(ops(graph), "Identity Relu Identity");
  EXPECT_EQ(output_names(graph), (std::vector<std::string>{"y", "y_1", "y_2"}));
}

TEST(RemoveNoOps, KeepsDropoutWhoseMaskIsRead) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({1, 2}));
  const ValueId y = b.node("Dropout", {x}, {}, 2);
  const ValueId mask = y + 1;
  const ValueId z = b.node("Not", {mask});
  EXPECT_EQ(ops(remove_no_ops(b.finish({b.node("Tanh", {y}), z}))), "Relu Dropout Not Tanh");
}

}  // namespace
}  // namespace tilewright
