// The cost of a graph before anything is mapped: multiply-accumulates, parameters, bytes moved.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct NodeStatistics {
  NodeId node = kNoNode;
  int64_t macs = 0;             // multiply-accumulates (operators.h says how they are counted)
  int64_t parameters = 0;       // elements of constant inputs
  int64_t parameter_bytes = 0;  // packed
  int64_t input_bytes = 0;      // of inputs that are not constant, each use once
  int64_t output_bytes = 0;
  int64_t bytes() const { return parameter_bytes + input_bytes + output_bytes; }
  // Operations (two per multiply-accumulate) per byte when everything is moved once: Williams, Waterman,
  // Patterson, "Roofline", 2009. 0 without bytes.
  double operations_per_byte() const { return bytes() == 0 ? 0 : 2.0 * double(macs) / double(bytes()); }
};

struct GraphStatistics {
  std::vector<NodeStatistics> nodes;  // one per node, in order
  NodeStatistics total;               // sums, but each constant counted once; node is kNoNode
};

// Needs types and shapes (infer_shapes). Nodes whose operator or inputs are not sound count 0
// multiply-accumulates. Sums saturate.
GraphStatistics statistics(const Graph& graph);

// Multiply-accumulates of one node; 0 when the operator has none or is not sound.
int64_t multiply_accumulates(const Graph& graph, const Node& node);

}  // namespace tilewright
