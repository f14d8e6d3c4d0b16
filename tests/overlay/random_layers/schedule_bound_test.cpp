// The space of schedules on random layers, overlays and memories: its points run, no bound is above what the
// cycle simulator measures, and the default schedule is a point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "random_layer.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/tuning/layer_bound.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright::random_layers {
namespace {

MemoryModel random_memory(Random& random) {
  MemoryModel memory;
  memory.kind = MemoryModelKind(random.between(0, 2));
  memory.latency = uint32_t(random.between(1, 80));
  memory.beat_interval = uint32_t(random.between(1, 2));
  memory.efficiency_percent = uint32_t(random.chance(0.5) ? 100 : random.between(60, 99));
  memory.ddr.beat_interval = uint32_t(random.between(1, 2));
  return memory;
}

// Says whether the layer can fold its input, and whether it has a schedule: layers of 16-bit inputs take all
// of them at once, which small scratchpads may have no room for.
bool prepare(overlay::OverlayLayer& layer, const OverlayHardware& hardware) {
  layer.foldable = layer.sources[0].channels < hardware.block_in && layer.sources[0].planes == 1;
  try {
    overlay::default_schedule(layer, hardware);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
    EXPECT_GT(layer.sources[0].planes, 1) << error.what();
    return false;
  }
}

TEST(ScheduleBound, IsNeverAboveTheCyclesOfRandomPoints) {
  constexpr int kPoints = 6;
  std::vector<double> tightness;
  int64_t failed = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed * 13 + 5);
    std::string file;
    OverlayHardware hardware = pick_hardware(seed, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware", &file);
    hardware.memory_width_bits = 32 << random.between(0, 3);
    if (hardware.isa == IsaVersion::kWide) hardware.gemm_beside_alu = random.chance(0.5);
    const MemoryModel memory = random_memory(random);
    const Case c = make_case(seed, pick_kind(seed, hardware), hardware);
    const Node& node = c.graph.nodes.back();
    if (c.graph.nodes.size() != 1 || !overlay::supports(c.graph, node, hardware, nullptr)) continue;
    overlay::OverlayLayer layer = overlay::extract_layer(c.graph, node, hardware);
    if (!prepare(layer, hardware)) continue;
    overlay::ScheduleProblem problem(layer, hardware, memory, 2);
    std::vector<KnobSpace::Point> points;
    while (points.size() < kPoints) {
      const auto point = problem.space().sample(random, 2000);
      if (!point) break;
      points.push_back(*point);
    }
    const double least = problem.layer_bound().cycles();
    for (const Measurement& measured : problem.measure(points)) {
      failed += !measured.cost;
      if (!measured.cost) continue;
      const overlay::Schedule schedule = problem.schedules().schedule(measured.point);
      const double bound = problem.bound(measured.point);
      ASSERT_LE(bound, *measured.cost) << file << ": " << overlay::print_schedule(schedule);
      if (schedule.fold_y * schedule.fold_x == 1) {
        ASSERT_LE(least, *measured.cost) << file;
      }
      tightness.push_back(bound / *measured.cost);
    }
  }
  std::sort(tightness.begin(), tightness.end());
  const auto quantile = [&](double q) { return tightness[size_t(q * double(tightness.size() - 1))]; };
  std::printf("%zu points, %lld failed: bound / cycles %.3f (one of ten), %.3f (median), %.3f (most)\n",
              tightness.size(), (long long)failed, quantile(0.1), quantile(0.5), quantile(1));
  EXPECT_GE(tightness.size(), 2000u);
  EXPECT_GE(quantile(0.5), 0.45);
}

TEST(ScheduleSpace, HasTheDefaultScheduleOfRandomLayers) {
  int layers = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::string file;
    const OverlayHardware hardware =
        pick_hardware(seed, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware", &file);
    const Case c = make_case(seed, pick_kind(seed, hardware), hardware);
    const Node& node = c.graph.nodes.back();
    if (c.graph.nodes.size() != 1 || !overlay::supports(c.graph, node, hardware, nullptr)) continue;
    overlay::OverlayLayer layer = overlay::extract_layer(c.graph, node, hardware);
    if (!prepare(layer, hardware)) continue;
    const overlay::Schedule schedule = overlay::default_schedule(layer, hardware);
    const overlay::ScheduleSpace space(layer, hardware);
    const auto point = space.point(schedule);
    ASSERT_TRUE(point) << file << ": " << overlay::print_schedule(schedule);
    EXPECT_TRUE(space.knobs().valid(*point));
    EXPECT_EQ(space.point(space.schedule(*point)), point);
    // The point that stands for it means the same program.
    const overlay::OverlayLayer target = overlay::scheduled_layer(layer, schedule);
    EXPECT_EQ(overlay::layer_cycles(overlay::Tiling(target, hardware, schedule), hardware, {}),
              overlay::layer_cycles(space.tiling(*point), hardware, {}));
    ++layers;
  }
  EXPECT_GE(layers, 60);
}

}  // namespace
}  // namespace tilewright::random_layers
