// Placement and schedules of a bundle. First every legal node is planned on the overlay, which gives each its
// estimated time among its neighbours there; then the partition hands back what does not pay; what is left is
// planned again, until all of it pays.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/overlay/schedule/layer.h"
#include "tilewright/transform/fold/fold_lookups.h"
#include "tilewright/transform/fold/fold_softmax.h"
#include "tilewright/transform/normalize/form_matrices.h"
#include "tilewright/transform/normalize/form_moves.h"

namespace tilewright {
namespace {

// What the overlay nodes of a graph are compiled with.
struct Planner {
  const Graph& graph;
  const OverlayHardware& hardware;
  const ScheduleSource& source;
  std::set<std::string> recorded = {};  // of the last plan

  std::vector<overlay::LayerReport> plan(const std::vector<bool>& on_overlay) {
    recorded.clear();
    std::vector<overlay::LayerReport> layers;
    for (const PartitionStep& step : order_steps(graph, on_overlay, kOverlay)) {
      if (step.on_host()) continue;
      const std::map<std::string, overlay::Schedule> known = known_schedules(step.nodes);
      for (const auto& [name, schedule] : known) recorded.insert(name);
      std::vector<overlay::LayerReport> part =
          overlay::compile_overlay(graph, step.nodes, hardware, known).layers;
      layers.insert(layers.end(), part.begin(), part.end());
    }
    return layers;
  }

 private:
  std::map<std::string, overlay::Schedule> known_schedules(const std::vector<NodeId>& nodes) const {
    std::map<std::string, overlay::Schedule> known;
    if (!source) return known;
    for (const overlay::OverlayLayer& layer : overlay::overlay_layers(graph, nodes, hardware)) {
      const std::optional<overlay::Schedule> schedule = source(layer);
      Diagnostics problems;
      if (schedule) verify(layer, hardware, *schedule, problems);
      if (schedule && problems.ok()) known[layer.name] = *schedule;
    }
    return known;
  }
};

// Views show what the node before them left in accelerator memory, a Concat puts it together: without it
// there is nothing to do. In topological order, so chains of views are covered.
void leave_lone_views(const Graph& graph, std::vector<bool>& on_overlay, std::vector<std::string>& reasons) {
  const std::vector<NodeId> producers = graph.producers();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const bool joins = overlay::is_join(graph, node);
    if (!on_overlay[n] || !(joins || overlay::is_view(graph, node))) continue;
    const auto there = [&](ValueId value) {
      const NodeId producer = producers[size_t(value)];
      return producer != kNoNode && on_overlay[size_t(producer)];
    };
    if (joins ? std::any_of(node.inputs.begin(), node.inputs.end(), there) : there(node.inputs[0])) continue;
    on_overlay[n] = false;
    reasons[n] = joins ? "all its parts lie on the host" : "only re-shapes data that lies on the host";
  }
}

// Nodes that cannot run where they stand, or are too large for the overlay even alone, go to the host.
// Returns whether there was one.
bool leave_misfits(const Planner& planner, std::vector<bool>& on_overlay, std::vector<std::string>& reasons) {
  const Graph& graph = planner.graph;
  bool found = false;
  const auto leave = [&](NodeId n, const Diagnostic& problem) {
    const bool too_large = problem.kind == ErrorKind::kInfeasible && !problem.op.empty();
    on_overlay[size_t(n)] = false;
    reasons[size_t(n)] =
        too_large ? fmt::format("its smallest tile does not fit: {} {}", problem.op, problem.message)
                  : problem.message;
    found = true;
  };
  for (const PartitionStep& step : order_steps(graph, on_overlay, kOverlay)) {
    if (step.on_host()) continue;
    for (const auto& [n, problem] : overlay::overlay_misfits(graph, step.nodes, planner.hardware)) {
      leave(n, problem);
    }
  }
  for (NodeId n = 0; n < NodeId(graph.nodes.size()); ++n) {
    if (!on_overlay[size_t(n)]) continue;
    try {
      overlay::compile_overlay(graph, std::span(&n, 1), planner.hardware);
    } catch (const Error& alone) {
      if (alone.kind() == ErrorKind::kInfeasible) leave(n, alone.diagnostics()[0]);
      // else a view needs the node before it
    }
  }
  return found;
}

// As plan(), but what does not fit goes to the host. Errors (infeasible): every layer fits, all of them
// together do not.
std::vector<overlay::LayerReport> plan_what_fits(Planner& planner, std::vector<bool>& on_overlay,
                                                 std::vector<std::string>& reasons) {
  for (;;) {
    try {
      return planner.plan(on_overlay);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInfeasible && error.kind() != ErrorKind::kUnsupported) throw;
      if (!leave_misfits(planner, on_overlay, reasons)) throw;
    }
    leave_lone_views(planner.graph, on_overlay, reasons);
  }
}

