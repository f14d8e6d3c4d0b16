#include "tilewright/graph/operator_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

Node node_of(const std::string& op, const std::string& domain = "") {
  Node node;
  node.name = "n";
  node.op = op;
  node.domain = domain;
  return node;
}

TEST(OperatorClass, EveryCoveredOperatorHasOne) {
  for (const Operator& op : all_operators()) {
    const OperatorTraits& traits = operator_traits(node_of(op.name, op.domain));
    EXPECT_NE(traits.kind, OperatorClass::kOther) << op.name;
    EXPECT_EQ(traits.numbers == OperatorNumbers::kAny, std::string(op.domain).empty()) << op.name;
    // What multiplies and accumulates is a product, and nothing else is.
    EXPECT_EQ(traits.kind == OperatorClass::kProduct, op.macs != nullptr) << op.name;
  }
  EXPECT_EQ(operator_class(node_of("Conv", "tilewright")), OperatorClass::kOther);
  EXPECT_EQ(operator_class(node_of("QConv")), OperatorClass::kOther);
  EXPECT_EQ(operator_class(node_of("")), OperatorClass::kOther);
}

TEST(OperatorClass, AFunctionIsTheSameInEveryNumberType) {
  using enum OperatorFunction;
  for (const char* op : {"Conv", "ConvInteger", "QLinearConv"})
    EXPECT_EQ(operator_function(node_of(op)), kConvolution);
  for (const char* op : {"QConv", "FixedConv"})
    EXPECT_EQ(operator_function(node_of(op, kTilewrightDomain)), kConvolution);
  EXPECT_EQ(operator_function(node_of("FixedAdd", kTilewrightDomain)), operator_function(node_of("Add")));
  EXPECT_EQ(operator_traits(node_of("QGemm", kTilewrightDomain)).numbers, OperatorNumbers::kInteger);
  EXPECT_EQ(operator_traits(node_of("FixedGemm", kTilewrightDomain)).numbers, OperatorNumbers::kFixed);
  EXPECT_EQ(operator_function(node_of("Sub")), kOther);
}

TEST(OperatorClass, WhatSelectsHasNoElementOfItsOwn) {
  for (const char* op : {"MaxPool", "GlobalMaxPool", "Reshape", "Transpose", "Identity", "Dropout", "Split"})
    EXPECT_TRUE(only_selects(node_of(op))) << op;
  for (const char* op : {"AveragePool", "Pad", "Concat", "Resize", "Relu", "OneHot"})
    EXPECT_FALSE(only_selects(node_of(op))) << op;
}

TEST(OperatorClass, OutputStages) {
  std::set<std::string> staged;
  for (const Operator& op : all_operators()) {
    if (has_output_stage(node_of(op.name, op.domain))) staged.insert(op.name);
  }
  EXPECT_EQ(staged,
            (std::set<std::string>{"FixedAdd", "FixedAveragePool", "FixedConv", "FixedGemm", "QAdd",
                                   "QAveragePool", "QConv", "QConvTranspose", "QGemm", "QLayerNorm",
                                   "QMatMul", "QMul", "QRequantize", "QRescaledAdd", "QRotary", "QSoftmax"}));
  // Each of them says in its rules that it clips.
  for (const Operator& op : all_operators()) {
    const bool clips = std::any_of(op.attributes.begin(), op.attributes.end(), [](const AttributeRule& rule) {
      return std::string(rule.name) == "clip_low";
    });
    EXPECT_EQ(clips, staged.count(op.name) != 0) << op.name;
  }
}

TEST(OperatorClass, ActivationsWorkElementByElement) {
  int count = 0;
  for (const Operator& op : all_operators()) {
    const OperatorTraits& traits = operator_traits(node_of(op.name, op.domain));
    count += traits.activation;
    EXPECT_TRUE(!traits.activation || traits.kind == OperatorClass::kElementwise) << op.name;
  }
  EXPECT_EQ(count, 12);
}

}  // namespace
}  // namespace tilewright
