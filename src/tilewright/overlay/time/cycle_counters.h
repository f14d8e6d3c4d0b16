// The report of a timed run of the overlay: the same from the cycle simulator and, read from its registers,
// from the RTL. States and their meaning: docs/design/overlay/overlay_rtl.md. Each module is in exactly one
// state per cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/hardware/axi_transaction.h"
#include "tilewright/overlay/execute/functional_simulator.h"

namespace tilewright::overlay {

struct CycleCounters {
  uint64_t cycles = 0;  // of the whole run
  uint64_t fetch_busy = 0, fetch_blocked = 0, fetch_idle = 0;
  uint64_t load_busy = 0, load_token = 0, load_starved = 0;
  uint64_t compute_gemm = 0, compute_alu = 0, compute_load = 0;
  uint64_t compute_token_load = 0, compute_token_store = 0, compute_starved = 0;
  uint64_t store_busy = 0, store_token = 0, store_starved = 0;
  uint64_t read_bursts = 0, read_beats = 0, write_bursts = 0, write_beats = 0;

  bool operator==(const CycleCounters&) const = default;
};

struct TimedRun {
  CycleCounters cycles;
  RunCounters work;
  std::vector<AxiTransaction> transactions;  // by cycle, reads before writes; only when asked for
};

}  // namespace tilewright::overlay
