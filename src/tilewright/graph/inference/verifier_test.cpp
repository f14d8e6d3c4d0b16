#include "tilewright/graph/inference/verifier.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum ElementType;

// x -> Relu -> y -> Add(y, c) -> z, all declared.
Graph sound_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", kF32, {2, 3});
  const ValueId y = graph.add_value("y", kF32, {2, 3}), z = graph.add_value("z", kF32, {2, 3});
  const ValueId c = graph.add_constant("c", Tensor(kF32, {3}));
  graph.add_node("relu", "Relu", {x}, {y});
  graph.add_node("add", "Add", {y, c}, {z});
  graph.outputs = {z};
  return graph;
}

std::string problems(const Graph& graph) {
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) text += to_string(problem) + "\n";
  return text;
}

template <typename Change>
std::string after(Change change) {
  Graph graph = sound_graph();
  change(graph);
  return problems(graph);
}

TEST(Verifier, AcceptsASoundGraph) { EXPECT_EQ(problems(sound_graph()), ""); }

TEST(Verifier, Structure) {
  EXPECT_EQ(after([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
            "node 'add' (Add): reads 'y' before it is produced; nodes must be in topological order\n");
  EXPECT_EQ(after([](Graph& g) { g.nodes[1].inputs[0] = 9; }), "node 'add' (Add): refers to value 9 of 4\n");
  EXPECT_EQ(
      after([](Graph& g) { g.nodes[0].outputs[0] = -7; }),
      "node 'relu' (Relu): refers to value -7 of 4\nnode 'add' (Add): reads 'y', which nothing produces\n");
  EXPECT_EQ(after([](Graph& g) { g.nodes[1].outputs[0] = 1; }),
            "node 'add' (Add): produces 'y', which has another source; a value is a graph input, a constant "
            "or one output "
            "of one node\ngraph output 'z': is produced by nothing\n");
  EXPECT_EQ(after([](Graph& g) {
              g.value(0).constant = Tensor(kF32, {2, 3});
            }),
            "the list of graph inputs: produces 'x', which has another source; a value is a graph input, a "
            "constant or one "
            "output of one node\n");
  EXPECT_EQ(after([](Graph& g) {
              g.outputs = {4, -1};
            }),
            "graph outputs: refer to value 4 of 4\ngraph outputs: refer to value -1 of 4\n");
  EXPECT_EQ(after([](Graph& g) { g.inputs.push_back(5); }), "graph inputs: refer to value 5 of 4\n");
}

// ONNX Clip-13: an input, perhaps two bounds; one output.
TEST(Verifier, CountsInputsAndOutputs) {
  for (int inputs = 0; inputs <= 4; ++inputs) {
    for (int outputs = 0; outputs <= 2; ++outputs) {
      Graph graph;
      std::vector<ValueId> read, written;
      for (int i = 0; i < inputs; ++i)
        read.push_back(graph.add_input("x" + std::to_string(i), kF32, i == 0 ? Shape{2} : Shape{}));
      for (int o = 0; o < outputs; ++o)
        written.push_back(graph.add_value("y" + std::to_string(o), kF32, {2}));
      graph.add_node("clip", "Clip", read, written);
      graph.outputs = written;
      EXPECT_EQ(problems(graph).empty(), inputs >= 1 && inputs <= 3 && outputs == 1)
          << inputs << " inputs, " << outputs << " outputs: " << problems(graph);
      if (inputs == 1 && outputs == 2) {
        EXPECT_EQ(problems(graph), "node 'clip' (Clip): 2 outputs; 1 needed\n");
      }
    }
  }
}

TEST(Verifier, Names) {
  EXPECT_EQ(after([](Graph& g) { g.value(1).name = "x"; }), "value 'x': is a name used twice\n");
  EXPECT_EQ(after([](Graph& g) { g.value(1).name = ""; }), "value 1: has no name\n");
  EXPECT_EQ(after([](Graph& g) { g.nodes[1].name = "relu"; }), "node 'relu' (Add): is a name used twice\n");
  EXPECT_EQ(after([](Graph& g) { g.nodes[1].name = ""; }), "node 1 (Add): has no name\n");
}

TEST(Verifier, TypesAndShapes) {
  EXPECT_EQ(after([](Graph& g) { g.value(3).shape = {4}; }),
            "constant 'c': is declared as f32[4], but holds f32[3]\n");
  EXPECT_EQ(after([](Graph& g) { g.value(1).shape = {}; }),
            "node 'relu' (Relu): output 'y' is declared as f32[scalar], but is f32[2x3]\n");
  EXPECT_EQ(after([](Graph& g) { g.value(2).type = ElementType::kF16; }),
            "node 'add' (Add): output 'z' is declared as f16[2x3], but is f32[2x3]\n");
}

TEST(Verifier, NamesEveryUnsupportedOperator) {
  Graph graph = sound_graph();
  graph.nodes[0].op = "Foo";
  graph.nodes[1].op = "Scan";
  graph.add_node("third", "Bar", {2}, {graph.add_value("w", kF32, {})}, "custom");
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 3u);
  for (const Diagnostic& problem : diagnostics.errors()) {
    EXPECT_EQ(problem.kind, ErrorKind::kUnsupported);
    EXPECT_FALSE(problem.hint.empty());
  }
  EXPECT_EQ(diagnostics.errors()[2].where, "node 'third'");
  try {
    diagnostics.raise_if_any("model");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

}  // namespace
}  // namespace tilewright
