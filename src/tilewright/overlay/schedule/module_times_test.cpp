#include "tilewright/overlay/schedule/module_times.h"

#include <gtest/gtest.h>

namespace tilewright::overlay {
namespace {

OverlayHardware wide_port() {
  OverlayHardware hardware;
  hardware.memory_width_bits = 128;
  return hardware;
}

TEST(ModuleTimes, LoadsPayTheLatencyOnce) {
  const OverlayHardware hardware = wide_port();
  ModuleTimes times(hardware, {.latency = 32});
  // Started in 0: the first beat is processed in 37, one element of one beat per cycle.
  EXPECT_EQ(times.load(0, 0, 100, 0, 16), 136);
  EXPECT_EQ(times.load(0, 0, 10, 0, 16), 146);   // its data was under way
  EXPECT_EQ(times.load(0, 0, 10, 0, 256), 306);  // 16 beats per element
  // After a wait the latency is paid again; padding above the image is written meanwhile, padding beside it
  // is not.
  EXPECT_EQ(times.load(1000, 30, 10, 4, 16), 1050);
}

TEST(ModuleTimes, PaddingAboveCanTakeLongerThanTheLatency) {
  const OverlayHardware hardware = wide_port();
  ModuleTimes times(hardware, {.latency = 32});
  EXPECT_EQ(times.load(0, 50, 10, 0, 16), 60);
}

TEST(ModuleTimes, ComputeRunsItsClosedForms) {
  OverlayHardware hardware = wide_port();
  hardware.alu_lanes = 4;
  ModuleTimes times(hardware, {.latency = 32});
  times.gemm(100);
  EXPECT_EQ(times.compute_free(), 108);
  times.alu(10, false);  // four slices each
  EXPECT_EQ(times.compute_free(), 152);
  times.alu(10, true);
  EXPECT_EQ(times.compute_free(), 355);
  times.requantize(10, 2);
  EXPECT_EQ(times.compute_free(), 410);
  times.wait(1000);
  times.compute_load(8, 64);
  EXPECT_EQ(times.compute_free(), 1000 + 37 + 32);
}

TEST(ModuleTimes, AGemmMayRunBesideTheAlu) {
  OverlayHardware hardware = wide_port();
  for (const bool beside : {false, true}) {
    hardware.isa = IsaVersion::kWide;
    hardware.gemm_beside_alu = beside;
    ModuleTimes times(hardware, {.latency = 32});
    times.gemm(92, true);
    times.requantize(200, 2);  // from 100 to 315
    EXPECT_EQ(times.last_done(), 315);
    times.gemm(50, true);
    times.gemm(50, true);
    EXPECT_EQ(times.last_done(), beside ? 101 + 58 + 58 : 315 + 58 + 58);
    times.gemm(50);  // waits for both
    EXPECT_EQ(times.last_done(), beside ? 315 + 58 : 315 + 3 * 58);
  }
}

TEST(ModuleTimes, ShortRowsOfStoresWaitForResponses) {
  const OverlayHardware hardware = wide_port();
  ModuleTimes times(hardware, {.latency = 32});
  const double joined = times.store(0, 1, 64 * 16, 64);
  EXPECT_EQ(joined, 4 + 64 + 32);
  const double rows = times.store(1000, 16, 4 * 16, 4);
  EXPECT_EQ(rows, 1000 + 4 + 16 * 5 + 32);  // eight bursts per 40 cycles
}

TEST(ModuleTimes, InstructionsAreVisibleOneAfterTheOther) {
  const OverlayHardware hardware = wide_port();
  ModuleTimes times(hardware, {.latency = 32});
  times.fetch(100);
  times.at(10);
  times.gemm(1);
  EXPECT_EQ(times.compute_free(), 32 + 7 + 10 + 9);
  EXPECT_EQ(times.position(), 11);
}

}  // namespace
}  // namespace tilewright::overlay
