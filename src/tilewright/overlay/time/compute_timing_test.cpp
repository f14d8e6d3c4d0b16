// Cycles by hand, from docs/design/overlay/overlay_rtl.md, "Compute"; an instruction starts in cycle 0.
#include "tilewright/overlay/time/compute_timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace tilewright::overlay {
namespace {

LoopNest steps(uint32_t count, uint32_t dst_factor, uint32_t src_factor) {
  LoopNest loop;
  loop.uop_end = 1;
  loop.iter_in = count;
  loop.dst_factor_in = dst_factor;
  loop.src_factor_in = src_factor;
  return loop;
}

uint64_t requantize(const LoopNest& loop, uint32_t dst, uint32_t src, uint64_t slices = 1) {
  std::vector<MicroOp> uops(1);
  uops[0].dst = dst;
  uops[0].src = src;
  return requantize_duration(loop, uops, slices);
}

TEST(ComputeTiming, GemmAndAlu) {
  EXPECT_EQ(gemm_duration(0), 1u);
  EXPECT_EQ(gemm_duration(1), 8u);
  EXPECT_EQ(alu_duration(AluOpcode::kMin, {.uop_end = 10}, 2), 23u);
  EXPECT_EQ(alu_duration(AluOpcode::kMul, {.uop_end = 10}, 2), 102u);
  EXPECT_EQ(alu_duration(AluOpcode::kMul, {}, 2), 1u);
}

TEST(ComputeTiming, RequantizeKeepsItsParameters) {
  EXPECT_EQ(requantize(steps(4, 1, 0), 10, 0), 15u);     // read 3..5, issue 6..9, done 15
  EXPECT_EQ(requantize(steps(4, 1, 0), 10, 0, 2), 19u);  // issue 6..13
  EXPECT_EQ(requantize(steps(4, 1, 3), 100, 0), 24u);    // issue 6, 10, 14, 18
  EXPECT_EQ(requantize(steps(0, 1, 3), 100, 0), 1u);
}

TEST(ComputeTiming, RequantizeWaitsForADestinationInFlight) {
  EXPECT_EQ(requantize(steps(3, 0, 0), 10, 0), 26u);     // issue 6, 13, 20
  EXPECT_EQ(requantize(steps(3, 0, 0), 10, 0, 4), 35u);  // issue 6..9, 16..19, 26..29
}

TEST(ComputeTiming, RequantizeReadsParametersAgainThatItWrites) {
  // Issue 6 writes ACC[1], a parameter: wait until 13, read 13..15, issue 16, and so on.
  EXPECT_EQ(requantize(steps(3, 0, 0), 1, 0), 32u);
  // Destinations 3, 2, 1, 0 of a kept 0..2: 6 and 7; then 2 was written: 14..16, 17; 24..26, 27.
  std::vector<MicroOp> uops(4);
  for (uint32_t u = 0; u < 4; ++u) uops[u].dst = 3 - u;
  LoopNest loop;
  loop.uop_end = 4;
  EXPECT_EQ(requantize_duration(loop, uops, 1), 33u);
}

}  // namespace
}  // namespace tilewright::overlay
