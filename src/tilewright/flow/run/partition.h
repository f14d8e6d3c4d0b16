// Which node of an integer graph runs where: on a target when it is legal there and estimated to pay, else on
// the host, each decision with its reason; and the order in which the two take turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/flow/target/target_names.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// The assumed host processor: the two Cortex-A9 cores beside a small FPGA, for which 1.63 GOPS were published
// for a 3x3 convolution of ResNet-18. Only used for decisions.
struct HostModel {
  double gmac_per_s = 0.8;   // int8 convolution
  double gbyte_per_s = 1.0;  // element-wise work, and moving data between host and accelerator layout
  // Softmax and norms: our kernels take about ten times as long for an element of one as for one of a sum.
  double row_gbyte_per_s = 0.1;
  double node_seconds = 1e-6;   // to call a kernel
  double turn_seconds = 10e-6;  // caches written back, the accelerator started, its end seen
};

// Estimated time of a node there: its call, its multiplications, and its inputs and outputs element by
// element.
double host_seconds(const Graph& graph, const Node& node, const HostModel& host);

// What a target says about one node.
struct Offer {
  bool legal = false;
  std::string reason;  // why not, when illegal
  double seconds = 0;  // estimated time there, when legal
};

struct Placement {
  std::string target = kHost;
  std::string reason;
  double target_seconds = 0, host_seconds = 0;  // estimates; target_seconds is 0 when illegal
};

// A maximal run of nodes on one target, in an order that respects data flow.
struct PartitionStep {
  std::string target = kHost;
  std::vector<NodeId> nodes;

  bool on_host() const { return target == kHost; }
};

struct Partition {
  std::vector<Placement> placements;  // indexed by node
  std::vector<PartitionStep> steps;
};

// Starts with every legal node on `target`, then returns to the host those whose transfers and turns cost
// more than the target saves.
Partition partition(const Graph& graph, const std::string& target,
                    const std::function<Offer(const Node&)>& offer, const HostModel& host = {});

// The steps for a given placement, a target per node: the targets take turns, each taking all nodes that
// are ready.
std::vector<PartitionStep> order_steps(const Graph& graph, const std::vector<std::string>& targets);
// The same where every node is on `target` or on the host.
std::vector<PartitionStep> order_steps(const Graph& graph, const std::vector<bool>& on_target,
                                       const std::string& target);

// The sub-graph made of `nodes` (ascending ids): its inputs are the non-constant values that come from
// outside, its outputs the values that others, or the graph's outputs, need. Names are kept.
Graph extract(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tilewright
