// Greedy: every legal node starts on the overlay; rounds hand a node back where the host, with the transfers
// that this adds to its neighbours and the turns that it adds, is faster by a twentieth than the overlay with
// the node's own transfers, until a round changes nothing. Steps are ordered twice, starting with either
// side; the shorter order wins.
#include "tilewright/flow/run/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

// Estimates are no better than this, and a network in one piece is simpler to run.
constexpr double kCloseCall = 0.95;

double value_bytes(const Graph& graph, ValueId id) {
  const Value& v = graph.value(id);
  return double(v.shape.element_count()) * bit_width(v.type) / 8.0;
}

// Who produces and who reads each value; built once.
struct Edges {
  std::vector<NodeId> producers;
  std::vector<std::vector<NodeId>> consumers;
};

// A cache stays in the memory of its target from run to run.
bool is_cache(const Node& node, ValueId v) {
  return node.is_tilewright("QCacheUpdate") && (v == node.input(0) || v == node.outputs[0]);
}

// Seconds of host-side packing and unpacking that `node` causes while it is on the target.
double transfer_seconds(const Graph& graph, const Edges& edges, const std::vector<bool>& on_target,
                        const Node& node, const HostModel& host) {
  double bytes = 0;
  for (ValueId v : node.inputs) {
    if (v == kNoValue || graph.is_constant(v) || is_cache(node, v)) continue;
    const NodeId producer = edges.producers[size_t(v)];
    if (producer == kNoNode || !on_target[size_t(producer)]) bytes += value_bytes(graph, v);
  }
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    const auto& readers = edges.consumers[size_t(v)];
    const bool to_host = (graph.is_output(v) && !is_cache(node, v)) ||
                         std::any_of(readers.begin(), readers.end(),
                                     [&](NodeId reader) { return !on_target[size_t(reader)]; });
    if (to_host) bytes += value_bytes(graph, v);
  }
  return bytes / (host.gbyte_per_s * 1e9);
}

}  // namespace

double host_seconds(const Graph& graph, const Node& node, const HostModel& host) {
  if (operator_class(node) == OperatorClass::kReshape) return 0;  // the same memory
  double given = 0, bytes = 0;
  for (ValueId v : node.outputs) {
    if (v != kNoValue) given += value_bytes(graph, v);
  }
  // What takes a part of its input reads only that.
  const bool takes_part = node.is("Slice") || node.is("Gather");
  for (ValueId v : node.inputs) {
    if (v != kNoValue) bytes += takes_part ? std::min(value_bytes(graph, v), given) : value_bytes(graph, v);
  }
  bytes += given;
  double of_rows = node.is_tilewright("QSoftmax") || node.is_tilewright("QLayerNorm") ? bytes : 0;
  if (node.is_tilewright("QMatMul") && node.has_input(2)) of_rows = 2 * given;
  return host.node_seconds + double(multiply_accumulates(graph, node)) / (host.gmac_per_s * 1e9) +
         bytes / (host.gbyte_per_s * 1e9) + of_rows / (host.row_gbyte_per_s * 1e9);
}

Partition partition(const Graph& graph, const std::string& target,
                    const std::function<Offer(const Node&)>& offer, const HostModel& host) {
  Partition result;
  result.placements.resize(graph.nodes.size());
  std::vector<bool> on_target(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Placement& placement = result.placements[n];
    placement.host_seconds = host_seconds(graph, graph.nodes[n], host);
    const Offer answer = offer(graph.nodes[n]);
    on_target[n] = answer.legal;
    if (answer.legal) {
      placement.target_seconds = answer.seconds;
      placement.reason = fmt::format("{:.3g} ms on the {}, {:.3g} ms on the host", answer.seconds * 1e3,
                                     target, placement.host_seconds * 1e3);
    } else {
      placement.reason = answer.reason;
    }
  }
  const Edges edges{graph.producers(), graph.consumers()};
  const auto turns_of = [&](const std::vector<bool>& on) {
    const std::vector<PartitionStep> steps = order_steps(graph, on, target);
    return int64_t(std::ranges::count_if(steps, [](const PartitionStep& step) { return !step.on_host(); }));
  };
  int64_t turns = turns_of(on_target);
  for (bool changed = true; changed;) {  // each round only hands nodes back, so it ends
    changed = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (!on_target[n]) continue;
      Placement& placement = result.placements[n];
      const double transfer = transfer_seconds(graph, edges, on_target, graph.nodes[n], host);
      const double there = (placement.target_seconds + transfer) * kCloseCall;
      if (there + host.turn_seconds <= placement.host_seconds) continue;
      // On the target its neighbours may save a transfer; only a node that pays for its own is handed back.
      if (transfer == 0) continue;
      std::vector<bool> without = on_target;
      without[n] = false;
      double neighbours_extra = 0;
      const auto add_neighbour = [&](NodeId m) {
        if (m == kNoNode || !on_target[size_t(m)]) return;
        neighbours_extra += transfer_seconds(graph, edges, without, graph.nodes[size_t(m)], host) -
                            transfer_seconds(graph, edges, on_target, graph.nodes[size_t(m)], host);
      };
      std::set<NodeId> neighbours;  // once each, however many values they share with it
      for (ValueId v : graph.nodes[n].inputs) {
        if (v != kNoValue) neighbours.insert(edges.producers[size_t(v)]);
      }
      for (ValueId v : graph.nodes[n].outputs) {
        if (v == kNoValue) continue;
        neighbours.insert(edges.consumers[size_t(v)].begin(), edges.consumers[size_t(v)].end());
      }
      for (const NodeId m : neighbours) add_neighbour(m);
      if (there + host.turn_seconds <= placement.host_seconds + neighbours_extra) continue;
      const int64_t turns_without = turns_of(without);
      const double turned = double(turns_without - turns) * host.turn_seconds;
      if (there <= placement.host_seconds + neighbours_extra + turned) continue;
      turns = turns_without;
      on_target[n] = false;
      changed = true;
      placement.reason =
          fmt::format("{:.3g} ms on the host; the {} needs {:.3g} ms and {:.3g} ms of transfers",
                      placement.host_seconds * 1e3, target, placement.target_seconds * 1e3, transfer * 1e3);
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (on_target[n]) result.placements[n].target = target;
  }
  result.steps = order_steps(graph, on_target, target);
  return result;
}

