// Evaluation against values worked out by hand, and the project's graphs against plain loops.
#include "tilewright/cgra/graph/evaluate.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/graph/graph_file.h"

namespace tilewright::cgra {
namespace {

const std::filesystem::path kGraphs = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/cgra";

DataflowGraph parsed_program(const std::string& text) {
  Diagnostics diagnostics;
  GraphFile file = parse_graph_json(text, "g.json", kUsualOperands, diagnostics);
  diagnostics.raise_if_any();
  return file.graph;
}

std::vector<int32_t> evaluated_numbers(Random& random, size_t count) {
  std::vector<int32_t> made(count);
  for (int32_t& value : made) value = int32_t(random.between(-1000, 1000));
  return made;
}

int variable(const DataflowGraph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.variables.size(); ++i) {
    if (graph.variables[i].name == name) return int(i);
  }
  return -1;
}

int node(const DataflowGraph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return int(i);
  }
  return -1;
}

TEST(Evaluate, CarriesValuesBetweenThreads) {
  const DataflowGraph graph = parsed_program(R"({"arrays": ["x"], "nodes": [
    {"name": "sum", "op": "add", "operands": [{"node": "sum", "distance": 1, "initial": [100]}, "item"]},
    {"name": "item", "op": "input", "array": "x"},
    {"name": "fibonacci", "op": "add", "operands": [{"node": "fibonacci", "distance": 1, "initial": [1]},
                                                    {"node": "fibonacci", "distance": 2, "initial": [0, 1]}]}]})");
  const Evaluation result = evaluate_graph(graph, {.arrays = {{0, {1, 2, 3, 4}}}}, 5);
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{101, 103, 106, 110, 110}));
  EXPECT_EQ(result.values[2], (std::vector<int32_t>{1, 2, 3, 5, 8}));
}

TEST(Evaluate, TablesVariablesAndMessages) {
  const DataflowGraph graph = parsed_program(R"({"arrays": ["out"],
    "variables": [{"name": "t", "table": [10, 20, 30]}, {"name": "m"}, {"name": "w", "entries": 4}, {"name": "a"}],
    "nodes": [
      {"name": "reader", "op": "mul", "then": "sub", "operands": ["m", 2, "a"], "writes": "w"},
      {"name": "look", "op": "lookup", "operands": ["t", "thread"], "sends": "m"},
      {"name": "other", "op": "copy", "operands": ["thread"], "writes": "w"},
      {"name": "keep", "op": "store", "operands": ["reader", "thread", 5], "array": "out"}]})");
  const Evaluation result = evaluate_graph(graph, {.arguments = {{3, {1, 2, 3}}}}, 4);
  EXPECT_EQ(result.values[1], (std::vector<int32_t>{10, 20, 30, 10}));
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{19, 38, 57, 20}));
  EXPECT_EQ(result.memory[2], (std::vector<int32_t>{57, 2, 20, 3}));
  EXPECT_EQ(result.arrays[0], (std::map<int32_t, int32_t>{{5, 19}, {6, 38}, {7, 57}, {8, 20}}));
}

TEST(Evaluate, VectorAddAddsVectors) {
  const DataflowGraph graph = read_graph_file(kGraphs / "vector_add.json").graph;
  Random random(1);
  const std::vector<int32_t> x = evaluated_numbers(random, 50), y = evaluated_numbers(random, 50);
  const Evaluation result = evaluate_graph(graph, {.arrays = {{0, x}, {1, y}}}, 50);
  const std::map<int32_t, int32_t>& z = result.arrays[2];
  ASSERT_EQ(z.size(), 50u);
  for (int32_t k = 0; k < 50; ++k) EXPECT_EQ(z.at(k), x[k] + y[k]);
}

TEST(Evaluate, MultiplyAddAndDistance) {
  Random random(2);
  const std::vector<int32_t> a = evaluated_numbers(random, 30), b = evaluated_numbers(random, 30), c(30, 7);
  const DataflowGraph mad = read_graph_file(kGraphs / "multiply_add.json").graph;
  const Evaluation sums = evaluate_graph(mad, {.arguments = {{0, a}, {1, b}, {2, c}}}, 30);
  const DataflowGraph distance = read_graph_file(kGraphs / "distance.json").graph;
  const Evaluation ways = evaluate_graph(distance, {.arguments = {{0, a}, {1, b}, {2, c}}}, 30);
  for (int32_t k = 0; k < 30; ++k) {
    EXPECT_EQ(sums.arrays[0].at(k), a[k] * b[k] + 7);
    EXPECT_EQ(ways.arrays[0].at(4 * k + 7), std::abs(a[k] - 120) + std::abs(b[k] + 75));
  }
}

