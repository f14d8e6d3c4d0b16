// The generated families: reproducible, valid, with the statistics they promise.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::cgra {
namespace {

std::vector<int> fan_out(const DataflowGraph& graph) {
  std::vector<int> count(graph.nodes.size(), 0);
  for (const Edge& edge : graph.edges()) ++count[edge.from];
  return count;
}

std::vector<int> fan_in(const DataflowGraph& graph) {
  std::vector<int> count(graph.nodes.size(), 0);
  for (const Edge& edge : graph.edges()) ++count[edge.to];
  return count;
}

std::string problems(const DataflowGraph& graph, int most_operands) {
  Diagnostics diagnostics;
  graph.verify(most_operands, diagnostics);
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.errors()) text += to_string(diagnostic) + "\n";
  return text;
}

TEST(Generate, FlowGraphsLookLikeTheSyntheticOnes) {
  int edges = 0, nodes = 0;
  for (const int size : {8, 12, 16, 24, 40, 64, 80, 100, 200, 500}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const GeneratedGraph made = generate_flow_graph(size, 16, seed);
      EXPECT_EQ(problems(made.graph, 3), "");
      EXPECT_EQ(int(made.graph.nodes.size()), size);
      const std::vector<int> in = fan_in(made.graph), out = fan_out(made.graph);
      EXPECT_LE(*std::max_element(in.begin(), in.end()), 3);
      EXPECT_LE(*std::max_element(out.begin(), out.end()), 4);
      EXPECT_EQ(std::count(in.begin(), in.end(), 0), std::clamp(size / 8, 1, 4));
      EXPECT_EQ(int(made.graph.same_tile_groups().size()), std::max(1, size / 6));
      EXPECT_GE(made.ii * 16, size + 16);
      edges += int(made.graph.edges().size());
      nodes += size;
      EXPECT_EQ(generate_flow_graph(size, 16, seed).graph, made.graph);
      EXPECT_NE(generate_flow_graph(size, 16, seed + 100).graph, made.graph);
    }
  }
  EXPECT_NEAR(double(edges) / nodes, 1.3, 0.1);  // the 45 files: 0.88 to 1.50, 1.29 over all
}

TEST(Generate, WideGraphsHaveOneSourceWithManyConsumers) {
  int consumers = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const DataflowGraph graph = generate_wide_graph(20, seed);
    EXPECT_EQ(problems(graph, 20), "");
    const std::vector<int> in = fan_in(graph), out = fan_out(graph);
    EXPECT_EQ(std::count(in.begin(), in.end(), 0), 1);
    EXPECT_EQ(in[0], 0);
    const int widest = *std::max_element(out.begin(), out.end());
    EXPECT_EQ(out[0], widest);
    EXPECT_EQ(int(graph.edges().size()), 19 + widest - 1);
    for (const Edge& edge : graph.edges()) EXPECT_LT(edge.from, edge.to);
    consumers += widest;
    EXPECT_EQ(generate_wide_graph(20, seed), graph);
  }
  EXPECT_GT(consumers / 50, 10);
}

TEST(Generate, RandomGraphsHaveEveryForm) {
  Random random(5);
  int carried = 0, written = 0, sent = 0, loads = 0, flows = 0, tables = 0;
  for (int i = 0; i < 1000; ++i) {
    const DataflowGraph graph = generate_random_graph({.nodes = int(random.between(1, 8))}, random.next());
    ASSERT_EQ(problems(graph, 3), "") << graph.name;
    for (const Edge& edge : graph.edges()) carried += edge.distance > 0;
    for (const DataflowNode& node : graph.nodes) {
      written += node.writes >= 0;
      sent += node.sends >= 0;
      loads += node.op == Opcode::kLoad;
      tables += node.op == Opcode::kLookup;
    }
    const std::vector<int> flow = graph.flows();
    flows += *std::max_element(flow.begin(), flow.end()) > 0;
  }
  for (const int count : {carried, written, sent, loads, flows, tables}) EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace tilewright::cgra
