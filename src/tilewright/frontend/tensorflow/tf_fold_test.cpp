// What training adds to a graph goes; what cannot be decided is refused.
#include <gtest/gtest.h>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;

std::string ops_of(const GraphDefText& text, const std::string& output = "y") {
  TensorflowOptions options;
  options.outputs = {output};
  try {
    std::string names;
    for (const Node& node : parse_tensorflow(text.build(), options).nodes) {
      names += (names.empty() ? "" : " ") + node.op;
    }
    return names;
  } catch (const Error& error) {
    return error.what();
  }
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

GraphDefText input() {
  GraphDefText graph;
  graph.placeholder("x", {1, 4}).node("r", "Relu", {"x"});
  graph.node("shape", "Shape", {"r"}).node("u", "RandomUniform", {"shape"}, type_attribute("dtype", kFloat));
  return graph;
}

TEST(TensorflowFolding, ForwardingOperatorsGo) {
  GraphDefText graph = input();
  graph.node("a", "Identity", {"r"}).node("b", "StopGradient", {"a", "^u"}).node("c", "CheckNumerics", {"b"});
  graph.node("y", "Tanh", {"c"});
  EXPECT_EQ(ops_of(graph), "Relu Tanh");
  EXPECT_EQ(ops_of(graph, "c"), "Relu");
}

TEST(TensorflowFolding, DropoutByFloorWithAPlaceholder) {
  GraphDefText graph = input();
  graph.placeholder("keep", {}).node("sum", "Add", {"keep", "u"}).node("mask", "Floor", {"sum"});
  graph.node("scaled", "RealDiv", {"r", "keep"})
      .node("d", "Mul", {"scaled", "mask"})
      .node("y", "Tanh", {"d"});
  EXPECT_EQ(ops_of(graph), "Relu Tanh");
}

TEST(TensorflowFolding, DropoutByComparisonWithAConstantRate) {
  GraphDefText graph = input();
  graph.floats("rate", {}, {0.2f}).node("ge", "GreaterEqual", {"u", "rate"});
  graph.node("mask", "Cast", {"ge"}, type_attribute("DstT", kFloat));
  graph.floats("one", {}, {1})
      .node("kept", "Sub", {"one", "rate"})
      .node("factor", "RealDiv", {"one", "kept"});
  graph.node("scaled", "Mul", {"r", "factor"}).node("d", "Mul", {"mask", "scaled"}).node("y", "Tanh", {"d"});
  EXPECT_EQ(ops_of(graph), "Relu Tanh");
  GraphDefText selected = input();
  selected.floats("rate", {}, {0.5f}).node("ge", "GreaterEqual", {"u", "rate"}).floats("zero", {}, {0});
  selected.floats("two", {}, {2}).node("scaled", "Mul", {"r", "two"});
  selected.node("d", "SelectV2", {"ge", "scaled", "zero"}).node("y", "Tanh", {"d"});
  EXPECT_EQ(ops_of(selected), "Relu Tanh");
}

TEST(TensorflowFolding, AScaleThatIsNotOfTheDropoutStays) {
  GraphDefText graph = input();
  graph.floats("rate", {}, {0.5f}).node("ge", "GreaterEqual", {"u", "rate"});
  graph.node("mask", "Cast", {"ge"}, type_attribute("DstT", kFloat));
  graph.floats("three", {}, {3}).node("scaled", "Mul", {"r", "three"});
  graph.node("d", "Mul", {"scaled", "mask"}).node("y", "Tanh", {"d"});
  EXPECT_EQ(ops_of(graph), "Relu Mul Tanh");
}

TEST(TensorflowFolding, NoiseIsRefused) {
  GraphDefText graph = input();
  graph.node("y", "Add", {"r", "u"});
  EXPECT_MENTIONS(ops_of(graph), "node 'u' (RandomUniform): operator is not supported");
}

// y = training ? Tanh(r) : Neg(r), by Switch and Merge.
GraphDefText branches(GraphDefText graph, const std::string& predicate) {
  graph.node("s", "Switch", {"r", predicate}).node("eval", "Neg", {"s"}).node("train", "Tanh", {"s:1"});
  return graph.node("y", "Merge", {"eval", "train"});
}

TEST(TensorflowFolding, BranchesOfAKnownPredicate) {
  GraphDefText constant = input();
  constant.boolean("p", true);
  EXPECT_EQ(ops_of(branches(constant, "p")), "Relu Tanh");
  GraphDefText inverted = input();
  inverted.boolean("p", true).node("not", "LogicalNot", {"p"}).node("pass", "Identity", {"not"});
  EXPECT_EQ(ops_of(branches(inverted, "pass")), "Relu Neg");
  GraphDefText both = input();
  both.boolean("p", true).boolean("q", false).node("and", "LogicalAnd", {"p", "q"});
  both.node("or", "LogicalOr", {"and", "q"});
  EXPECT_EQ(ops_of(branches(both, "or")), "Relu Neg");
}

TEST(TensorflowFolding, TrainingPlaceholdersAreFalse) {
  GraphDefText placeholder = input();
  placeholder.placeholder("is_training", {}, kBool);
  EXPECT_EQ(ops_of(branches(placeholder, "is_training")), "Relu Neg");
  GraphDefText phase = input();
  phase.boolean("default", true);
  phase.node("keras_learning_phase", "PlaceholderWithDefault", {"default"},
             type_attribute("dtype", kBool) + shape_attribute("shape", {}));
  EXPECT_EQ(ops_of(branches(phase, "keras_learning_phase")), "Relu Neg");
  GraphDefText other = input();
  other.boolean("default", true);
  other.node("flag", "PlaceholderWithDefault", {"default"},
             type_attribute("dtype", kBool) + shape_attribute("shape", {}));
  EXPECT_EQ(ops_of(branches(other, "flag")), "Relu Tanh");
}

TEST(TensorflowFolding, UnknownPredicatesAreRefused) {
  GraphDefText graph = input();
  graph.placeholder("choice", {}, kBool);
  EXPECT_EQ(ops_of(branches(graph, "choice")),
            "node 's' (Switch): depends on 'choice', which is not known before the network runs; export the "
            "model for inference");
  GraphDefText joined = input();
  joined.node("n", "Neg", {"r"}).node("y", "Merge", {"r", "n"});
  EXPECT_MENTIONS(ops_of(joined), "node 'y' (Merge): joins several branches that may all be taken");
  GraphDefText untaken = input();
  untaken.boolean("p", true).node("s", "Switch", {"r", "p"}).node("y", "Neg", {"s:0"});
  EXPECT_MENTIONS(ops_of(untaken), "output 'y': is on a branch that inference does not take");
  GraphDefText half = input();
  half.node("y", "Switch", {"r"});
  EXPECT_MENTIONS(ops_of(half), "node 'y' (Switch): needs two inputs");
}

TEST(TensorflowFolding, NodesOfABranchThatIsNotTakenMayBeOfAnyKind) {
  GraphDefText graph = input();
  graph.boolean("p", true).node("s", "Switch", {"r", "p"}).ints("two", {2}, {2, 2});
  graph.node("dead", "Conv2D", {"s:0", "r"}).node("gather", "BatchToSpaceND", {"dead", "two", "two"});
  graph.node("live", "Tanh", {"s:1"}).node("y", "Merge", {"gather", "live"});
  EXPECT_EQ(ops_of(graph), "Relu Tanh");
}

TEST(TensorflowFolding, ManyScalarsOfScalarsAreWorkedOutOnce) {
  GraphDefText graph = input();
  graph.floats("c0", {}, {0.5f});
  for (int i = 1; i <= 100; ++i) {
    const std::string before = "c" + std::to_string(i - 1);
    graph.node("c" + std::to_string(i), "Mul", {before, before});
  }
  graph.node("y", "Mul", {"r", "c100"});
  EXPECT_NE(ops_of(graph).find("Relu"), std::string::npos);
  GraphDefText switched = input();
  switched.floats("c0", {}, {1});
  for (int i = 1; i <= 100; ++i) {
    const std::string before = "c" + std::to_string(i - 1);
    switched.node("c" + std::to_string(i), "Mul", {before, before});
  }
  EXPECT_EQ(ops_of(branches(switched, "c100")), "Relu Tanh");
}

TEST(TensorflowFolding, InputsWithADefaultStayInputs) {
  GraphDefText graph;
  graph.floats("batch", {1, 2}, {1, 2});
  graph.node("image", "PlaceholderWithDefault", {"batch"},
             type_attribute("dtype", kFloat) + shape_attribute("shape", {-1, 2}));
  graph.node("y", "Relu", {"image"});
  const Graph read = parse_tensorflow(graph.build());
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.value(read.inputs[0]).name, "image");
}

