// Runs a graph on the CPU. The reference for everything else: float operators through oneDNN
// and plain loops, integer operators exactly as docs/reference/arithmetic.md says.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tilewright/host/prepared_graph.h"

namespace tilewright {

// A graph made ready once and run any number of times. A run that nobody observes takes the graph in the form
// that runs fastest (execution_form.h); an observed one takes it node by node, as it is. The two differ by
// rounding alone, and only in f32. Values declared f16 or bf16 are computed in f32 throughout and rounded
// where they leave: as outputs and for the observer.
class Executor {
 public:
  // Sees graph inputs and every node output as soon as it exists; not constants.
  using Observe = PreparedGraph::Observe;

  // Errors: operators without a host kernel, all named at once (kUnsupported); attributes a kernel rejects.
  explicit Executor(Graph graph, HostOptions options = {});
  Executor(Executor&&) = default;
  Executor& operator=(Executor&&) = default;

  // One tensor per graph output. Tensors are freed after their last use. Safe to call from several threads at
  // once. Errors (invalid input): number, type or shape of the inputs; a value whose computed type or shape
  // is not the declared one; whatever a node reports, with the node as context.
  std::vector<Tensor> run(std::vector<Tensor> inputs, const Observe& observe = {}) const;
  const Graph& graph() const { return graph_; }

 private:
  // Made by the first observed run, unless it is what runs anyway.
  struct NodeByNode {
    std::once_flag once;
    std::unique_ptr<const PreparedGraph> graph;
  };

  void check_inputs(const std::vector<Tensor>& inputs) const;
  Tensor as_declared(ValueId id, const Tensor& tensor) const;
  const PreparedGraph& observable() const;

  Graph graph_;  // as given
  HostOptions options_;
  std::unique_ptr<const PreparedGraph> fast_;
  std::unique_ptr<NodeByNode> node_by_node_;
};

// Prepares and runs once.
std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs, const HostOptions& options = {});

// One node on the given inputs (nullptr: absent), for constant folding. The outputs have the types and shapes
// that `graph` declares for them. Errors as for Executor.
std::vector<Tensor> evaluate(const Graph& graph, const Node& node, KernelInputs inputs,
                             const HostOptions& options = {});

}  // namespace tilewright
