// Greedy, in topological order: a node that is in no group yet starts a chain, and its only reader joins
// while the reader's stage (constants, residual, activation, pool) is not after the chain's.
#include "tilewright/transform/fusion_groups.h"

#include <algorithm>
#include <set>

#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

// What a chain may still take, in this order.
enum Stage { kConstants, kResidual, kActivation, kPool, kFull };

bool is_add(const Node& node) { return operator_function(node) == OperatorFunction::kAddition; }

// An activation of floats, or the elementwise operators that stand for one in integers.
bool activates(const Node& node) {
  const OperatorTraits& traits = operator_traits(node);
  return traits.activation ||
         (traits.kind == OperatorClass::kElementwise && traits.numbers != OperatorNumbers::kAny);
}

bool combines_with_constant(const Graph& graph, const Node& node) {
  if (node.is("BatchNormalization")) return true;
  if (!node.is("Add") && !node.is("Sub") && !node.is("Mul") && !node.is("Div")) return false;
  return graph.is_constant(node.input(0)) || graph.is_constant(node.input(1));
}

Stage first_stage(const Graph& graph, const Node& node) {
  if (operator_class(node) == OperatorClass::kProduct) return kConstants;
  if (is_add(node) || node.is("Mul") || combines_with_constant(graph, node)) return kActivation;
  return kFull;
}

// The stage at which `node` joins; kFull when it does not.
Stage stage_of(const Graph& graph, const Node& node, ValueId chained) {
  if (std::count(node.inputs.begin(), node.inputs.end(), chained) != 1) return kFull;
  if (combines_with_constant(graph, node)) return kConstants;
  if (is_add(node)) return kResidual;
  if (activates(node)) return kActivation;
  if (operator_class(node) == OperatorClass::kPool && node.input(0) == chained) return kPool;
  return kFull;
}

bool moves_nothing(const Node& node) {
  const OperatorClass kind = operator_class(node);
  return kind == OperatorClass::kReshape || kind == OperatorClass::kCopy;
}

}  // namespace

std::vector<FusionGroup> fusion_groups(const Graph& graph) {
  const std::vector<std::vector<NodeId>> readers = graph.consumers();
  std::vector<bool> grouped(graph.nodes.size(), false);
  std::vector<FusionGroup> groups;
  for (NodeId id = 0; id < NodeId(graph.nodes.size()); ++id) {
    if (grouped[size_t(id)]) continue;
    FusionGroup group{{id}};
    grouped[size_t(id)] = true;
    Stage stage = first_stage(graph, graph.nodes[size_t(id)]);
    while (stage < kFull) {
      const Node& last = graph.nodes[size_t(group.nodes.back())];
      if (last.outputs.size() != 1) break;
      const ValueId out = last.outputs[0];
      if (readers[size_t(out)].size() != 1 || graph.is_output(out)) break;
      const NodeId next = readers[size_t(out)].front();
      const Stage joins = stage_of(graph, graph.nodes[size_t(next)], out);
      if (grouped[size_t(next)] || joins == kFull || joins < stage) break;
      stage = joins == kConstants ? kConstants : Stage(joins + 1);
      grouped[size_t(next)] = true;
      group.nodes.push_back(next);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<FusionGroup> unfused_groups(const Graph& graph) {
  std::vector<FusionGroup> groups;
  for (NodeId id = 0; id < NodeId(graph.nodes.size()); ++id) groups.push_back({{id}});
  return groups;
}

std::string pattern(const Graph& graph, const FusionGroup& group) {
  std::string text;
  for (const NodeId id : group.nodes) text += (text.empty() ? "" : " + ") + graph.nodes[size_t(id)].op;
  return text;
}

GroupTraffic traffic(const Graph& graph, const std::vector<FusionGroup>& groups) {
  const std::vector<std::vector<NodeId>> readers = graph.consumers();
  GroupTraffic result;
  for (const FusionGroup& group : groups) {
    std::set<ValueId> read, written;
    bool moves = false;
    for (const NodeId id : group.nodes) {
      const Node& node = graph.nodes[size_t(id)];
      moves |= !moves_nothing(node);
      for (const ValueId value : node.inputs) {
        if (value != kNoValue) read.insert(value);
      }
      for (const ValueId value : node.outputs) {
        if (value != kNoValue) written.insert(value);
      }
    }
    if (!moves) continue;
    const auto inside = [&](NodeId id) {
      return std::find(group.nodes.begin(), group.nodes.end(), id) != group.nodes.end();
    };
    for (const ValueId value : read) {
      if (written.count(value)) continue;
      (graph.is_constant(value) ? result.constants : result.activations) += graph.value(value).size_bytes();
    }
    for (const ValueId value : written) {
      const std::vector<NodeId>& users = readers[size_t(value)];
      const bool stays = !users.empty() && std::all_of(users.begin(), users.end(), inside);
      if (!stays || graph.is_output(value)) result.activations += graph.value(value).size_bytes();
    }
  }
  return result;
}

}  // namespace tilewright
