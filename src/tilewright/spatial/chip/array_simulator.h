// A whole layer on the row-stationary chip: all its passes, one after the other, on real 16-bit data.
//
// Passes of the same shape take the same time whatever their data, so the time of each shape is simulated
// once, cycle by cycle, and every pass is executed without a clock; time_every_pass runs all of them through
// the clock instead, with the same result (tested).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/spatial/chip/pass_simulator.h"

namespace tilewright {

struct ArrayTime {
  int64_t passes = 0, pass_shapes = 0;
  int64_t cycles = 0;            // of all passes: the processing time, DRAM transfers not included
  int64_t ideal_cycles = 0;      // in which the busiest PE of each pass multiplies
  int64_t simulated_cycles = 0;  // cycles that really went through the clock
  PeCycles pe_cycles;            // sums to PEs of the chip times cycles
  int64_t bank_conflict_cycles = 0;
  ArrayTraffic traffic;
  double milliseconds(const RowStationaryChip& chip) const { return double(cycles) / (chip.clock_mhz * 1e3); }
};

struct ArrayRun {
  ArrayTime time;
  std::vector<int64_t> outputs;  // [N, G*M, E, F], exact sums of products
};

struct ArrayRunOptions {
  bool time_every_pass = false;
  int threads = 1;  // any number gives the same result
};

// Errors, all at once: a chip or layer out of its ranges (invalid input), a mapping that breaks rules
// (infeasible). More than 2^24 passes are refused (unsupported).
ArrayTime time_layer(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                     const RowStationaryMapping& mapping);

// `input` i16[N, G*C, H, W] with its padding in it, `weights` i16[G*M, C, R, S]. Errors as above; also data
// of the wrong size (invalid input).
ArrayRun run_layer(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                   const RowStationaryMapping& mapping, std::span<const int16_t> input,
                   std::span<const int16_t> weights, const ArrayRunOptions& options = {});

}  // namespace tilewright