TEST(TensorflowFolding, StagesAreCounted) {
  GraphDefText graph = input();
  graph.placeholder("keep_prob", {}).node("sum", "Add", {"keep_prob", "u"}).node("mask", "Floor", {"sum"});
  graph.node("scaled", "RealDiv", {"r", "keep_prob"}).node("d", "Mul", {"scaled", "mask"});
  graph.floats("moving_variance", {4}, {1, 2, 3, 4}).node("read", "Identity", {"moving_variance"});
  graph.node("root", "Rsqrt", {"read"}).node("y", "Mul", {"d", "read"}).node("z", "Add", {"y", "root"});
  graph.node("unused", "NoOp");
  TfStages stages;
  parse_tensorflow(graph.build(), {}, nullptr, &stages);
  EXPECT_EQ(stages.stored.nodes, 15);
  EXPECT_EQ(stages.reachable.nodes, 14);
  EXPECT_EQ(stages.reachable.random, 1);
  EXPECT_EQ(stages.reachable.moving_averages, 1);
  EXPECT_EQ(stages.frozen.nodes, 6);  // x r moving_variance root y z
  EXPECT_EQ(stages.frozen.constants, 1);
  EXPECT_EQ(stages.frozen.random, 0);
  EXPECT_EQ(stages.frozen.rsqrts, 1);
  EXPECT_EQ(stages.frozen.scales, 1);
}

// A product with a constant is a scale, also when it is the file's first node and comes after seven others
// that hand it on; eight are one too many.
TEST(TensorflowFolding, ScalesBehindForwardingNodesAreCounted) {
  for (const int forwarding : {0, 7, 8}) {
    GraphDefText graph;
    graph.floats("c0", {}, {2}).placeholder("x", {1, 4});
    std::string last = "c0";
    for (int i = 1; i <= forwarding; ++i) {
      const std::string next = "c" + std::to_string(i);
      graph.node(next, "Identity", {last});
      last = next;
    }
    graph.node("y", "Mul", {"x", last});
    TfStages stages;
    parse_tensorflow(graph.build(), {}, nullptr, &stages);
    EXPECT_EQ(stages.stored.scales, forwarding < 8 ? 1 : 0) << forwarding;
  }
}

}  // namespace
}  // namespace tilewright
