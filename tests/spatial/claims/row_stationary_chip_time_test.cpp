// The array simulator against the measured chip (JSSC 2017, Table V): processing time of AlexNet's five
// convolutions from one description of the chip, traffic, and outputs that are exact.
#include <gtest/gtest.h>

#include <cmath>

#include "alexnet_on_chip.h"
#include "support/spatial/random_chip_layer_testing.h"
#include "tilewright/spatial/chip/array_simulator.h"

namespace tilewright {
namespace {

using claims::ChipLayer;
using claims::kAlexnetOnChip;

RowStationaryChip chip() {
  return read_row_stationary_chip(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml");
}

TEST(RowStationaryChipTime, ProcessingTimeIsTheMeasuredOne) {
  const RowStationaryChip eyeriss = chip();
  double total = 0;
  for (const ChipLayer& line : kAlexnetOnChip) {
    SCOPED_TRACE(line.layer.name);
    const ArrayTime time = time_layer(eyeriss, line.layer, line.mapping);
    EXPECT_NEAR(time.milliseconds(eyeriss) / line.measured_ms, 1.0, line.tolerance);
    EXPECT_GE(time.cycles, time.ideal_cycles);
    // The bound that needs no passes: all products, spread over the active PEs.
    EXPECT_GE(time.cycles * line.active_pes, line.layer.macs());
    EXPECT_EQ(line.layer.kernel_height * line.mapping.e * line.mapping.r * line.mapping.t, line.active_pes);
    total += time.milliseconds(eyeriss);
  }
  EXPECT_NEAR(total / claims::kMeasuredTotalMs, 1.0, claims::kTotalTolerance);
}

// The cycles that docs/design/spatial/array_simulator.md states: a change of the model has to be deliberate.
TEST(RowStationaryChipTime, CyclesAreTheDocumentedOnes) {
  const RowStationaryChip eyeriss = chip();
  const int64_t documented[] = {3221832, 7701504, 4423056, 3292572, 2195100};
  for (size_t k = 0; k < std::size(kAlexnetOnChip); ++k) {
    EXPECT_EQ(time_layer(eyeriss, kAlexnetOnChip[k].layer, kAlexnetOnChip[k].mapping).cycles, documented[k]);
  }
}

TEST(RowStationaryChipTime, TrafficIsTheMeasuredOne) {
  const RowStationaryChip eyeriss = chip();
  for (const ChipLayer& line : kAlexnetOnChip) {
    SCOPED_TRACE(line.layer.name);
    const ArrayTraffic traffic = time_layer(eyeriss, line.layer, line.mapping).traffic;
    EXPECT_TRUE(traffic == closed_form_traffic(line.layer, line.mapping));
    EXPECT_NEAR(double(traffic.buffer_words()) * 2e-6 / line.measured_buffer_megabytes, 1.0, 0.005);
    EXPECT_NEAR(double(traffic.dram_words()) * 2e-6 / line.plotted_dram_megabytes, 1.0, 0.005);
    const double pixels = double(pixel_buffer_bytes(eyeriss, line.layer, line.mapping)) / 1024;
    const double psums = double(psum_buffer_bytes(eyeriss, line.layer, line.mapping)) / 1024;
    EXPECT_NEAR(pixels, line.pixel_kilobytes, 0.1);
    EXPECT_NEAR(psums, line.psum_kilobytes, 0.1);
  }
}

// All five layers, full size, on all 16-bit values.
TEST(RowStationaryChipTime, OutputsEqualThePlainConvolution) {
  const RowStationaryChip eyeriss = chip();
  for (const ChipLayer& line : kAlexnetOnChip) {
    SCOPED_TRACE(line.layer.name);
    Random random(1);
    const std::vector<int16_t> input = testing::random_words(random, line.layer.input_words());
    const std::vector<int16_t> weights = testing::random_words(random, line.layer.weight_words());
    ArrayRunOptions options;
    options.threads = 2;
    const ArrayRun run = run_layer(eyeriss, line.layer, line.mapping, input, weights, options);
    EXPECT_TRUE(run.outputs == testing::plain_convolution(line.layer, input, weights));
  }
}

}  // namespace
}  // namespace tilewright
