// Types and shapes of node outputs, one node at a time, while a graph is being built. Sizes that a model
// computes (Shape, Gather, Concat, ...) are followed.
#pragma once

#include <unordered_map>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {

class NodeTyping {
 public:
  // `graph` must outlive this object; its values may grow between calls.
  explicit NodeTyping(Graph& graph) : graph_(graph) {}

  // Sets type and shape of the outputs of `node`, whose inputs are typed. Errors (invalid input,
  // unsupported): whatever the operator table rejects, all of it.
  void infer(const Node& node);
  // The elements of a value that is constant or follows from constants; nullptr when they are not known.
  const Tensor* known(ValueId id) const;

 private:
  OperatorContext context(const Node& node) const;

  Graph& graph_;
  std::unordered_map<ValueId, Tensor> computed_;
};

}  // namespace tilewright
