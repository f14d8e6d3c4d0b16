// How far estimates are from the simulator: tests/overlay/random_layers. Here they are pinned, so that a term
// that changes or goes missing is seen although it is small.
#include "tilewright/overlay/schedule/estimate.h"

#include <gtest/gtest.h>

#include "tilewright/overlay/schedule/layer_testing.h"

namespace tilewright::overlay {
namespace {

double cycles_of(IsaVersion isa, int64_t channels, int64_t outputs, int64_t size, int kernel) {
  OverlayHardware hardware{.name = "default"};
  hardware.isa = isa;
  MemoryModel memory;
  memory.kind = MemoryModelKind::kIdeal;
  const OverlayLayer layer = conv_layer(channels, outputs, size, kernel);
  const Schedule schedule = default_schedule(layer, hardware, {.memory = memory, .virtual_threads = 1});
  const Tiling tiling(layer, hardware, schedule);
  return estimate_layer(tiling, hardware, memory).cycles;
}

TEST(EstimateLayer, AddsUpTheModulesOfSmallLayers) {
  EXPECT_EQ(cycles_of(IsaVersion::kVta, 16, 16, 1, 1), 108);
  EXPECT_EQ(cycles_of(IsaVersion::kVta, 16, 32, 4, 1), 414);  // two steps
  EXPECT_EQ(cycles_of(IsaVersion::kVta, 32, 16, 4, 3), 1148);
  EXPECT_EQ(cycles_of(IsaVersion::kWide, 16, 16, 1, 1), 103);
  EXPECT_EQ(cycles_of(IsaVersion::kWide, 16, 32, 4, 1), 287);
  EXPECT_EQ(cycles_of(IsaVersion::kWide, 32, 16, 4, 3), 1080);
}

}  // namespace
}  // namespace tilewright::overlay
