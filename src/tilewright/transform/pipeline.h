// The graph passes in their order, and what each of them did.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct PassStep {
  std::string pass;
  int round = 1;
  int nodes_before = 0, nodes_after = 0;
};

// Work against memory traffic (fusion_groups.h says what is counted).
struct Intensity {
  int64_t macs = 0;
  int64_t unfused_bytes = 0, fused_bytes = 0;
  int64_t unfused_activation_bytes = 0, fused_activation_bytes = 0;  // of them, without constants
  // MACs per byte; 0 when nothing moves.
  double unfused() const { return unfused_bytes == 0 ? 0 : double(macs) / double(unfused_bytes); }
  double fused() const { return fused_bytes == 0 ? 0 : double(macs) / double(fused_bytes); }
};
Intensity measure_intensity(const Graph& graph);

struct PassReport {
  std::vector<PassStep> steps;
  int nodes_before = 0, nodes_after = 0;
  Intensity before, after;
  // The fusion groups of the result: "Conv + Add + Relu" and how many there are; single nodes included.
  std::map<std::string, int> groups;
};
// One line per pass that changed the number of nodes, the totals, and the groups of several nodes.
std::string to_string(const PassReport& report);

// Runs all passes, in rounds until a round leaves the graph as it was. Inputs, outputs and their names stay;
// float results stay within rounding. `report` and `after_pass` (called after every pass, e.g. to write the
// graph to a file) may be empty. Errors: what graph/inference/verifier.h reports of the given graph; what
// fold_constants reports, with the pass as context; kind internal: a pass made an illegal graph.
Graph optimize(Graph graph, PassReport* report = nullptr,
               const std::function<void(const std::string& pass, const Graph&)>& after_pass = {});

// Runs only the passes of these names, in rounds as above. Errors: as above; kind internal: no such pass.
Graph run_passes(Graph graph, const std::vector<std::string>& names);

// The names of the passes in the order of one round.
std::vector<std::string> pass_names();

}  // namespace tilewright
