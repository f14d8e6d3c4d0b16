// Between the study's own terms (layer shapes, accesses per level and type) and the report of a network.
#include "tilewright/spatial/network/study_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/spatial/taxonomy/dataflow_mapping.h"

namespace tilewright {
namespace {

LayerCost costed(const Workload& workload, const study::Dataflow& dataflow, const study::LayerShape& shape,
                 const study::StudyMachine& machine, const study::Storage& storage, MapObjective objective,
                 const Deadline& deadline) {
  study::SearchOptions options;
  options.objective = objective;
  options.limits.deadline = &deadline;
  const study::DataflowResult result = study::best_mapping(dataflow, shape, machine, storage, options);
  LayerCost cost;
  cost.mapspace_size = result.proof.space_points;
  cost.nodes = result.proof.nodes;
  cost.pruned = result.proof.pruned;
  if (result.status == study::BoxSearchStatus::kInfeasible || result.variables.empty()) {
    for (const std::string& reason : result.reasons)
      cost.reason += (cost.reason.empty() ? "" : "; ") + reason;
    if (result.status == study::BoxSearchStatus::kStopped) {
      cost.status = LayerStatus::kStopped;
      cost.reason = kNothingInTime;
    }
    return cost;
  }
  cost.status =
      result.status == study::BoxSearchStatus::kOptimal ? LayerStatus::kProven : LayerStatus::kStopped;
  const std::array<double, study::kLevels> energy = {machine.energy.dram, machine.energy.buffer,
                                                     machine.energy.array, machine.energy.register_file};
  const double macs = double(shape.macs());
  cost.arithmetic_energy = macs * machine.energy.alu;
  cost.energy = cost.arithmetic_energy + study::access_energy(result.counts, machine.energy);
  for (size_t level = 0; level < energy.size(); ++level) {
    std::array<double, kDataRoles>& part = cost.parts.emplace_back();
    for (size_t type = 0; type < part.size(); ++type) part[type] = result.counts[level][type] * energy[level];
  }
  cost.active_pes = result.active_pes;
  cost.cycles = macs / result.active_pes;
  cost.utilisation = result.active_pes / double(machine.pes);
  cost.value = result.proof.value;
  cost.lower_bound = result.proof.bound;
  for (size_t v = 0; v < result.variables.size(); ++v) {
    cost.variables +=
        fmt::format("{}{}={}", v == 0 ? "" : " ", dataflow.variables[v].name, result.variables[v]);
  }
  if (!dataflow.mapping.empty() && workload.find_dimension("P")) {
    cost.mapping = print_mapping(
        workload, study::dataflow_mapping(dataflow, shape, machine, storage, result.variables, workload));
  }
  return cost;
}

}  // namespace

study::Storage dataflow_storage(const study::StudyMachine& machine, int64_t register_file_bytes,
                                bool equal_area) {
  study::Storage storage = study::equal_area_storage(machine, register_file_bytes);
  if (equal_area) return storage;
  const study::Storage baseline =
      study::equal_area_storage(machine, int64_t(machine.area.baseline_bytes_per_pe));
  storage.buffer_bytes = baseline.buffer_bytes;
  storage.buffer_words = baseline.buffer_words;
  storage.total_bytes = storage.buffer_bytes + double(storage.register_file_bytes * machine.pes);
  return storage;
}

DataflowRun map_with_dataflow(const WorkloadNetwork& network, const study::Dataflow& dataflow,
                              const study::StudyMachine& machine, const study::Storage& storage, int threads,
                              MapObjective objective, const Deadline* whole) {
  const Deadline deadline(Deadline::kNoLimit, whole);
  DataflowRun run{dataflow.name, {"dram", "buffer", "array", "register file"}, {}};
  run.costs.resize(network.shapes.size());
  // `left`: shapes that share the rest of the time.
  const auto map_shape = [&](size_t index, int64_t left) {
    const Deadline part(deadline.left() / double(left), &deadline);
    const Workload& workload = network.shapes[index];
    LayerCost& cost = run.costs[index];
    try {
      cost = costed(workload, dataflow, study::layer_shape(workload), machine, storage, objective, part);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      cost.status = LayerStatus::kUnsupported;
      cost.reason = error.what();
    }
  };
  parallel_for(threads, int64_t(network.shapes.size()), [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) map_shape(size_t(index), end - index);
  });
  return run;
}

const DataflowRun& SharedStorageRuns::run(int dataflow, const std::vector<int>& partners) {
  int64_t register_file = 0;
  for (const int partner : partners) {
    register_file = std::max(register_file, dataflows_[size_t(partner)].register_file_bytes);
  }
  const auto known = known_.find({dataflow, register_file});
  if (known != known_.end()) return known->second;
  const study::Storage storage = study::equal_area_storage(machine_, register_file);
  return known_[{dataflow, register_file}] =
             map_with_dataflow(network_, dataflows_[size_t(dataflow)], machine_, storage, threads_,
                               MapObjective::kEnergy, deadline_);
}

}  // namespace tilewright
