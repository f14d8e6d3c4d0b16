// Checks around the runs of a prepared graph, of which there are two: the fast one, and one node by node that
// only observed runs need.
#include "tilewright/host/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/host/execution_form.h"
#include "tilewright/host/half_conversion.h"
#include "tilewright/host/half_graph.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

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

// What runs instead of a graph with half values.
Graph in_float(const Graph& graph) { return has_half_values(graph) ? with_half_as_float(graph) : graph; }

}  // namespace

Executor::Executor(Graph graph, HostOptions options)
    : graph_(std::move(graph)), options_(options), node_by_node_(std::make_unique<NodeByNode>()) {
  check_runnable(graph_);
  fast_ = std::make_unique<const PreparedGraph>(execution_form(in_float(graph_)), options_);
}

const PreparedGraph& Executor::observable() const {
  const bool as_given =
      std::ranges::none_of(fast_->graph().nodes, [](const Node& node) { return node.domain == kHostDomain; });
  if (as_given) return *fast_;
  std::call_once(node_by_node_->once, [&] {
    node_by_node_->graph = std::make_unique<const PreparedGraph>(in_float(graph_), options_);
  });
  return *node_by_node_->graph;
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
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (observe) observe(graph_.inputs[i], inputs[i]);
    if (is_half(inputs[i].type())) inputs[i] = widen_half(inputs[i]);
  }
  std::vector<Tensor> results;
  if (observe) {
    results = observable().run(std::move(inputs), options_, [&](ValueId id, const Tensor& tensor) {
      observe(id, as_declared(id, tensor));
    });
  } else {
    results = fast_->run(std::move(inputs), options_);
  }
  for (size_t i = 0; i < results.size(); ++i) results[i] = as_declared(graph_.outputs[i], results[i]);
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
