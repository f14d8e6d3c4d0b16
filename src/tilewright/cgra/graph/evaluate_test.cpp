// Small programs whose results can be worked out by hand.
#include "tilewright/cgra/graph/evaluate.h"

#include <gtest/gtest.h>

namespace tilewright::cgra {
namespace {

Operand from(int node, int distance = 0, std::vector<int32_t> initial = {}) {
  return {OperandKind::kNode, node, distance, 0, std::move(initial)};
}
Operand constant(int32_t value) { return {OperandKind::kConstant, -1, 0, value, {}}; }
Operand variable(int index) { return {OperandKind::kVariable, index, 0, 0, {}}; }
Operand thread() { return {OperandKind::kThread, -1, 0, 0, {}}; }

TEST(EvaluateGraph, CarriesValuesFromThreadToThread) {
  DataflowGraph graph;
  // sum = sum[-1] + thread; back = sum[-2] - 1, listed before its operand.
  graph.nodes = {{.name = "back", .op = Opcode::kSubtract, .operands = {from(1, 2, {7}), constant(1)}},
                 {.name = "sum", .op = Opcode::kAdd, .operands = {from(1, 1, {100}), thread()}}};
  const Evaluation result = evaluate_graph(graph, {}, 4);
  EXPECT_EQ(result.values[1], (std::vector<int32_t>{100, 101, 103, 106}));
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{6, -1, 99, 100}));
}

TEST(EvaluateGraph, PassesMessagesBetweenFlowsAndStores) {
  DataflowGraph graph;
  graph.arrays = {{"a"}, {"c"}};
  graph.variables = {{.name = "x"}, {.name = "given"}};
  graph.nodes = {
      {.name = "sum", .op = Opcode::kAdd, .operands = {variable(0), variable(1)}},
      {.name = "load", .op = Opcode::kLoad, .operands = {thread(), constant(1)}, .sends = 0, .array = 0},
      {.name = "store", .op = Opcode::kStore, .operands = {from(0), thread(), constant(2)}, .array = 1}};
  const Inputs inputs{{{0, {1, 2, 3, 4}}}, {{1, {10, 20, 30}}}};
  const Evaluation result = evaluate_graph(graph, inputs, 3);
  EXPECT_EQ(result.values[0], (std::vector<int32_t>{12, 23, 34}));
  EXPECT_EQ(result.stores[2], (std::vector<StoreRecord>{{2, 12}, {3, 23}, {4, 34}}));
  EXPECT_EQ(result.arrays[1], (std::vector<int32_t>{0, 0, 12, 23, 34}));
  EXPECT_TRUE(result.arrays[0].empty());
}

TEST(EvaluateGraph, WritesTileMemoriesInTurnAndReadsTables) {
  DataflowGraph graph;
  graph.variables = {{.name = "ring", .entries = 4}, {.name = "table", .table = {5, 6, 7}}};
  graph.nodes = {{.name = "a", .op = Opcode::kAdd, .operands = {thread(), constant(10)}, .writes = 0},
                 {.name = "b", .op = Opcode::kLookup, .operands = {variable(1), thread()}, .writes = 0}};
  const Evaluation result = evaluate_graph(graph, {}, 3);
  EXPECT_EQ(result.values[1], (std::vector<int32_t>{5, 6, 7}));
  EXPECT_EQ(result.memory[0], (std::vector<int32_t>{12, 7, 11, 6}));  // threads 2, 2, 1, 1
  EXPECT_TRUE(result.memory[1].empty());
}

}  // namespace
}  // namespace tilewright::cgra