// Lookups on their own, on the host.
void split_tables(Bundle& bundle) {
  std::map<std::string, BundleNode> known;
  for (size_t n = 0; n < bundle.nodes.size(); ++n) known[bundle.graph.nodes[n].name] = bundle.nodes[n];
  bundle.graph = split_lookups(std::move(bundle.graph));
  bundle.nodes.clear();
  for (const Node& node : bundle.graph.nodes) {
    const auto found = known.find(node.name);
    bundle.nodes.push_back(
        found != known.end() ? found->second : BundleNode{kHost, "the overlay has no table for " + node.op});
  }
}

}  // namespace

Bundle retarget(Bundle bundle, const OverlayHardware& hardware) {
  if (hardware == bundle.hardware) return bundle;
  Diagnostics diagnostics;
  hardware.verify(diagnostics);
  diagnostics.raise_if_any(fmt::format("hardware '{}'", hardware.name));
  bundle.hardware = hardware;
  bundle.schedules.clear();
  if (!hardware.lookup_table) split_tables(bundle);
  std::vector<bool> on_overlay;
  std::vector<std::string> reasons;
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
    reasons.push_back(bundle.nodes[n].reason);
    on_overlay.push_back(!bundle.nodes[n].on_host() &&
                         overlay::supports(bundle.graph, bundle.graph.nodes[n], hardware, &reasons.back()));
  }
  leave_lone_views(bundle.graph, on_overlay, reasons);
  const ScheduleSource no_source;
  Planner planner{bundle.graph, hardware, no_source};
  for (const overlay::LayerReport& layer : plan_what_fits(planner, on_overlay, reasons)) {
    bundle.schedules[layer.name] = layer.schedule;
  }
  for (size_t n = 0; n < bundle.nodes.size(); ++n) {
    bundle.nodes[n] = {on_overlay[n] ? kOverlay : kHost, reasons[n]};
  }
  return bundle;
}

Compilation compile(Graph integer_graph, const OverlayHardware& hardware, const HostModel& host,
                    const ScheduleSource& source) {
  Diagnostics diagnostics;
  hardware.verify(diagnostics);
  diagnostics.raise_if_any(fmt::format("hardware '{}'", hardware.name));
  Compilation result;
  Bundle& bundle = result.bundle;
  bundle.graph = form_moves(form_matrices(std::move(integer_graph)));
  if (hardware.lookup_table) bundle.graph = fold_lookups(std::move(bundle.graph));
  if (hardware.row_functions) {
    bundle.graph = fold_softmax(std::move(bundle.graph), [&](const Graph& graph, const Node& product) {
      return overlay::supports(graph, product, hardware, nullptr);
    });
  }
  bundle.hardware = hardware;
  const Graph& graph = bundle.graph;

  std::vector<bool> on_overlay;
  std::vector<std::string> reasons(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    on_overlay.push_back(overlay::supports(graph, graph.nodes[n], hardware, &reasons[n]));
  }
  leave_lone_views(graph, on_overlay, reasons);
  Planner planner{graph, hardware, source};
  result.layers = plan_what_fits(planner, on_overlay, reasons);
  // A Slice whose readers go to the host needs a layer of its own, so what is planned again is judged again.
  for (;;) {
    std::map<std::string, double> seconds;
    for (const overlay::LayerReport& layer : result.layers) {
      seconds[layer.name] = layer.cost.cycles / (hardware.clock_mhz * 1e6);
    }
    const auto offer = [&](const Node& node) {
      const size_t n = size_t(&node - graph.nodes.data());
      return Offer{on_overlay[n], reasons[n], seconds[node.name]};
    };
    const Partition chosen = partition(graph, kOverlay, offer, host);
    std::vector<bool> kept;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      kept.push_back(chosen.placements[n].target == kOverlay);
      reasons[n] = chosen.placements[n].reason;
    }
    leave_lone_views(graph, kept, reasons);
    if (kept == on_overlay) break;
    on_overlay = std::move(kept);
    result.layers = plan_what_fits(planner, on_overlay, reasons);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    bundle.nodes.push_back({on_overlay[n] ? kOverlay : kHost, reasons[n]});
  }
  result.recorded = std::move(planner.recorded);
  for (const overlay::LayerReport& layer : result.layers) bundle.schedules[layer.name] = layer.schedule;
  return result;
}

}  // namespace tilewright
