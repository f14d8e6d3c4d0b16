// A union architecture: an array that supports several dataflows and runs each layer with the one that suits
// it best. How much two or three gain over one is a question that the taxonomy's authors left open.
//
// Storage is that of equal area: the register files of a union are as large as the largest that one of its
// dataflows wants, and the buffer gets the rest of the area. The control and wires for switching are not
// counted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

struct UnionChoice {
  std::vector<int> dataflows;  // indices, ascending
  std::vector<int>
      by_shape;  // index into the report's runs of the dataflow that each shape takes; -1: none can
  double energy = 0, cycles = 0;
  // Least energy x cycles of the network over every assignment of layers to dataflows; its own choice, which
  // is not that of each layer's least.
  double least_edp = 0;
  int missing = 0;  // layers that none of them can run
};

// For every layer the run of least energy, ties by cycles, then by position. `runs` are of the same network.
// least_edp is that of the layers' merged fronts (front.h), so it is exact.
UnionChoice best_of_runs(const WorkloadNetwork& network, const std::vector<DataflowRun>& runs,
                         const std::vector<int>& dataflows);

struct UnionTable {
  std::vector<std::string> dataflows;
  // Every subset of 1 to `largest` dataflows on the storage that it shares: those that run every layer first,
  // then by energy.
  std::vector<UnionChoice> shared;
  // By subset, the same order: each dataflow on the storage that suits it alone, as if storage could be
  // divided anew for every layer.
  std::vector<UnionChoice> redivided;
};

// `run_on(dataflow, partners)` maps the network with a dataflow on the storage of a set of dataflows that it
// belongs to. It is called once for every member of every subset: remember results where storages are equal.
UnionTable union_table(
    const WorkloadNetwork& network, const std::vector<std::string>& dataflows, int largest,
    const std::function<const DataflowRun&(int dataflow, const std::vector<int>& partners)>& run_on);

// The best subsets of each size with their gain over the best single dataflow, then which layers take which.
std::string union_text(const UnionTable& table, const NetworkReport& report);
std::string union_json(const UnionTable& table, const NetworkReport& report);

}  // namespace tilewright
