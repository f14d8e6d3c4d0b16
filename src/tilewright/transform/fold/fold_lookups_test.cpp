#include "tilewright/transform/fold/fold_lookups.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

const Shape kShape{1, 2, 3, 4};

class LookupBuilder {
 public:
  Graph graph;
  ValueId input() { return graph.add_input("x", ElementType::kI8, kShape); }
  ValueId requantize(ValueId x) {
    Node& node = add("QRequantize", {x});
    node.attributes = {{"multiplier", int64_t{3}}, {"shift", int64_t{2}}, {"bias", int64_t{5}}};
    return node.outputs[0];
  }
  ValueId lookup(ValueId x) {
    Tensor table(ElementType::kI8, {256});
    for (int64_t i = 0; i < 256; ++i) table.set_integer(i, random_.between(-128, 127));
    return add("QLookup", {x, graph.add_constant("table", table)}).outputs[0];
  }
  ValueId add_values(ValueId a, ValueId b) {
    Node& node = add("QAdd", {a, b});
    node.attributes = {{"multiplier_a", int64_t{1}}, {"multiplier_b", int64_t{1}}, {"shift", int64_t{1}}};
    return node.outputs[0];
  }

 private:
  Node& add(const char* op, std::vector<ValueId> inputs) {
    const ValueId y = graph.add_value("y", ElementType::kI8, kShape);
    return graph.add_node("n" + std::to_string(++count_), op, std::move(inputs), {y}, kTilewrightDomain);
  }
  Random random_{81};
  int count_ = 0;
};

// The operators after the pass, whose results stay, also when the tables are split off again.
std::string folded(const Graph& graph) {
  const Graph after = fold_lookups(graph), split = split_lookups(after);
  for (const Graph* g : {&after, &split}) {
    Diagnostics problems;
    verify(*g, problems);
    EXPECT_TRUE(problems.ok());
  }
  Tensor x(ElementType::kI8, kShape);
  for (int64_t i = 0; i < x.size(); ++i) x.set_integer(i, i * 11 - 128);
  const std::vector<Tensor> expected = run(graph, {x}), got = run(after, {x}), again = run(split, {x});
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(got[i].identical(expected[i]));
    EXPECT_TRUE(again[i].identical(expected[i]));
  }
  EXPECT_EQ(output_names(after), output_names(graph));
  return ops(after);
}

TEST(FoldLookups, TheOperatorBeforeTakesTheTable) {
  LookupBuilder b;
  b.graph.outputs = {b.lookup(b.requantize(b.input()))};
  EXPECT_EQ(folded(b.graph), "QRequantize");
}

TEST(FoldLookups, OthersBecomeARequantisationWithATable) {
  LookupBuilder b;
  b.graph.outputs = {b.lookup(b.input())};
  EXPECT_EQ(folded(b.graph), "QRequantize");
  LookupBuilder chain;
  chain.graph.outputs = {chain.lookup(chain.lookup(chain.requantize(chain.input())))};
  EXPECT_EQ(folded(chain.graph), "QRequantize QRequantize");
}

TEST(FoldLookups, WhatIsReadElsewhereKeepsItsValue) {
  LookupBuilder b;
  const ValueId x = b.requantize(b.input());
  b.graph.outputs = {b.add_values(x, b.lookup(x))};
  EXPECT_EQ(folded(b.graph), "QRequantize QRequantize QAdd");
  LookupBuilder output;
  const ValueId y = output.requantize(output.input());
  output.graph.outputs = {y, output.lookup(y)};
  EXPECT_EQ(folded(output.graph), "QRequantize QRequantize");
}

}  // namespace
}  // namespace tilewright
