// The result of mapping a network: for every dataflow and every layer the energy by memory and by data type,
// the cycles, and how far the answer is proven.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/hardware/array_hardware.h"
#include "tilewright/spatial/network/network.h"

namespace tilewright {

enum class LayerStatus : uint8_t {
  kProven,       // the optimum of its mapspace
  kStopped,      // the best so far, with a lower bound; with a reason if nothing was found by then
  kEvaluated,    // a mapping that was given
  kInfeasible,   // no mapping exists
  kUnsupported,  // the dataflow cannot express the layer
};
const char* name(LayerStatus status);

// The reason of a layer that has no mapping because its search was stopped.
inline constexpr const char* kNothingInTime = "the search was stopped before it found a mapping";

struct LayerCost {
  LayerStatus status = LayerStatus::kInfeasible;
  std::string reason;  // why there is no cost; else empty
  double energy = 0;   // of one execution of the layer, in the hardware's unit
  double arithmetic_energy = 0;
  // By DataflowRun::places and role; with arithmetic_energy they add up to `energy`.
  std::vector<std::array<double, kDataRoles>> parts;
  double cycles = 0;
  double utilisation = 0;  // operations / (cycles * PEs)
  double active_pes = 0;
  double value = 0, lower_bound = 0;  // of the objective
  double mapspace_size = 0;           // mappings before any is excluded
  int64_t nodes = 0, pruned = 0;
  double seconds = 0;     // of the search
  std::string variables;  // of a study dataflow: "m=96 n=2"
  std::string mapping;    // its text form; empty if there is none

  bool has_cost() const { return status <= LayerStatus::kEvaluated && reason.empty(); }
  double gap() const { return value > 0 ? (value - lower_bound) / value : 0; }
  double edp() const { return energy * cycles; }
};

// All layers under one dataflow.
struct DataflowRun {
  std::string dataflow;             // "free": no dataflow constraint
  std::vector<std::string> places;  // where energy goes: memories and networks, outermost first
  std::vector<LayerCost> costs;     // by shape
};

// Sums over all layers of a run that have a cost, equal layers as often as they occur.
struct RunTotals {
  double energy = 0, arithmetic_energy = 0, cycles = 0, lower_bound = 0;
  std::vector<std::array<double, kDataRoles>> parts;
  int64_t macs = 0;
  int layers = 0;      // with a cost
  int missing = 0;     // without
  bool proven = true;  // every one of them
  double edp() const { return energy * cycles; }
  double energy_per_mac() const { return macs > 0 ? energy / double(macs) : 0; }
};

struct NetworkReport {
  WorkloadNetwork network;
  std::string hardware;
  std::string energy_unit = "mac";
  int64_t pes = 0;
  double clock_mhz = 0;  // 0: times are in cycles only
  std::string objective, rules;
  int64_t batch = 1;  // images; 0: not the same for all layers
  bool equal_area = false;
  std::vector<DataflowRun> runs;

  const LayerCost& cost(const DataflowRun& run, const NetworkLayer& layer) const {
    return run.costs[size_t(layer.shape)];
  }
  RunTotals totals(const DataflowRun& run) const;
  // Energy of one role over all places.
  static double role_energy(const std::vector<std::array<double, kDataRoles>>& parts, DataRole role);
};

// "batch 8"
std::string batch_text(const NetworkReport& report);

}  // namespace tilewright
