// From nodes to loop nests. A weight is what no input of the model reaches; everything else is an activation
// of which every image has its own.
#include "tilewright/flow/map/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/layers/node_workload.h"

namespace tilewright {
namespace {

// By value: whether it depends on an input of the model.
std::vector<bool> activations(const Graph& graph) {
  std::vector<bool> active(graph.values.size(), false);
  for (const ValueId input : graph.inputs) active[size_t(input)] = true;
  for (const Node& node : graph.nodes) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId v) { return v != kNoValue && active[size_t(v)]; });
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) active[size_t(output)] = any;
    }
  }
  return active;
}

// Whether both operands of a product come from the image.
bool brings_own_weights(const Node& node, const std::vector<bool>& active) {
  const auto count = std::count_if(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return v != kNoValue && active[size_t(v)]; });
  return count > 1;
}

int64_t batch_factor(const Graph& graph, int64_t batch) {
  if (batch == 0) return 1;
  int64_t own = 1;
  for (const ValueId input : graph.inputs) {
    const Shape& shape = graph.value(input).shape;
    if (shape.rank() > 0) {
      own = std::max<int64_t>(shape[0], 1);
      break;
    }
  }
  if (batch % own != 0) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("a batch of {} is not a multiple of the {} images that the model takes", batch, own),
        "give a multiple, or bind the batch dimension with --shape");
  }
  return batch / own;
}

// What an operator that works on single elements of its first input leaves of a chain.
bool is_elementwise(const Node& node) {
  const OperatorClass kind = operator_class(node);
  return kind == OperatorClass::kElementwise || kind == OperatorClass::kConversion ||
         kind == OperatorClass::kCopy || node.is("PRelu") || node.is("BatchNormalization");
}

// The node that alone reads `value` as its first input; kNoNode if there are others or the value leaves the
// model.
NodeId only_reader(const Graph& graph, const std::vector<std::vector<NodeId>>& readers, ValueId value) {
  const std::vector<NodeId>& all = readers[size_t(value)];
  if (all.size() != 1 || graph.is_output(value)) return kNoNode;
  return graph.nodes[size_t(all[0])].input(0) == value ? all[0] : kNoNode;
}

}  // namespace

WorkloadNetwork network_of(const Graph& graph, int64_t batch) {
  WorkloadNetwork network;
  network.name = graph.name;
  const int64_t factor = batch_factor(graph, batch);
  const std::vector<bool> active = activations(graph);
  Diagnostics diagnostics;
  for (const Node& node : graph.nodes) {
    const int64_t macs = multiply_accumulates(graph, node);
    Diagnostics refusals;
    try {
      if (std::optional<Workload> workload = node_workload(graph, node, refusals)) {
        network.add(node.name, node.op,
                    with_batch(std::move(*workload), factor, !brings_own_weights(node, active)));
        continue;
      }
    } catch (const Error& error) {
      for (Diagnostic problem : error.diagnostics()) {
        if (problem.where.empty()) problem.where = where(node);
        if (problem.op.empty()) problem.op = node.op;
        diagnostics.add(std::move(problem));
      }
      continue;
    }
    if (macs > 0) {
      network.unmapped.push_back({node.name, node.op, refusals.errors()[0].message, macs * factor});
    } else {
      ++network.other_nodes;
    }
  }
  diagnostics.raise_if_any();
  if (network.layers.empty()) {
    std::string operators;
    std::map<std::string, int> seen;
    for (const Node& node : graph.nodes) {
      if (seen[node.op]++ == 0) operators += (operators.empty() ? "" : ", ") + node.op;
    }
    throw Error(ErrorKind::kUnsupported,
                fmt::format("the model has no layer to map: its operators are {}",
                            operators.empty() ? "none" : operators),
                "convolutions, dense layers and matrix products are mapped");
  }
  return network;
}

std::vector<std::vector<int>> layer_chains(const Graph& graph, const WorkloadNetwork& network) {
  std::map<std::string, int> layer_of;  // node name to layer
  for (size_t l = 0; l < network.layers.size(); ++l) layer_of[network.layers[l].name] = int(l);
  const auto readers = graph.consumers();
  std::vector<int> next(network.layers.size(), -1);
  std::vector<bool> fed(network.layers.size(), false);
  for (const Node& node : graph.nodes) {
    const auto layer = layer_of.find(node.name);
    if (layer == layer_of.end() || node.outputs.empty()) continue;
    NodeId reader = only_reader(graph, readers, node.outputs[0]);
    while (reader != kNoNode && is_elementwise(graph.nodes[size_t(reader)])) {
      reader = only_reader(graph, readers, graph.nodes[size_t(reader)].outputs[0]);
    }
    if (reader == kNoNode) continue;
    const auto consumer = layer_of.find(graph.nodes[size_t(reader)].name);
    if (consumer == layer_of.end()) continue;
    next[size_t(layer->second)] = consumer->second;
    fed[size_t(consumer->second)] = true;
  }
  std::vector<std::vector<int>> chains;
  for (size_t l = 0; l < next.size(); ++l) {
    if (fed[l] || next[l] < 0) continue;
    std::vector<int> chain;
    for (int at = int(l); at >= 0; at = next[size_t(at)]) chain.push_back(at);
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace tilewright
