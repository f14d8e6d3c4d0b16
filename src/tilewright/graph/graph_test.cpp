#include "tilewright/graph/graph.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Graph chain_of_relus(int count) {
  Graph graph;
  ValueId value = graph.add_input("x", ElementType::kF32, {1, 4});
  for (int i = 0; i < count; ++i) {
    const ValueId next = graph.add_value("y", ElementType::kF32, {1, 4});
    graph.add_node("relu", "Relu", {value}, {next});
    value = next;
  }
  graph.outputs = {value};
  return graph;
}

TEST(Graph, NamesAreUnique) {
  const Graph graph = chain_of_relus(3);
  EXPECT_EQ(graph.nodes[2].name, "relu_2");
  EXPECT_EQ(graph.values[3].name, "y_2");
}

TEST(Graph, TakesTheFirstFreeNumber) {
  Graph graph;
  for (const char* name : {"v", "v_2", "v_x", "v_02x", "value"}) graph.add_value(name, ElementType::kF32, {});
  EXPECT_EQ(graph.value(graph.add_value("v", ElementType::kF32, {})).name, "v_1");
  EXPECT_EQ(graph.value(graph.add_value("v", ElementType::kF32, {})).name, "v_3");
  EXPECT_EQ(graph.value(graph.add_value("", ElementType::kF32, {})).name, "value_1");
}

TEST(Graph, RemovesDeadNodesAndRenumbers) {
  Graph graph = chain_of_relus(3);
  graph.outputs = {2};  // the output of the second node
  graph.remove_dead();
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y_1");
}

TEST(Graph, SortsAndNamesACycle) {
  Graph graph = chain_of_relus(4);
  std::swap(graph.nodes[0], graph.nodes[3]);
  graph.sort_topologically();
  EXPECT_EQ(graph.nodes[0].name, "relu");
  EXPECT_EQ(graph.nodes[3].name, "relu_3");
  graph.nodes[0].inputs[0] = graph.nodes[1].outputs[0];
  try {
    graph.sort_topologically();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'relu' (Relu): is part of a cycle");
  }
}

TEST(Graph, AttributeOfAnotherTypeIsAnError) {
  Node node{"n", "", "Foo", {}, {}, {{"axis", int64_t{2}}}};
  EXPECT_EQ(node.int_or("axis", 0), 2);
  EXPECT_EQ(node.int_or("other", 5), 5);
  EXPECT_THROW(node.string_or("axis", ""), Error);
}

}  // namespace
}  // namespace tilewright
