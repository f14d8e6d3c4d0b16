#include "tilewright/spatial/chip/array_simulator.h"

#include <gtest/gtest.h>

#include "support/spatial/random_chip_layer_testing.h"

namespace tilewright {
namespace {

using testing::random_array_case;
using testing::random_words;
using testing::RandomArrayCase;

constexpr uint64_t kSeeds = 4000;

void expect_same_time(const ArrayTime& a, const ArrayTime& b) {
  EXPECT_EQ(a.passes, b.passes);
  EXPECT_EQ(a.pass_shapes, b.pass_shapes);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.ideal_cycles, b.ideal_cycles);
  EXPECT_TRUE(a.pe_cycles == b.pe_cycles);
  EXPECT_EQ(a.bank_conflict_cycles, b.bank_conflict_cycles);
  EXPECT_TRUE(a.traffic == b.traffic);
}

struct RandomRun : RandomArrayCase {
  explicit RandomRun(uint64_t seed) : RandomArrayCase(random_array_case(seed)) {
    Random random(seed);
    input = random_words(random, layer.input_words());
    weights = random_words(random, layer.weight_words());
  }
  ArrayRun run(const ArrayRunOptions& options) const {
    return run_layer(chip, layer, mapping, input, weights, options);
  }
  std::vector<int16_t> input, weights;
};

// Every pass through the clock: outputs, traffic, and the accounts of the PEs.
TEST(ArraySimulator, RandomLayersCycleByCycle) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RandomRun c(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + testing::to_string(c));
    ArrayRunOptions options;
    options.time_every_pass = true;
    const ArrayRun run = c.run(options);
    ASSERT_TRUE(run.outputs == testing::plain_convolution(c.layer, c.input, c.weights));
    const ArrayTime& time = run.time;
    EXPECT_TRUE(time.traffic == closed_form_traffic(c.layer, c.mapping));
    EXPECT_EQ(time.passes, pass_count(c.layer, c.mapping));
    EXPECT_GE(time.cycles, time.ideal_cycles);
    // No network carried more than its width.
    EXPECT_GE(time.cycles * c.chip.pixel_words_per_cycle, time.traffic.buffer_pixel_reads);
    EXPECT_GE(time.cycles * c.chip.psum_in_words_per_cycle, time.traffic.buffer_psum_reads);
    EXPECT_GE(time.cycles * c.chip.psum_out_words_per_cycle, time.traffic.buffer_psum_writes);
    EXPECT_GE(time.cycles * c.chip.filter_words_per_cycle, time.traffic.weight_buffer_reads);
    EXPECT_EQ(time.simulated_cycles, time.cycles);
    EXPECT_EQ(time.pe_cycles.total(), c.chip.rows * c.chip.columns * time.cycles);
    EXPECT_EQ(time.pe_cycles.multiply, c.layer.macs());
    if (HasFailure()) return;
  }
}

// The time of each pass shape once, passes without a clock: the same in every respect.
TEST(ArraySimulator, PassShapesAreEnough) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RandomRun c(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + testing::to_string(c));
    ArrayRunOptions options;
    const ArrayRun shapes = c.run(options);
    options.time_every_pass = true;
    options.threads = 2;
    const ArrayRun every = c.run(options);
    ASSERT_TRUE(shapes.outputs == every.outputs);
    expect_same_time(shapes.time, every.time);
    expect_same_time(shapes.time, time_layer(c.chip, c.layer, c.mapping));
    if (HasFailure()) return;
  }
}

// One PE, one weight, three pixels. The words sent in cycle 0 are used in cycle 1; products in 1, 3, 5,
// additions in 2, 4, 6; the last result leaves the pipeline of 3 stages in cycle 9, the tenth.
TEST(ArraySimulator, SmallestPassByHand) {
  RowStationaryChip chip;
  chip.pipeline_stages = 3;
  chip.buffer_banks = 2;
  chip.bank_bytes = chip.weight_buffer_bytes = 64;
  const RowStationaryLayer layer{"row", 1, 1, 1, 1, 1, 3, 1, 1, 1};
  const ArrayRun run = run_layer(chip, layer, {}, std::vector<int16_t>{3, -4, 5}, std::vector<int16_t>{-7});
  EXPECT_EQ(run.outputs, (std::vector<int64_t>{-21, 28, -35}));
  EXPECT_EQ(run.time.cycles, 10);
  EXPECT_EQ(run.time.ideal_cycles, 3);
  PeCycles expected;
  expected.multiply = expected.accumulate = 3;
  expected.wait_pixel = 1;
  expected.finished = 3;
  EXPECT_TRUE(run.time.pe_cycles == expected);
}

TEST(ArraySimulator, AWiderNetworkOrMoreOverlapCostsNothing) {
  const RowStationaryChip chip =
      read_row_stationary_chip(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml");
  const RowStationaryLayer layer{"layer", 1, 2, 8, 32, 15, 15, 3, 3, 1};
  const RowStationaryMapping mapping{32, 2, 13, 16, 3, 2, 2};
  const int64_t cycles = time_layer(chip, layer, mapping).cycles;
  RowStationaryChip wide = chip;
  wide.filter_words_per_cycle = wide.pixel_words_per_cycle = 1 << 10;
  EXPECT_LT(time_layer(wide, layer, mapping).cycles, cycles);
  RowStationaryChip adders = chip;
  adders.overlap.shared_adder = false;
  EXPECT_LT(time_layer(adders, layer, mapping).cycles, cycles);
  RowStationaryChip ahead = chip;
  ahead.overlap.pixel_run_ahead = true;
  EXPECT_LT(time_layer(ahead, layer, mapping).cycles, cycles);
  RowStationaryChip behind = chip;
  behind.overlap.weight_run_ahead = false;
  EXPECT_GT(time_layer(behind, layer, mapping).cycles, cycles);
  RowStationaryChip loaded = chip;
  loaded.overlap.start_when_loaded = true;
  EXPECT_GT(time_layer(loaded, layer, mapping).cycles, cycles);
}

TEST(ArraySimulator, RefusesIllegalMappingsAndWrongData) {
  const RandomArrayCase c = random_array_case(1);
  RowStationaryMapping mapping = c.mapping;
  mapping.p = 1000;
  EXPECT_THROW(time_layer(c.chip, c.layer, mapping), Error);
  try {
    run_layer(c.chip, c.layer, c.mapping, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 2u) << error.what();
  }
  RowStationaryChip chip = c.chip;
  chip.rows = 0;
  EXPECT_THROW(time_layer(chip, c.layer, c.mapping), Error);
  chip = read_row_stationary_chip(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml");
  EXPECT_NO_THROW(time_layer(chip, {"few", 1, 4, 1, 1, 1 << 8, 3, 1, 1, 1}, {}));
  try {
    time_layer(chip, {"many", 1 << 10, 1 << 10, 1, 1, 1 << 5, 3, 1, 1, 1}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

}  // namespace
}  // namespace tilewright
