// Counts over the nodes that stay on the host, and over the values between both sides.
#include "tilewright/flow/run/host_work.h"

#include <algorithm>

#include "tilewright/graph/inference/statistics.h"

namespace tilewright {
namespace {

// Whether `v` is a cache before or after its update there.
bool stays_in_accelerator(const Bundle& bundle, ValueId v, NodeId producer,
                          const std::vector<NodeId>& readers) {
  const auto updates = [&](NodeId n) {
    return n != kNoNode && !bundle.nodes[size_t(n)].on_host() &&
           bundle.graph.nodes[size_t(n)].is_tilewright("QCacheUpdate");
  };
  return updates(producer) || std::any_of(readers.begin(), readers.end(), [&](NodeId n) {
           return updates(n) && bundle.graph.nodes[size_t(n)].input(0) == v;
         });
}

int64_t bytes_between(const Bundle& bundle) {
  const Graph& graph = bundle.graph;
  const std::vector<NodeId> producers = graph.producers();
  const std::vector<std::vector<NodeId>> readers = graph.consumers();
  int64_t bytes = 0;
  for (ValueId v = 0; v < ValueId(graph.values.size()); ++v) {
    if (graph.is_constant(v)) continue;
    const NodeId producer = producers[size_t(v)];
    if (stays_in_accelerator(bundle, v, producer, readers[size_t(v)])) continue;
    const bool from_host = producer == kNoNode || bundle.nodes[size_t(producer)].on_host();
    const bool crosses = std::any_of(readers[size_t(v)].begin(), readers[size_t(v)].end(), [&](NodeId n) {
      return bundle.nodes[size_t(n)].on_host() != from_host;
    });
    const Value& value = graph.value(v);
    if (crosses || (!from_host && graph.is_output(v))) {
      bytes += value.shape.element_count() * bit_width(value.type) / 8;
    }
  }
  return bytes;
}

}  // namespace

HostWork host_work(const Bundle& bundle, const HostModel& host) {
  HostWork work;
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
    if (!bundle.nodes[n].on_host()) continue;
    const Node& node = bundle.graph.nodes[n];
    ++work.nodes;
    work.macs += multiply_accumulates(bundle.graph, node);
    work.node_seconds += host_seconds(bundle.graph, node, host);
  }
  work.crossing_bytes = bytes_between(bundle);
  std::vector<std::string> targets;
  for (const BundleNode& node : bundle.nodes) targets.push_back(node.target);
  for (const PartitionStep& step : order_steps(bundle.graph, targets)) work.turns += step.on_host() ? 0 : 1;
  work.crossing_seconds =
      double(work.crossing_bytes) / (host.gbyte_per_s * 1e9) + double(work.turns) * host.turn_seconds;
  return work;
}

}  // namespace tilewright
