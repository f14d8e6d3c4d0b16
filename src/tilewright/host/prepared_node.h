// One node made ready to run: kernel resolved, bound to its operands, constants converted once.
#pragma once

#include <optional>

#include "tilewright/host/kernel.h"

namespace tilewright {

class PreparedNode {
 public:
  // `node` must outlive this object; the operands' constants are shared. Errors (with the node as context):
  // no kernel for the operator (kUnsupported), whatever binding the kernel finds wrong.
  PreparedNode(const Node& node, std::span<const KernelOperand> operands, const HostOptions& options);

  // One tensor per listed output of the node. Errors carry the node as context.
  std::vector<Tensor> run(KernelInputs inputs, const HostOptions& options) const;
  const Node& node() const { return *node_; }

 private:
  std::vector<Tensor> run_kernel(KernelInputs inputs, const HostOptions& options) const;

  const Node* node_;
  const KernelEntry* entry_ = nullptr;
  BoundKernel bound_;
  std::optional<ElementType> half_;                      // set: inputs of this type run as f32
  std::vector<std::optional<Tensor>> constants_in_f32_;  // by input; only where the constant is half
};

// "node 'conv1' (Conv)".
std::string node_context(const Node& node);

}  // namespace tilewright
