// Files of dataflow graphs: the JSON schema of docs/reference/cgra_graphs.md, which holds everything a graph
// has and where some of its nodes are fixed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/graph/dataflow_graph.h"

namespace tilewright::cgra {

// A graph with its partial placement, in the form of MappingProblem: one entry per node, or empty lists.
struct GraphFile {
  DataflowGraph graph;
  std::vector<std::optional<int>> fixed_tiles, fixed_times;
  bool operator==(const GraphFile&) const = default;
};

inline constexpr int kUsualOperands = 3;  // of a fabric's instruction

// All problems of the text go to `diagnostics`, those of the graph's form (DataflowGraph::verify) too; the
// graph is usable only where there are none. Errors (invalid input): the text is no JSON.
GraphFile parse_graph_json(const std::string& text, const std::string& source_name, int most_operands,
                           Diagnostics& diagnostics);
// Parses back to an equal file.
std::string print_graph_json(const GraphFile& file);

// A graph file of any kind: our JSON, GraphViz (*.dot, *.gv), or a benchmark graph (kernel_file.h), told
// apart by name and fields. Errors (invalid input): unreadable, and all problems at once.
GraphFile read_graph_file(const std::filesystem::path& path, int most_operands = kUsualOperands);
GraphFile read_graph_file(const std::filesystem::path& path, int most_operands, Diagnostics& diagnostics);

}  // namespace tilewright::cgra
