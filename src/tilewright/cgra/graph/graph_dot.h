// Graphs in the GraphViz language: the structure (operations, edges, distances), for pictures and for graphs
// of other tools. Constants' values, tables and initial values are in the JSON form only.
#pragma once

#include <string>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

// The subset: one `digraph [NAME] { ... }` of statements `a [op=NAME, then=NAME, array=NAME, writes=NAME];`
// and `a -> b -> c [distance=N];`, with quoted or bare names, ';' optional, comments, attributes of graph,
// node and edge defaults skipped. Attributes not named here are skipped too. An operation is `op`, or
// `opcode`, or where neither is given `label`, in our names or those of kernel_file.h; without any it is
// `add`. Operands are the edges in their order; missing ones are constants of 1 (the thread number for the
// first of a node without edges). Loads and stores without an array use "memory" and "results". All problems
// go to `diagnostics`, with their lines.
DataflowGraph parse_graph_dot(const std::string& text, const std::string& source_name,
                              Diagnostics& diagnostics);
// A drawing of the graph with operations, constants and variables in the labels; its structure parses back.
std::string print_graph_dot(const DataflowGraph& graph);

}  // namespace tilewright::cgra