TEST(Evaluate, ButterfliesOfTheInverseTransform) {
  const DataflowGraph graph = read_graph_file(kGraphs / "ifft.json").graph;
  Random random(3);
  const std::vector<int32_t> data = evaluated_numbers(random, 80), twiddles = evaluated_numbers(random, 8);
  const Inputs inputs{.arrays = {{0, data}, {1, twiddles}},
                      .arguments = {{variable(graph, "base"), std::vector<int32_t>(32, 4)},
                                    {variable(graph, "limit"), std::vector<int32_t>(32, 900)},
                                    {variable(graph, "count"), std::vector<int32_t>(32, 31)}}};
  const Evaluation result = evaluate_graph(graph, inputs, 32);
  const std::map<int32_t, int32_t>& out = result.arrays[2];
  for (int32_t k = 0; k < 32; ++k) {
    const int32_t block = k / 8, top = block * 16 + k % 8;
    const int32_t product = data[4 + top + 8] * twiddles[block + 1] + 128;
    const int32_t upper = data[4 + top] + (product >> 8);
    EXPECT_EQ(out.at(k), upper);
    EXPECT_EQ(result.values[node(graph, "overflow")][k], std::abs(upper) - 900 > 900);
    EXPECT_EQ(result.values[node(graph, "test")][k], k < 31);
  }
}

Operand from(int node, int distance = 0, std::vector<int32_t> initial = {}) {
  return {OperandKind::kNode, node, distance, 0, std::move(initial)};
}
Operand constant(int32_t value) { return {OperandKind::kConstant, -1, 0, value, {}}; }
Operand entry(int index) { return {OperandKind::kVariable, index, 0, 0, {}}; }
Operand thread_number() { return {OperandKind::kThread, -1, 0, 0, {}}; }

TEST(Evaluate, CarriesValuesOfLaterNodes) {
  DataflowGraph graph;
  // sum = sum[-1] + thread; back = sum[-2] - 1, listed before its operand.
  graph.nodes = {{.name = "back", .op = Opcode::kSubtract, .operands = {from(1, 2, {7}), constant(1)}},
                 {.name = "sum", .op = Opcode::kAdd, .operands = {from(1, 1, {100}), thread_number()}}};
  const Evaluation result = evaluate_graph(graph, {}, 4);
  EXPECT_EQ(result.values[1], (std::vector<int32_t>{100, 101, 103, 106}));
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{6, -1, 99, 100}));
}

TEST(Evaluate, PassesMessagesBetweenFlowsAndStores) {
  DataflowGraph graph;
  graph.arrays = {{"a"}, {"c"}};
  graph.variables = {{.name = "x"}, {.name = "given"}};
  graph.nodes = {{.name = "sum", .op = Opcode::kAdd, .operands = {entry(0), entry(1)}},
                 {.name = "load",
                  .op = Opcode::kLoad,
                  .operands = {thread_number(), constant(1)},
                  .sends = 0,
                  .array = 0},
                 {.name = "store",
                  .op = Opcode::kStore,
                  .operands = {from(0), thread_number(), constant(2)},
                  .array = 1}};
  const Inputs inputs{{{0, {1, 2, 3, 4}}}, {{1, {10, 20, 30}}}};
  const Evaluation result = evaluate_graph(graph, inputs, 3);
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{12, 23, 34}));
  EXPECT_EQ(result.stores[2], (std::vector<StoreRecord>{{2, 12}, {3, 23}, {4, 34}}));
  EXPECT_EQ(result.arrays[1], (std::map<int32_t, int32_t>{{2, 12}, {3, 23}, {4, 34}}));
  EXPECT_TRUE(result.arrays[0].empty());
}

TEST(Evaluate, WritesTileMemoriesInTurnAndReadsTables) {
  DataflowGraph graph;
  graph.variables = {{.name = "ring", .entries = 4}, {.name = "table", .table = {5, 6, 7}}};
  graph.nodes = {{.name = "a", .op = Opcode::kAdd, .operands = {thread_number(), constant(10)}, .writes = 0},
                 {.name = "b", .op = Opcode::kLookup, .operands = {entry(1), thread_number()}, .writes = 0}};
  const Evaluation result = evaluate_graph(graph, {}, 3);
  EXPECT_EQ(result.values[1], (std::vector<int32_t>{5, 6, 7}));
  EXPECT_EQ(result.memory[0], (std::vector<int32_t>{12, 7, 11, 6}));  // threads 2, 2, 1, 1
  EXPECT_TRUE(result.memory[1].empty());
}

// Five entries hold two records of two writers; the fifth stays empty.
TEST(Evaluate, KeepsWholeRecordsOfItsWriters) {
  DataflowGraph graph;
  graph.variables = {{.name = "ring", .entries = 5}};
  graph.nodes = {{.name = "a", .op = Opcode::kCopy, .operands = {thread_number()}, .writes = 0},
                 {.name = "b", .op = Opcode::kNegate, .operands = {thread_number()}, .writes = 0}};
  EXPECT_EQ(evaluate_graph(graph, {}, 4).memory[0], (std::vector<int32_t>{2, -2, 3, -3, 0}));
}

TEST(Evaluate, EveryGeneratedGraphHasValues) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const DataflowGraph graph = generate_random_graph({.nodes = int(random.between(1, 12))}, random.next());
    const Evaluation first = evaluate_graph(graph, {}, 20), again = evaluate_graph(graph, {}, 40);
    for (size_t node = 0; node < graph.nodes.size(); ++node) {
      EXPECT_TRUE(
          std::equal(first.values[node].begin(), first.values[node].end(), again.values[node].begin()))
          << "a thread's values do not depend on how many follow";
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
