// A graph while it grows: sums with exact ranges. The range of a sum follows from what it is of the inputs,
// its form, since operands may have inputs in common.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

// Part of a row: a node, shifted.
struct ShiftedNode {
  int node = 0, shift = 0;
  bool negative = false;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const std::vector<NumberRange>& ranges);

  int nodes() const { return int(graph_.inputs.size() + graph_.sums.size()); }
  const GraphNumber& number(int node) const { return graph_.number(node); }
  // The cheapest way to add two terms, up to their common shift and sign.
  PlannedSum plan(const ShiftedNode& a, const ShiftedNode& b) const {
    return plan_sum(number(a.node), a.node, number(b.node), b.node, b.shift - a.shift,
                    a.negative != b.negative);
  }
  // Its node.
  int add(const PlannedSum& plan);
  // The two terms as one.
  ShiftedNode join(const ShiftedNode& a, const ShiftedNode& b);
  // Of the nodes from `first` on, later sums read `kept` at most.
  void forget_forms(int first, int kept);

  AdderGraph& graph() { return graph_; }

 private:
  AdderGraph graph_;
  std::vector<std::vector<int64_t>> forms_;  // by node: the factor of each input in its value
};

}  // namespace tilewright::pipeline
