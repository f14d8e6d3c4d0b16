// Networks under the dataflows of the taxonomy, by the rules of the study cost model: every layer at its
// proven optimum (spatial/taxonomy/).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/spatial/network/network_report.h"
#include "tilewright/spatial/taxonomy/dataflow_search.h"

namespace tilewright {

// With equal_area the buffer gets what the register files leave of the machine's area; else it has the
// baseline size, whatever the register files need.
study::Storage dataflow_storage(const study::StudyMachine& machine, int64_t register_file_bytes,
                                bool equal_area);

// Layers that the dataflow cannot express or that its constraints exclude have the reason instead of a cost.
// cycles are the layer's MACs by its active PEs. Results do not depend on `threads`, unless `deadline` stops
// a search.
DataflowRun map_with_dataflow(const WorkloadNetwork& network, const study::Dataflow& dataflow,
                              const study::StudyMachine& machine, const study::Storage& storage, int threads,
                              MapObjective objective = MapObjective::kEnergy,
                              const Deadline* deadline = nullptr);

// Runs of dataflows on the storage that a set of them shares (union_architecture.h); equal questions are
// answered once.
class SharedStorageRuns {
 public:
  SharedStorageRuns(const WorkloadNetwork& network, const std::vector<study::Dataflow>& dataflows,
                    const study::StudyMachine& machine, int threads, const Deadline* deadline = nullptr)
      : network_(network), dataflows_(dataflows), machine_(machine), threads_(threads), deadline_(deadline) {}
  const DataflowRun& run(int dataflow, const std::vector<int>& partners);

 private:
  const WorkloadNetwork& network_;
  const std::vector<study::Dataflow>& dataflows_;
  const study::StudyMachine& machine_;
  int threads_;
  const Deadline* deadline_;
  std::map<std::pair<int, int64_t>, DataflowRun> known_;  // by dataflow and register file bytes
};

}  // namespace tilewright
