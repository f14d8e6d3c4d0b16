// The content of a text in the GraphViz language: nodes and edges with their attributes, not yet interpreted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/cgra/graph/dot_tokens.h"

namespace tilewright::cgra {

using DotAttributes = std::map<std::string, DotToken>;  // by name in small letters; the last one given counts

struct DotNode {
  std::string name;
  int line = 1;  // of its first mention
  DotAttributes attributes;
};

struct DotEdge {
  int from = 0, to = 0;
  int line = 1;
  int attributes = 0;  // number in DotGraph::edge_attributes
};

struct DotGraph {
  std::string name = "graph";
  std::vector<DotNode> nodes;  // in the order of their first mention
  std::vector<DotEdge> edges;  // in the order of the text
  std::vector<DotAttributes> edge_attributes;
};

// One directed graph: node and edge statements, chains, subgraphs (as endpoints too), defaults of nodes and
// edges, ports (left out). Keywords in any case. All problems go to `diagnostics`, with their lines; then the
// graph holds what could be read.
DotGraph parse_dot(const std::string& text, const std::string& source_name, Diagnostics& diagnostics);

}  // namespace tilewright::cgra
