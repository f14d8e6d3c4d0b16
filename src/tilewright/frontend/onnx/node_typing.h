// Types and shapes of node outputs, one node at a time, while a graph is being built.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/graph/operators.h"

namespace tilewright {

class NodeTyping {
 public:
  // `graph` must outlive this object; its values may grow between calls.
  explicit NodeTyping(const Graph& graph) : graph_(graph) {}

  // One entry per output of `node`, whose inputs are typed. Errors (invalid input, unsupported): whatever the
  // operator rejects.
  std::vector<TypedShape> infer(const Node& node);

 private:
  const Graph& graph_;
};

}  // namespace tilewright
