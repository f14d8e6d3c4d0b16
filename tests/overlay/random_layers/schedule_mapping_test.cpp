// Overlay schedules as nest mappings: the loops, footprints and rules of `nest` describe exactly the tiles,
// scratchpad sizes and steps that the lowering uses.
#include <gtest/gtest.h>

#include "random_layer.h"
#include "support/overlay/schedule_mapping_testing.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::random_layers {
namespace {

using overlay::Range;

// [first, first + count) elements in blocks.
Range blocks(std::span<const int64_t> begins, std::span<const int64_t> extents, size_t dimension,
             int64_t block) {
  EXPECT_EQ(begins[dimension] % block, 0);
  EXPECT_EQ(extents[dimension] % block, 0);
  return {begins[dimension] / block, (begins[dimension] + extents[dimension]) / block};
}

void expect_same_steps(const overlay::ScheduleMapping& m, const overlay::Tiling& tiling,
                       const OverlayHardware& hardware) {
  const overlay::StepPlan plan = overlay::plan_steps(tiling);
  size_t next = 0;
  for_each_tile(m.workload, m.mapping, 1,
                [&](std::span<const int64_t> begins, std::span<const int64_t> extents) {
                  ASSERT_LT(next, plan.steps.size());
                  const overlay::Step& step = plan.steps[next++];
                  const overlay::Tile& tile = plan.tiles[size_t(step.tile)];
                  ASSERT_EQ(blocks(begins, extents, 0, hardware.batch), tile.batch);
                  ASSERT_EQ(blocks(begins, extents, 1, hardware.block_out), tile.out);
                  ASSERT_EQ(blocks(begins, extents, 2, hardware.block_in), step.in);
                  ASSERT_EQ(blocks(begins, extents, 3, 1), tile.rows);
                  ASSERT_EQ(blocks(begins, extents, 4, 1), tile.cols);
                });
  EXPECT_EQ(next, plan.steps.size());
}

TEST(ScheduleMapping, DescribesTilesSizesAndStepsOfRandomSchedules) {
  int mapped = 0, folded = 0, outputs_outer = 0, several_steps = 0;
  for (uint64_t seed = 70000; seed < 70500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::string file;
    const OverlayHardware hardware =
        pick_hardware(seed, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware", &file);
    const Case c = make_case(seed, seed % 3 == 0 ? Kind::kDense : Kind::kConv, hardware);
    const Node& node = c.graph.nodes.back();
    if (!overlay::supports(c.graph, node, hardware, nullptr)) continue;
    const overlay::OverlayLayer layer = overlay::extract_layer(c.graph, node, hardware);
    overlay::Schedule schedule = pick_schedule(seed, layer, hardware);
    schedule.first_parts = 1;  // parts of a step are below the mapping's levels
    const auto m = overlay::schedule_mapping(layer, hardware, schedule);
    if (!m) continue;
    ++mapped;
    Diagnostics diagnostics;
    m->workload.verify(diagnostics);
    check_mapping(m->workload, m->hierarchy, m->mapping, "schedule", diagnostics);
    ASSERT_NO_THROW(diagnostics.raise_if_any()) << print_mapping(m->workload, m->mapping);
    ASSERT_EQ(parse_mapping(print_mapping(m->workload, m->mapping), "schedule", m->workload), m->mapping);

    const overlay::OverlayLayer target = overlay::scheduled_layer(layer, schedule);
    const overlay::Tiling tiling(target, hardware, schedule);
    const std::vector<int64_t> extents = tile_extents(m->workload, m->mapping);
    const auto bits = [&](int space) {
      return tile_bits(m->workload, m->hierarchy.levels[1], space, std::span(extents).subspan(7, 7));
    };
    ASSERT_EQ(bits(kInputSpace), tiling.input_slot_size * hardware.input_bytes() * 8);
    ASSERT_EQ(bits(kWeightSpace), tiling.weight_slot_size * hardware.weight_bytes() * 8);
    ASSERT_EQ(bits(kOutputSpace), tiling.output_slot_size * hardware.accumulator_bytes() * 8);
    expect_same_steps(*m, tiling, hardware);
    if (HasFatalFailure()) return;
    folded += schedule.fold_y * schedule.fold_x > 1 ? 1 : 0;
    outputs_outer += schedule.order == overlay::TileOrder::kOutputsOuter ? 1 : 0;
    several_steps += tiling.tile_count() > 1 ? 1 : 0;
  }
  std::printf("%d mapped, %d folded, %d outputs outermost, %d of several tiles\n", mapped, folded,
              outputs_outer, several_steps);
  EXPECT_GE(mapped, 200);
  EXPECT_GE(outputs_outer, 40);
  EXPECT_GE(several_steps, 100);
}

}  // namespace
}  // namespace tilewright::random_layers
