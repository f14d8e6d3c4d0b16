// Executes a configuration clock by clock. It knows the configuration and the inputs, but not the graph or
// the mapping they come from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/graph/operation.h"
#include "tilewright/cgra/simulate/asynchronous.h"
#include "tilewright/cgra/simulate/fault.h"

namespace tilewright::cgra {

struct FabricSimulationOptions {
  int threads = 1;  // of every flow
  AsynchronousLatency latency;
  uint64_t seed = 0;        // of the latencies
  int64_t most_cycles = 0;  // then kClockLimit; 0: plenty for what the configuration should need
  bool values = false;      // keep the result of every instruction
};

struct FlowActivity {
  int64_t first_start = 0, last_start = 0;  // clocks of its first and last thread
  int64_t waited_cycles = 0;                // clocks between them, beyond one thread every II
};

struct FabricSimulationResult {
  std::optional<Fault> fault;    // the run ended early; the rest holds what was done before
  int64_t cycles = 0;            // until the last result and the last message
  double threads_per_cycle = 0;  // of the slowest flow, first to last start; 1 / II where nothing waits
  // By name of instruction: the stream of a store or output, a record per thread.
  std::map<std::string, std::vector<StoreRecord>> stores;
  // By name of instruction, where asked for: its result for every thread.
  std::map<std::string, std::vector<int32_t>> values;
  // By number of array: what the stores and outputs left there, index -> value; in the order of the clocks at
  // which they start, within a clock of tiles. Those without an array (number -1) have their streams only.
  std::map<int, std::map<int32_t, int32_t>> arrays;
  // By name of variable: the entries of those that instructions write, at the end.
  std::map<std::string, std::vector<int32_t>> memories;
  std::vector<FlowActivity> flows;
  std::vector<std::vector<int64_t>> started;  // [tile][slot]: instructions
  double utilisation = 0;                     // started instructions per tile and clock
};

// `configuration` has been verified. Deterministic. Errors (invalid input): fewer than one thread, latencies
// below 1 or out of order.
FabricSimulationResult simulate_fabric(const Configuration& configuration, const Inputs& inputs,
                                       const FabricSimulationOptions& options);

}  // namespace tilewright::cgra
