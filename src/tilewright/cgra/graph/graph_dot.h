// Graphs in the GraphViz language: the structure (operations, edges, distances, constants), for pictures and
// for graphs of other tools. Tables, initial values and what reads variables are in the JSON form only.
#pragma once

#include <string>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

// The subset: what dot_parser.h reads. Attributes not named here are skipped.
//
// Nodes. `type`, or a flag `const`, `input`, `output` ("True"); else `op`, or `opcode`, or where neither is
// given `label`, names the operation in our names or those of kernel_file.h; without any it is `add`. `const`
// is a constant operand: its number is in `value`, `constVal`, `int` or `const`, or is the node's name; 1
// otherwise. `thread` is the thread number. `then`, `array` and `writes` are those of the JSON form. Loads
// without an array use "memory", stores, inputs and outputs one of their own, named after them.
//
// Edges. `operand`: the place 0..15 of the value among the node's operands; left, LHS and data: 0; right and
// RHS: 1; addr: 1 of a store, else 0. Edges without a place fill the places that are left in their order;
// what is still missing are constants of 1 (the thread number for the first of a node without edges).
// `distance`: iterations, 1 where a node reads itself, else 0. All problems go to `diagnostics`, with their
// lines.
DataflowGraph parse_graph_dot(const std::string& text, const std::string& source_name,
                              Diagnostics& diagnostics);
// A drawing of the graph with operations and variables in the labels; its structure parses back.
std::string print_graph_dot(const DataflowGraph& graph);

}  // namespace tilewright::cgra
