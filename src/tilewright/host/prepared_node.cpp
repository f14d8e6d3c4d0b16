// Half precision for kernels that only know f32: f16 and bf16 inputs are widened (constants once, on
// construction), and f32 outputs are narrowed to the type of the first half-precision input.
#include "tilewright/host/prepared_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/host/half_conversion.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {

std::string node_context(const Node& node) { return fmt::format("{} ({})", where(node), node.op); }

namespace {

// As with_context, unless the diagnostics name the node already.
template <typename Body>
decltype(auto) with_node(const Node& node, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    const std::string place = where(node);
    const bool named =
        !error.diagnostics().empty() &&
        std::ranges::all_of(error.diagnostics(), [&](const Diagnostic& d) { return d.where == place; });
    if (!named) error.add_context(node_context(node));
    throw;
  }
}

}  // namespace

PreparedNode::PreparedNode(const Node& node, std::span<const KernelOperand> operands,
                           const HostOptions& options)
    : node_(&node), entry_(find_kernel(node.domain, node.op)) {
  if (entry_ == nullptr) {
    throw Error(
        {{ErrorKind::kUnsupported, where(node), node.op, "the host engine has no such operator", ""}});
  }
  with_node(node, [&] {
    std::vector<KernelOperand> seen(operands.begin(), operands.end());
    if (entry_->half == HalfTypes::kThroughFloat) {
      constants_in_f32_.resize(seen.size());
      for (size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i].present || !is_half(seen[i].type)) continue;
        if (!half_) half_ = seen[i].type;
        seen[i].type = ElementType::kF32;
        if (seen[i].constant != nullptr) {
          constants_in_f32_[i] = widen_half(*seen[i].constant);
          seen[i].constant = &*constants_in_f32_[i];
        }
      }
    }
    if (entry_->bind != nullptr) bound_ = entry_->bind(node, seen, options);
  });
}

std::vector<Tensor> PreparedNode::run_kernel(KernelInputs inputs, const HostOptions& options) const {
  std::vector<Tensor> outputs = bound_ ? bound_(inputs, options) : entry_->kernel(*node_, inputs, options);
  TILEWRIGHT_CHECK(outputs.size() >= node_->outputs.size(), "kernel of " + node_->op + " lacks an output");
  outputs.resize(node_->outputs.size());
  return outputs;
}

std::vector<Tensor> PreparedNode::run(KernelInputs inputs, const HostOptions& options) const {
  return with_node(*node_, [&] {
    if (!half_) return run_kernel(inputs, options);
    std::vector<Tensor> widened(inputs.size());
    std::vector<const Tensor*> floats(inputs.begin(), inputs.end());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr || !is_half(inputs[i]->type())) continue;
      if (!constants_in_f32_[i]) widened[i] = widen_half(*inputs[i]);
      floats[i] = constants_in_f32_[i] ? &*constants_in_f32_[i] : &widened[i];
    }
    std::vector<Tensor> outputs = run_kernel(floats, options);
    for (Tensor& output : outputs) {
      if (output.type() == ElementType::kF32) output = narrow_to_half(output, *half_);
    }
    return outputs;
  });
}

}  // namespace tilewright
