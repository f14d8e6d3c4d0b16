// A graph made ready to run node by node: kernels bound, last uses known.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/host/prepared_node.h"
#include "tilewright/tensor/tensor_memory.h"

namespace tilewright {

class PreparedGraph {
 public:
  using Observe = std::function<void(ValueId, const Tensor&)>;

  // Errors: attributes a kernel rejects.
  PreparedGraph(Graph graph, const HostOptions& options);
  PreparedGraph(const PreparedGraph&) = delete;  // prepared nodes point into the graph
  PreparedGraph& operator=(const PreparedGraph&) = delete;

  const Graph& graph() const { return graph_; }
  // One tensor per graph output. `observe` sees every node output as soon as it exists. Tensors are freed
  // after their last use, their memory kept for the next run. Errors (invalid input): an output that is not
  // as declared; whatever a node reports, with the node as context.
  std::vector<Tensor> run(std::vector<Tensor> inputs, const HostOptions& options,
                          const Observe& observe = {}) const;

 private:
  Graph graph_;
  std::vector<PreparedNode> nodes_;
  std::vector<std::vector<ValueId>>
      dead_after_;  // by node: values that are not read any more once it has run
  std::shared_ptr<TensorPool> pool_ = std::make_shared<TensorPool>();
};

// The graph's declarations are what later nodes were prepared for, so a mismatch must not go further. Errors
// (invalid input): an output of another type or shape than declared.
void check_outputs(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs);

}  // namespace tilewright
