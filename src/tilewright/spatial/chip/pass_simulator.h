// One processing pass, cycle by cycle: every PE and every network of the array advances by a cycle at a time,
// moving real words, until the last partial sum is back in the global buffer.
#pragma once

#include <cstdint>

#include "tilewright/spatial/chip/operands.h"
#include "tilewright/spatial/chip/processing_element.h"
#include "tilewright/spatial/chip/traffic.h"

namespace tilewright {

struct PassResult {
  int64_t cycles = 0;
  PeCycles pe_cycles;                // over all PEs of the chip
  int64_t bank_conflict_cycles = 0;  // in which a read waited for a write to its bank
  ArrayTraffic traffic;              // of the pass; no DRAM counts, no output reads
};

// Runs a pass of a legal mapping. The partial sums of `psums` (from the pass's first filter on) are read, if
// the pass does, and replaced. Without data (empty operands, null psums) only the time and the traffic mean
// something.
PassResult simulate_pass(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                         const RowStationaryMapping& mapping, const Pass& pass, const LayerOperands& operands,
                         const BlockPsums& psums);

// The same movement of the same words - weights to PEs, pixel rows along diagonals, partial sums up the
// chains and back - without time: the PEs compute at once, so it is many times faster.
void execute_pass(const RowStationaryLayer& layer, const RowStationaryMapping& mapping, const Pass& pass,
                  const LayerOperands& operands, const BlockPsums& psums);

}  // namespace tilewright
