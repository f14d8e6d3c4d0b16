// Which nodes of a graph become hardware: the rest is the host's, before or behind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright::pipeline {

// Whether a node is one of the operators that hardware computes, numbers and all.
bool runs_in_hardware(const Graph& graph, const Node& node);
// Products of a node of any number type; 0 of operators without weights.
int64_t node_products(const Graph& graph, const Node& node);

struct Region {
  enum class Place { kBefore, kInside, kBehind };
  std::vector<Place> places;             // by node
  std::vector<ValueId> inputs, outputs;  // that cross its borders, in the order of the graph
  int64_t products = 0;                  // of its nodes
  bool empty = true;                     // no layer at all
};

// Nodes between layers that hardware cannot compute, without the conversions around them.
std::vector<NodeId> obstacles(const Graph& graph, const Region& region);

// The nodes between the first layer with weights (or pool) and whatever hardware cannot compute: nothing that
// the host makes from a result goes back in. Where such a node comes early, the part behind it that has the
// most products. `refused`: nodes that are not for hardware although their operators are.
Region find_region(const Graph& graph, const std::map<NodeId, std::string>& refused);

}  // namespace tilewright::pipeline
