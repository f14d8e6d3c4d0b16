// Runs a graph on the CPU, node by node. The reference for everything else: float operators through oneDNN
// and plain loops, integer operators exactly as docs/reference/arithmetic.md says.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/host/kernel.h"
#include "tilewright/host/prepared_node.h"

namespace tilewright {

// A graph made ready once (kernels resolved, weights reordered, last uses known) and run any number of
// times. Values declared f16 or bf16 are computed in f32 throughout and rounded where they leave: as outputs
// and for the observer.
class Executor {
 public:
  // Sees graph inputs and every node output as soon as it exists; not constants.
  using Observe = std::function<void(ValueId, const Tensor&)>;

  // Errors: operators without a host kernel, all named at once (kUnsupported); attributes a kernel rejects.
  explicit Executor(Graph graph, HostOptions options = {});
  Executor(Executor&&) = default;
  Executor& operator=(Executor&&) = default;
  Executor(const Executor&) = delete;  // prepared nodes point into the graphs
  Executor& operator=(const Executor&) = delete;

  // One tensor per graph output. Tensors are freed after their last use. Safe to call from several threads at
  // once. Errors (invalid input): number, type or shape of the inputs; a value whose computed type or shape
  // is not the declared one; whatever a node reports, with the node as context.
  std::vector<Tensor> run(std::vector<Tensor> inputs, const Observe& observe = {}) const;
  const Graph& graph() const { return graph_; }

 private:
  const Graph& running() const { return float_graph_ ? *float_graph_ : graph_; }
  void check_inputs(const std::vector<Tensor>& inputs) const;
  Tensor as_declared(ValueId id, const Tensor& tensor) const;

  Graph graph_;                       // as given
  std::optional<Graph> float_graph_;  // set when graph_ has half values: what runs instead
  HostOptions options_;
  std::vector<PreparedNode> nodes_;
  std::vector<std::vector<ValueId>>
      dead_after_;  // by node: values that are not read any more once it has run
};

// Prepares and runs once.
std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs, const HostOptions& options = {});

// One node on the given inputs (nullptr: absent), for constant folding. The outputs have the types and shapes
// that `graph` declares for them. Errors as for Executor.
std::vector<Tensor> evaluate(const Graph& graph, const Node& node, KernelInputs inputs,
                             const HostOptions& options = {});

}  // namespace tilewright