std::vector<PartitionStep> order_steps(const Graph& graph, const std::vector<std::string>& targets) {
  const std::vector<NodeId> producers = graph.producers();
  std::vector<std::string> sides = {kHost};
  for (const std::string& target : targets) {
    if (std::find(sides.begin(), sides.end(), target) == sides.end()) sides.push_back(target);
  }
  const auto take_turns = [&](size_t side) {
    std::vector<PartitionStep> steps;
    std::vector<bool> done(graph.nodes.size(), false);
    size_t left = graph.nodes.size();
    while (left > 0) {
      PartitionStep step{sides[side], {}};
      // Nodes are in topological order, so one pass finds all that become ready.
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        if (done[n] || targets[n] != step.target) continue;
        const auto& inputs = graph.nodes[n].inputs;
        const bool ready = std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) {
          return v == kNoValue || producers[size_t(v)] == kNoNode || done[size_t(producers[size_t(v)])];
        });
        if (!ready) continue;
        done[n] = true;
        --left;
        step.nodes.push_back(NodeId(n));
      }
      if (!step.nodes.empty()) steps.push_back(std::move(step));
      side = (side + 1) % sides.size();
    }
    return steps;
  };
  std::vector<PartitionStep> best = take_turns(0);
  for (size_t first = 1; first < sides.size(); ++first) {
    std::vector<PartitionStep> steps = take_turns(first);
    if (steps.size() < best.size()) best = std::move(steps);
  }
  return best;
}

std::vector<PartitionStep> order_steps(const Graph& graph, const std::vector<bool>& on_target,
                                       const std::string& target) {
  std::vector<std::string> targets;
  for (const bool on : on_target) targets.push_back(on ? target : kHost);
  return order_steps(graph, targets);
}

Graph extract(const Graph& graph, const std::vector<NodeId>& nodes) {
  Graph part;
  part.name = graph.name;
  std::vector<bool> inside(graph.nodes.size(), false), produced(graph.values.size(), false),
      known(graph.values.size(), false);
  part.values = graph.values;  // ids stay valid until erase_nodes drops what is unused
  for (NodeId n : nodes) inside[size_t(n)] = true;
  for (NodeId n : nodes) {
    part.nodes.push_back(graph.nodes[size_t(n)]);
    for (ValueId v : graph.nodes[size_t(n)].outputs) {
      if (v != kNoValue) produced[size_t(v)] = true;
    }
  }
  for (const Node& node : part.nodes) {
    for (ValueId v : node.inputs) {
      if (v == kNoValue || produced[size_t(v)] || known[size_t(v)] || graph.is_constant(v)) continue;
      known[size_t(v)] = true;
      part.inputs.push_back(v);
    }
  }
  const std::vector<std::vector<NodeId>> consumers = graph.consumers();
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!produced[v]) continue;
    const bool needed =
        graph.is_output(ValueId(v)) || std::any_of(consumers[v].begin(), consumers[v].end(),
                                                   [&](NodeId reader) { return !inside[size_t(reader)]; });
    if (needed) part.outputs.push_back(ValueId(v));
  }
  part.erase_nodes(std::vector<bool>(part.nodes.size(), false));
  return part;
}

}  // namespace tilewright
