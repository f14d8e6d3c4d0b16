// Straight-line execution in node order with reference counts resolved ahead of time: dead_after_ lists what
// each node reads last, so the peak memory is that of the live values only.
#include "tilewright/host/prepared_graph.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

KernelOperand operand(const Graph& graph, ValueId id) {
  if (id == kNoValue) return {};
  const Value& value = graph.value(id);
  return {true, value.type, value.shape, value.constant ? &*value.constant : nullptr};
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

PreparedGraph::PreparedGraph(Graph graph, const HostOptions& options)
    : graph_(std::move(graph)), dead_after_(last_uses(graph_)) {
  nodes_.reserve(graph_.nodes.size());
  for (const Node& node : graph_.nodes) {
    std::vector<KernelOperand> operands;
    operands.reserve(node.inputs.size());
    for (const ValueId id : node.inputs) operands.push_back(operand(graph_, id));
    nodes_.emplace_back(node, operands, options);
  }
}

std::vector<Tensor> PreparedGraph::run(std::vector<Tensor> inputs, const HostOptions& options,
                                       const Observe& observe) const {
  const TensorPoolScope scope(pool_);
  std::vector<Tensor> values(graph_.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[size_t(graph_.inputs[i])] = std::move(inputs[i]);
  const auto tensor = [&](ValueId id) -> const Tensor* {
    if (id == kNoValue) return nullptr;
    return graph_.is_constant(id) ? &*graph_.value(id).constant : &values[size_t(id)];
  };
  std::vector<const Tensor*> node_inputs;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = graph_.nodes[n];
    node_inputs.clear();
    for (const ValueId id : node.inputs) node_inputs.push_back(tensor(id));
    std::vector<Tensor> outputs = nodes_[n].run(node_inputs, options);
    check_outputs(graph_, node, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      values[size_t(id)] = std::move(outputs[i]);
      if (observe) observe(id, values[size_t(id)]);
    }
    for (const ValueId id : dead_after_[n]) values[size_t(id)] = Tensor();
  }
  std::vector<Tensor> results;
  results.reserve(graph_.outputs.size());
  for (const ValueId id : graph_.outputs) results.push_back(*tensor(id));
  return results;
}

}  // namespace tilewright
