// Greedy: every legal node starts on the overlay; rounds hand a node back where the host, with the transfers
// that this adds to its neighbours, is faster than the overlay with the node's own transfers, until a round
// changes nothing. Steps are ordered twice, starting with either side; the shorter order wins.
#include "tilewright/flow/run/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/graph/inference/statistics.h"

namespace tilewright {
namespace {

double value_bytes(const Graph& graph, ValueId id) {
  const Value& v = graph.value(id);
  return double(v.shape.element_count()) * bit_width(v.type) / 8.0;
}

double host_seconds(const Graph& graph, const Node& node, const HostModel& host) {
  double bytes = 0;
  for (ValueId v : node.inputs) {
    if (v != kNoValue) bytes += value_bytes(graph, v);
  }
  for (ValueId v : node.outputs) {
    if (v != kNoValue) bytes += value_bytes(graph, v);
  }
  return double(multiply_accumulates(graph, node)) / (host.gmac_per_s * 1e9) +
         bytes / (host.gbyte_per_s * 1e9);
}

// Who produces and who reads each value; built once.
struct Edges {
  std::vector<NodeId> producers;
  std::vector<std::vector<NodeId>> consumers;
};

// Seconds of host-side packing and unpacking that `node` causes while it is on the overlay.
double transfer_seconds(const Graph& graph, const Edges& edges, const std::vector<bool>& on_overlay,
                        const Node& node, const HostModel& host) {
  double bytes = 0;
  for (ValueId v : node.inputs) {
    if (v == kNoValue || graph.is_constant(v)) continue;
    const NodeId producer = edges.producers[size_t(v)];
    if (producer == kNoNode || !on_overlay[size_t(producer)]) bytes += value_bytes(graph, v);
  }
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    const auto& readers = edges.consumers[size_t(v)];
    const bool to_host =
        graph.is_output(v) || std::any_of(readers.begin(), readers.end(),
                                          [&](NodeId reader) { return !on_overlay[size_t(reader)]; });
    if (to_host) bytes += value_bytes(graph, v);
  }
  return bytes / (host.gbyte_per_s * 1e9);
}

}  // namespace

Partition partition(const Graph& graph, const std::function<Offer(const Node&)>& offer,
                    const HostModel& host) {
  Partition result;
  result.placements.resize(graph.nodes.size());
  std::vector<bool> on_overlay(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Placement& placement = result.placements[n];
    placement.host_seconds = host_seconds(graph, graph.nodes[n], host);
    const Offer answer = offer(graph.nodes[n]);
    on_overlay[n] = answer.legal;
    if (answer.legal) {
      placement.overlay_seconds = answer.seconds;
      placement.reason = fmt::format("{:.3g} ms on the overlay, {:.3g} ms on the host", answer.seconds * 1e3,
                                     placement.host_seconds * 1e3);
    } else {
      placement.reason = answer.reason;
    }
  }
  const Edges edges{graph.producers(), graph.consumers()};
  for (bool changed = true; changed;) {  // each round only hands nodes back, so it ends
    changed = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (!on_overlay[n]) continue;
      Placement& placement = result.placements[n];
      const double transfer = transfer_seconds(graph, edges, on_overlay, graph.nodes[n], host);
      if (placement.overlay_seconds + transfer <= placement.host_seconds) continue;
      // On the overlay its neighbours may save a transfer; only a node that pays for its own is handed back.
      if (transfer == 0) continue;
      std::vector<bool> without = on_overlay;
      without[n] = false;
      double neighbours_extra = 0;
      const auto add_neighbour = [&](NodeId m) {
        if (m == kNoNode || !on_overlay[size_t(m)]) return;
        neighbours_extra += transfer_seconds(graph, edges, without, graph.nodes[size_t(m)], host) -
                            transfer_seconds(graph, edges, on_overlay, graph.nodes[size_t(m)], host);
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
      if (placement.overlay_seconds + transfer <= placement.host_seconds + neighbours_extra) continue;
      on_overlay[n] = false;
      changed = true;
      placement.reason =
          fmt::format("{:.3g} ms on the host; the overlay needs {:.3g} ms and {:.3g} ms of transfers",
                      placement.host_seconds * 1e3, placement.overlay_seconds * 1e3, transfer * 1e3);
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) result.placements[n].on_overlay = on_overlay[n];
  result.steps = order_steps(graph, on_overlay);
  return result;
}

std::vector<Step> order_steps(const Graph& graph, const std::vector<bool>& on_overlay) {
  const std::vector<NodeId> producers = graph.producers();
  const auto alternate = [&](bool side) {
    std::vector<Step> steps;
    std::vector<bool> done(graph.nodes.size(), false);
    size_t left = graph.nodes.size();
    while (left > 0) {
      Step step{side, {}};
      // Nodes are in topological order, so one pass finds all that become ready.
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        if (done[n] || on_overlay[n] != side) continue;
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
      side = !side;
    }
    return steps;
  };
  std::vector<Step> host_first = alternate(false), overlay_first = alternate(true);
  return host_first.size() <= overlay_first.size() ? host_first : overlay_first;
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
