// Straight-line execution in node order with reference counts resolved ahead of time: dead_after_ lists what
// each node reads last, so the peak memory is that of the live values only.
#include "tilewright/host/executor.h"

#include <fmt/format.h>

#include "tilewright/host/half_conversion.h"
#include "tilewright/host/half_graph.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

KernelOperand operand(const Graph& graph, ValueId id) {
  if (id == kNoValue) return {};
  const Value& value = graph.value(id);
  return {true, value.type, value.shape, value.constant ? &*value.constant : nullptr};
}

// A model that declares more asks for memory that no such model needs; better said than tried.
constexpr int64_t kMaxValueBits = int64_t{1} << 36;  // 8 GiB

void check_size(const Value& value, Diagnostics& diagnostics) {
  if (value.shape.element_count() <= kMaxValueBits / bit_width(value.type)) return;
  diagnostics.error(ErrorKind::kUnsupported, fmt::format("value '{}'", value.name), "",
                    fmt::format("{} is beyond 8 GiB", to_string(value.type, value.shape)));
}

void check_runnable(const Graph& graph) {
  Diagnostics diagnostics;
  for (const Value& value : graph.values) check_size(value, diagnostics);
  for (const Node& node : graph.nodes) {
    if (find_kernel(node.domain, node.op) != nullptr) continue;
    diagnostics.error(ErrorKind::kUnsupported, where(node), node.op,
                      node.domain.empty()
                          ? "the host engine has no such operator"
                          : fmt::format("the host engine has no such operator in domain '{}'", node.domain));
  }
  diagnostics.raise_if_any();
}

// The graph's declarations are what later nodes were prepared for, so a mismatch must not go further.
void check_outputs(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    const Value& value = graph.value(node.outputs[i]);
    if (outputs[i].type() == value.type && outputs[i].shape() == value.shape) continue;
    throw Error(
        {{ErrorKind::kInvalidInput, where(node), node.op,
          fmt::format("output '{}' is {} but the model declares {}", value.name,
                      to_string(outputs[i].type(), outputs[i].shape()), to_string(value.type, value.shape)),
          ""}});
  }
}

std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  constexpr size_t kNever = ~size_t{0};
  std::vector<size_t> last(graph.values.size(), kNever);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    // A value that nobody reads dies where it is born.
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue) last[size_t(id)] = n;
    }
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue) last[size_t(id)] = n;
    }
  }
  for (const ValueId id : graph.outputs) last[size_t(id)] = kNever;
  std::vector<std::vector<ValueId>> dead_after(graph.nodes.size());
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] != kNever && !graph.is_constant(ValueId(id))) dead_after[last[id]].push_back(ValueId(id));
  }
  return dead_after;
}

}  // namespace

Executor::Executor(Graph graph, HostOptions options) : graph_(std::move(graph)), options_(options) {
  check_runnable(graph_);
  if (has_half_values(graph_)) float_graph_ = with_half_as_float(graph_);
  dead_after_ = last_uses(graph_);
  nodes_.reserve(graph_.nodes.size());
  for (const Node& node : running().nodes) {
    std::vector<KernelOperand> operands;
    operands.reserve(node.inputs.size());
    for (const ValueId id : node.inputs) operands.push_back(operand(running(), id));
    nodes_.emplace_back(node, operands, options_);
  }
}

void Executor::check_inputs(const std::vector<Tensor>& inputs) const {
  if (inputs.size() != graph_.inputs.size()) {
    std::string expected;
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.value(id);
      expected += fmt::format("{}'{}' {}", expected.empty() ? "" : ", ", value.name,
                              to_string(value.type, value.shape));
    }
    throw Error(ErrorKind::kInvalidInput, fmt::format("the model has {} inputs ({}), {} given",
                                                      graph_.inputs.size(), expected, inputs.size()));
  }
  Diagnostics diagnostics;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph_.value(graph_.inputs[i]);
    if (inputs[i].type() == value.type && inputs[i].shape() == value.shape) continue;
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", value.name), "",
                      fmt::format("expected {}, given {}", to_string(value.type, value.shape),
                                  to_string(inputs[i].type(), inputs[i].shape())));
  }
  diagnostics.raise_if_any();
}

Tensor Executor::as_declared(ValueId id, const Tensor& tensor) const {
  const ElementType declared = graph_.value(id).type;
  return is_half(declared) && !is_half(tensor.type()) ? narrow_to_half(tensor, declared) : tensor;
}

std::vector<Tensor> Executor::run(std::vector<Tensor> inputs, const Observe& observe) const {
  check_inputs(inputs);
  const Graph& graph = running();
  std::vector<Tensor> values(graph_.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    if (observe) observe(id, inputs[i]);
    values[size_t(id)] = is_half(inputs[i].type()) ? widen_half(inputs[i]) : std::move(inputs[i]);
  }
  const auto tensor = [&](ValueId id) -> const Tensor* {
    if (id == kNoValue) return nullptr;
    return graph.is_constant(id) ? &*graph.value(id).constant : &values[size_t(id)];
  };
  std::vector<const Tensor*> node_inputs;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = graph.nodes[n];
    node_inputs.clear();
    for (const ValueId id : node.inputs) node_inputs.push_back(tensor(id));
    std::vector<Tensor> outputs = nodes_[n].run(node_inputs, options_);
    check_outputs(graph, node, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      values[size_t(id)] = std::move(outputs[i]);
      if (observe) observe(id, as_declared(id, values[size_t(id)]));
    }
    for (const ValueId id : dead_after_[n]) values[size_t(id)] = Tensor();
  }
  std::vector<Tensor> results;
  results.reserve(graph_.outputs.size());
  for (const ValueId id : graph_.outputs) results.push_back(as_declared(id, *tensor(id)));
  return results;
}

std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs, const HostOptions& options) {
  return Executor(graph, options).run(std::move(inputs));
}

std::vector<Tensor> evaluate(const Graph& graph, const Node& node, KernelInputs inputs,
                             const HostOptions& options) {
  Diagnostics diagnostics;
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) check_size(graph.value(id), diagnostics);
  }
  diagnostics.raise_if_any();
  std::vector<KernelOperand> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) operands[i] = {true, inputs[i]->type(), inputs[i]->shape(), inputs[i]};
  }
  std::vector<Tensor> outputs = PreparedNode(node, operands, options).run(inputs, options);
  check_outputs(graph, node, outputs);
  return outputs;
}

}  // namespace tilewright
