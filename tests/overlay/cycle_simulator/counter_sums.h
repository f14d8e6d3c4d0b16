// Each module is in exactly one state per cycle.
#pragma once

#include <gtest/gtest.h>

#include "tilewright/overlay/time/cycle_counters.h"

namespace tilewright::overlay {

// The states of every module add up to the cycles of the run.
inline void expect_sums(const CycleCounters& c) {
  EXPECT_EQ(c.fetch_busy + c.fetch_blocked + c.fetch_idle, c.cycles);
  EXPECT_EQ(c.load_busy + c.load_token + c.load_starved, c.cycles);
  EXPECT_EQ(c.compute_gemm + c.compute_alu + c.compute_load + c.compute_token_load + c.compute_token_store +
                c.compute_starved,
            c.cycles);
  EXPECT_EQ(c.store_busy + c.store_token + c.store_starved, c.cycles);
}

}  // namespace tilewright::overlay
