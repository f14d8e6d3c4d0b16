// The dataflow graph that a fabric executes: operations with up to a few operands, tile-memory variables,
// external arrays reached through the asynchronous fabric, and values of earlier iterations (threads).
//
// A synchronous flow is a weakly connected component of the edges between operations: its operations keep
// fixed distances in time. Flows talk through variables that asynchronous messages fill (`sends`, or a load's
// `into`). Every flow runs one thread per iteration, an II apart. Values are 32-bit integers, arithmetic
// wraps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/opcode.h"

namespace tilewright::cgra {

enum class OperandKind : uint8_t {
  kNode,      // the result of an operation, `distance` iterations ago
  kConstant,  // `value`; constants are free
  kVariable,  // an entry of a tile-memory variable (the thread's own, or a table's by another operand)
  kThread,    // the iteration number
};

struct Operand {
  OperandKind kind = OperandKind::kConstant;
  int index = -1;                // node or variable
  int distance = 0;              // kNode: iterations between producer and consumer
  int32_t value = 0;             // kConstant
  std::vector<int32_t> initial;  // kNode: what the first `distance` iterations read; missing ones are 0
  bool operator==(const Operand&) const = default;
};

struct DataflowNode {
  std::string name;
  Opcode op = Opcode::kAdd;
  std::optional<Opcode> then;  // one instruction: (a op b) then c
  std::vector<Operand> operands;
  int writes = -1;  // tile-memory variable that the result is written to, on the node's own tile
  int sends = -1;   // variable of another flow that the result reaches as an asynchronous message
  int array = -1;   // external array of a load or store
  bool operator==(const DataflowNode&) const = default;
};

// A tile-memory variable: it lives on one tile, where everything that reads or writes it synchronously must
// be.
struct Variable {
  std::string name;
  std::vector<int32_t> table;  // constant contents, read with `lookup`; empty: an entry per thread, in turn
  int entries = 16;            // without a table: thread k uses entry k mod entries
  bool operator==(const Variable&) const = default;
  int size() const { return table.empty() ? entries : int(table.size()); }  // entries of tile memory
};

// An array in external memory.
struct ExternalArray {
  std::string name;
  bool operator==(const ExternalArray&) const = default;
};

// A value's path from producer to consumer, the unit of timing and routing.
struct Edge {
  int from = 0, to = 0;
  int operand = 0;   // of `to`
  int distance = 0;  // iterations
  bool operator==(const Edge&) const = default;
};

struct DataflowGraph {
  std::string name;
  std::vector<DataflowNode> nodes;
  std::vector<Variable> variables;
  std::vector<ExternalArray> arrays;
  std::string description;  // for people
  bool operator==(const DataflowGraph&) const = default;

  // All edges between operations, ordered by consumer, then operand.
  std::vector<Edge> edges() const;
  // The synchronous flow of every node, numbered in the order of their first nodes.
  std::vector<int> flows() const;
  // Groups of at least two nodes that must share a tile because they read or write the same variable; node
  // ids ascend.
  std::vector<std::vector<int>> same_tile_groups() const;
  // Every rule the graph breaks (the list is in docs/reference/cgra_graphs.md): cycles without distance
  // (naming the nodes), undefined operands, wrong operand counts, variables with two sources, ...
  // `most_operands`: what the fabric's instructions take. Missing operands are 0; the readers check that a
  // file lists all of them.
  void verify(int most_operands, Diagnostics& diagnostics) const;
};

// An order of the nodes over the edges of distance 0. Nodes on a cycle without distance, or after one, are
// left out.
std::vector<int> topological_order(const DataflowGraph& graph);

// The longest chain of edges of distance 0 with `latency` clocks per operation: no schedule is shorter. The
// graph is free of cycles of distance 0.
int critical_path_cycles(const DataflowGraph& graph, int latency_cycles);

}  // namespace tilewright::cgra
