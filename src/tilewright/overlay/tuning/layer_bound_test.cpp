// Against counting one output, one tap and one block after the other.
#include "tilewright/overlay/tuning/layer_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/layer_testing.h"

namespace tilewright::overlay {
namespace {

struct Counts {
  int64_t outputs = 0, taps = 0;
  std::set<std::pair<int64_t, int64_t>> read;  // positions of the image
};

Counts counts_of(const OverlayLayer& layer) {
  Counts counts;
  for (const Phase& phase : layer.phases) {
    for (int64_t y = phase.out_y, qy = 0; y < layer.out_height; y += layer.out_step_y, ++qy) {
      for (int64_t x = phase.out_x, qx = 0; x < layer.out_width; x += layer.out_step_x, ++qx) {
        ++counts.outputs;
        for (const TapGrid& grid : phase.grids) {
          for (int tap = 0; tap < grid.ny * grid.nx; ++tap) {
            const int64_t row = qy * layer.in_step_y + grid.dy + tap / grid.nx * grid.dy_step;
            const int64_t column = qx * layer.in_step_x + grid.dx + tap % grid.nx * grid.dx_step;
            ++counts.taps;
            const LayerSource& source = layer.sources[0];
            const bool inside = row >= 0 && row < source.height && column >= 0 && column < source.width;
            if (inside) counts.read.insert({row, column});
          }
        }
      }
    }
  }
  return counts;
}

// 20 channels to 40 on images of 7 x 7: a convolution, one of stride 3 with a 1 x 1 kernel, which leaves
// positions out, and the four phases of a transposed convolution to 7 x 7 from 4 x 4.
std::vector<OverlayLayer> layers() {
  std::vector<OverlayLayer> all(3, conv_layer(20, 40, 7, 3));
  all[1] = conv_layer(20, 40, 7, 1);
  all[1].in_step_y = all[1].in_step_x = 3;
  all[1].out_height = all[1].out_width = 3;
  OverlayLayer& transposed = all[2];
  transposed.sources[0].height = transposed.sources[0].width = 4;
  transposed.out_step_y = transposed.out_step_x = 2;
  transposed.phases.clear();
  for (int phase = 0; phase < 4; ++phase) {
    const int y = phase / 2, x = phase % 2;
    transposed.phases.push_back({y, x, {TapGrid{.ny = 1 + y, .nx = 1 + x}}});
  }
  for (OverlayLayer& layer : all) layer.batch = 3;
  return all;
}

TEST(LayerBound, CountsStepsAndBytesOnce) {
  OverlayHardware hardware;
  hardware.batch = 2;  // 3 images are two groups, 20 channels two blocks, 40 channels three
  const int64_t batches = 2, in = 2, out = 3;
  for (const int lanes : {0, 8}) {
    hardware.alu_lanes = lanes;
    for (const OverlayLayer& layer : layers()) {
      const Counts counts = counts_of(layer);
      const LayerBound bound = layer_bound(layer, hardware);
      const int64_t outputs = batches * out * counts.outputs;
      EXPECT_EQ(bound.gemm_steps, batches * in * out * counts.taps);
      EXPECT_EQ(bound.input_bytes, batches * in * int64_t(counts.read.size()) * hardware.input_bytes());
      EXPECT_EQ(bound.weight_bytes, in * out * layer.weight_positions * hardware.weight_bytes());
      EXPECT_EQ(bound.output_bytes, outputs * hardware.output_bytes());
      const OutputPasses stage = make_output_passes(layer, hardware.isa);
      ASSERT_TRUE(stage.start);  // instead of a reset
      EXPECT_EQ(bound.reset_steps, 0);
      EXPECT_EQ(bound.alu_steps,
                int64_t(stage.passes.size() + 1) * outputs * (lanes == 0 ? 1 : 2 * 16 / lanes));
      EXPECT_EQ(bound.compute_cycles, double(bound.gemm_steps + bound.alu_steps));
    }
  }
}

TEST(LayerBound, BesideTheAluTheLongerOfBothCounts) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.gemm_beside_alu = true;
  bool gemm_is_longer[2] = {};
  for (const int lanes : {0, 1}) {
    hardware.alu_lanes = lanes;
    for (const OverlayLayer& layer : layers()) {
      const LayerBound bound = layer_bound(layer, hardware);
      const double multiplies = double(bound.gemm_steps + bound.reset_steps), alu = double(bound.alu_steps);
      gemm_is_longer[multiplies > alu] = true;
      EXPECT_EQ(bound.compute_cycles, std::max(multiplies, alu));
    }
  }
  EXPECT_TRUE(gemm_is_longer[false] && gemm_is_longer[true]);
}

MemoryModel random_memory(Random& random) {
  MemoryModel memory;
  memory.kind = MemoryModelKind(random.between(0, 2));
  memory.latency = uint32_t(random.between(1, 80));
  return memory;
}

// Many of these layers are one step, whose data may come in parts.
TEST(ScheduleBoundClass, NoProgramIsFaster) {
  const int64_t cases = test_cases(120);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t parted = 0;
  for (int64_t i = 0; i < cases; ++i) {
    OverlayHardware hardware;
    hardware.isa = random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide;
    hardware.memory_width_bits = 32 << random.between(0, 2);
    const MemoryModel memory = random_memory(random);
    const bool whole = random.chance(0.6);
    const int64_t blocks = random.between(1, 8), outputs = random.between(1, 3), size = random.between(1, 8);
    const OverlayLayer layer = conv_layer(16 * blocks, 16 * outputs, size, random.chance(0.5) ? 3 : 1);
    const auto tile = [&](int64_t all) { return whole ? all : random.between(1, all); };
    Schedule schedule{1, tile(size), tile(size), tile(outputs), tile(blocks)};
    schedule.virtual_threads = int(random.between(1, 2));
    schedule.order = random.chance(0.5) ? TileOrder::kOutputsInner : TileOrder::kOutputsOuter;
    schedule.weights_resident = random.chance(0.5);
    schedule.inputs_resident = random.chance(0.5);
    schedule.early_start = random.chance(0.5);
    schedule.parameters_by_tile = random.chance(0.5);
    schedule.first_parts = int(random.between(1, 4));
    schedule.finish_parts = int(random.between(1, 3));
    const Tiling tiling(layer, hardware, schedule);
    if (!tiling.fits(hardware)) continue;
    parted += whole && schedule.first_parts > 1 && blocks > 1;
    ASSERT_LE(schedule_bound(tiling, hardware, memory), double(layer_cycles(tiling, hardware, memory)))
        << "case " << i << ": " << 16 * blocks << " channels, " << size << " x " << size << ", "
        << print_schedule(schedule);
  }
  EXPECT_GT(parted, cases / 10);
}

// 128 channels in four parts: the sums of three of them run while the last one comes.
TEST(ScheduleBound, OneStepInPartsWaitsForItsLastPartOnly) {
  const OverlayHardware hardware;
  const OverlayLayer layer = conv_layer(128, 16, 8, 3);
  Schedule schedule{1, 8, 8, 1, 8};
  schedule.early_start = true;
  schedule.first_parts = 4;
  const Tiling tiling(layer, hardware, schedule);
  ASSERT_TRUE(tiling.fits(hardware));
  EXPECT_LE(schedule_bound(tiling, hardware), double(layer_cycles(tiling, hardware, {})));
}

}  // namespace
}  // namespace tilewright::overlay
