// Graphs from arithmetic: `d = (x - x0) * (x - x0) + (y - y0) * (y - y0)`, or the body of a small loop.
//
//   s = s + x[i]        a name read before its statement is the value of the thread before (0 at first, or
//   s := 100            what := says)
//   i, thread           the thread number
//   x[2 * i + 1]        a load; y[i] = ...  a store. An array is loaded or stored, not both
//   other names         arguments of the thread
// A name that no later statement reads is a result: its node writes a tile-memory variable ("d_result"), or,
// on tiles without memories, an output follows it.
#pragma once

#include <string>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

struct ExpressionOptions {
  // The fabric has tile memories: arguments are variables (read once, by a copy, where several operations
  // need one), results are kept in variables. Otherwise arguments are inputs and results outputs.
  bool tile_memories = true;
  // Loads arrive as messages: each is in the flow of its address, which is computed separately from
  // everything that reads the loaded value. Otherwise a load is an operation with a value.
  bool asynchronous = true;
  // A product or shift that one sum, logic operation or comparison alone reads joins it in one instruction.
  bool fuse = true;
};

// All problems go to `diagnostics` (positions as source_name:line:column); DataflowGraph::verify is for the
// caller to run.
DataflowGraph parse_expression(const std::string& text, const std::string& source_name,
                               const ExpressionOptions& options, Diagnostics& diagnostics);

}  // namespace tilewright::cgra
