// Which nodes a backend can run as one: a layer with what follows it on edges that nothing else reads, so the
// intermediate values never reach memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct FusionGroup {
  std::vector<NodeId> nodes;  // a chain, in order; each reads the one before
};

// Every node is in exactly one group. A layer (Conv, Gemm, ...) takes in order, each optional: element-wise
// operators with a constant, one Add of another value (residual), one activation, one pool. Another node
// takes the activation and pool that follow it when it is an Add, a Mul, a BatchNormalization, or a Sub or
// Div with a constant; the rest stand alone.
// Only edges with one reader that are no graph output are fused.
std::vector<FusionGroup> fusion_groups(const Graph& graph);
// Every node alone.
std::vector<FusionGroup> unfused_groups(const Graph& graph);
// "Conv + Add + Relu".
std::string pattern(const Graph& graph, const FusionGroup& group);

// Bytes that cross the borders of groups.
struct GroupTraffic {
  int64_t activations = 0;
  int64_t constants = 0;  // weights, mostly; no fusion saves them
  int64_t bytes() const { return activations + constants; }
};
// When every group reads each of its outside inputs once and writes what others read. Reshape and its
// relatives, Identity and Dropout move nothing.
GroupTraffic traffic(const Graph& graph, const std::vector<FusionGroup>& groups);

}  // namespace tilewright
