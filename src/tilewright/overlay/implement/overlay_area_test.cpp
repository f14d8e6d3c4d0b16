// Against what Yosys counted (bench/overlay_area/measured.txt), and how areas have to grow.
#include "tilewright/overlay/implement/overlay_area.h"

#include <gtest/gtest.h>

#include "tilewright/overlay/implement/area_coefficients.h"
#include "tilewright/overlay/implement/clock_model.h"

namespace tilewright::overlay {
namespace {

OverlayHardware machine(int bits, int block_in, int block_out) {
  OverlayHardware h;
  h.isa = IsaVersion::kWide;
  h.input_bits = h.weight_bits = h.output_bits = bits;
  h.block_in = block_in;
  h.block_out = block_out;
  return h;
}

// hardware/overlay-8x8.yaml.
OverlayHardware eight_by_eight() {
  OverlayHardware h = machine(8, 8, 8);
  h.weight_buffer_bytes = 1 << 16;
  return h;
}

TEST(OverlayArea, IsNearYosys) {
  const synthesis::Resources area = overlay_area(eight_by_eight());
  EXPECT_EQ(area.dsp, 96);
  EXPECT_EQ(area.bram, 224);
  EXPECT_NEAR(double(area.lut), 15684, 0.1 * 15684);
  EXPECT_NEAR(double(area.ff), 6010, 0.15 * 6010);

  OverlayHardware narrow = machine(4, 32, 16);
  narrow.uop_buffer_bytes = narrow.input_buffer_bytes = 1 << 16;
  narrow.weight_buffer_bytes = narrow.accumulator_buffer_bytes = 1 << 19;
  narrow.gemm_beside_alu = true;
  const synthesis::Resources wide = overlay_area(narrow);
  EXPECT_EQ(wide.dsp, 64);
  EXPECT_NEAR(double(wide.bram), 890, 0.04 * 890);
  EXPECT_NEAR(double(wide.lut), 47106, 0.1 * 47106);
  EXPECT_NEAR(double(wide.ff), 16894, 0.15 * 16894);
}

TEST(OverlayArea, CountsMultipliersByWidth) {
  EXPECT_EQ(overlay_blocks(machine(8, 16, 16)).dsp, 256 + 4 * 16);
  EXPECT_EQ(overlay_blocks(machine(4, 32, 16)).dsp, 4 * 16);
  OverlayHardware slow = machine(8, 16, 16);
  slow.alu_lanes = 2;
  EXPECT_EQ(overlay_blocks(slow).dsp, 256 + 4 * 2);
  EXPECT_LT(overlay_area(slow).lut, overlay_area(machine(8, 16, 16)).lut);
}

TEST(OverlayArea, KeepsAccumulatorsTwiceAndTheirMirror) {
  const OverlayHardware h = eight_by_eight();
  int64_t bits = 0;
  for (const AreaMemory& memory : area_memories(h)) {
    if (memory.words == h.accumulator_depth() && memory.width <= 64) {
      bits += memory.words * memory.width * memory.count;
    }
  }
  // Two copies of 32 bits and one of 8 per lane; the micro-ops have as many words.
  EXPECT_GE(bits, 4096 * 8 * (2 * 32 + 8));
}

TEST(OverlayArea, StatesItsBand) {
  const AreaBand& band = overlay_area_band();
  EXPECT_GE(band.overlays, 7);
  EXPECT_LT(band.lut_median, 10);
  EXPECT_LT(band.bram_worst, 5);
  EXPECT_EQ(band.dsp_worst, 0);
}

TEST(OverlayArea, AnotherFitHasAnotherDigest) {
  const AreaCoefficients fit = area_coefficients();
  EXPECT_EQ(area_model_digest(fit), area_model_digest());
  AreaCoefficients other = fit;
  other.ff.back() += 1e-9;
  EXPECT_NE(area_model_digest(other), area_model_digest());
  other = fit;
  std::swap(other.lut, other.ff);
  EXPECT_NE(area_model_digest(other), area_model_digest());
}

TEST(ClockModel, IsTheClockOfTheDevice) {
  Device device;
  EXPECT_EQ(estimated_clock_mhz(eight_by_eight(), device), 100);
  device.clock_mhz = 142;
  EXPECT_EQ(estimated_clock_mhz(eight_by_eight(), device), 142);
  EXPECT_GT(estimated_clock_error(), 0);
}

}  // namespace
}  // namespace tilewright::overlay
