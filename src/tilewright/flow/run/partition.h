// Which node of an integer graph runs where: on the overlay when it is legal there and estimated to pay, else
// on the host, each decision with its reason; and the order in which host and overlay take turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The assumed host processor: the two Cortex-A9 cores beside a small FPGA, for which 1.63 GOPS were published
// for a 3x3 convolution of ResNet-18. Only used for decisions.
struct HostModel {
  double gmac_per_s = 0.8;   // int8 convolution
  double gbyte_per_s = 1.0;  // element-wise work, and moving data between host and accelerator layout
};

// What a backend says about one node.
struct Offer {
  bool legal = false;
  std::string reason;  // why not, when illegal
  double seconds = 0;  // estimated time there, when legal
};

struct Placement {
  bool on_overlay = false;
  std::string reason;
  double overlay_seconds = 0, host_seconds = 0;  // estimates; overlay_seconds is 0 when illegal
};

// A maximal run of nodes on one side, in an order that respects data flow.
struct Step {
  bool on_overlay = false;
  std::vector<NodeId> nodes;
};

struct Partition {
  std::vector<Placement> placements;  // indexed by node
  std::vector<Step> steps;
};

// Starts with every legal node on the overlay, then returns to the host those whose transfers cost more than
// the overlay saves.
Partition partition(const Graph& graph, const std::function<Offer(const Node&)>& offer,
                    const HostModel& host = {});

// The steps for a given placement: host and overlay alternate, each taking all nodes that are ready.
std::vector<Step> order_steps(const Graph& graph, const std::vector<bool>& on_overlay);

// The sub-graph made of `nodes` (ascending ids): its inputs are the non-constant values that come from
// outside, its outputs the values that others, or the graph's outputs, need. Names are kept.
Graph extract(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tilewright
