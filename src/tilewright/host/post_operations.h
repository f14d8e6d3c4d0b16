// What is applied to each element of a convolution or matrix product before it is stored.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// "add": the next added tensor; else a function of oneDNN: "relu" (alpha: slope below 0), "clip" (alpha to
// beta), "logistic", "tanh", "elu" (alpha), "swish" (alpha), "hardswish", "mish", "gelu_erf", "gelu_tanh",
// "soft_relu", "linear" (alpha x + beta).
struct PostOperation {
  std::string name;
  float alpha = 0, beta = 0;
};

std::vector<PostOperation> post_operations(const Node& node);
void set_post_operations(Node& node, const std::vector<PostOperation>& operations);

// Element-wise nodes that together are one function of one value: an operator, or a formula as exporters
// spell it out.
struct Activation {
  std::vector<PostOperation> operations;
  std::vector<NodeId> nodes;  // in graph order
};

// The nodes that turn `value`, which is read by nothing else, into one other value; none: no nodes. `readers`
// is graph.consumers().
Activation find_activation(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                           ValueId value);

}  // namespace tilewright
