#include "tilewright/overlay/tuning/schedule_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/layer_testing.h"

namespace tilewright::overlay {
namespace {

TEST(ScheduleProblem, MeasuresWhatTheCycleSimulatorSaysOnAnyNumberOfThreads) {
  const OverlayLayer layer = conv_layer(40, 70, 12, 3);
  ScheduleProblem one(layer, {}, {}, 1), two(layer, {}, {}, 2);
  Random random(3);
  std::vector<KnobSpace::Point> points;
  while (points.size() < 20) points.push_back(*one.space().sample(random));
  const auto first = one.measure(points), second = two.measure(points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(first[i].point, points[i]);
    EXPECT_EQ(first[i].cost, second[i].cost);
    const Tiling tiling(layer, {}, one.schedules().schedule(points[i]));
    EXPECT_EQ(first[i].cost, double(layer_cycles(tiling, {}, {})));
  }
}

TEST(ScheduleProblem, RefusesALayerOfWhichNoTileFits) {
  OverlayHardware hardware;
  hardware.weight_buffer_bytes = 1 << 10;  // four elements; a 3x3 kernel needs nine
  EXPECT_THROW(ScheduleProblem(conv_layer(16, 16, 8, 3), hardware), Error);
}

TEST(ScheduleProblem, FeaturesHaveOneShapeForAllLayersAndMachines) {
  OverlayHardware wide;
  wide.isa = IsaVersion::kWide;
  wide.gemm_beside_alu = true;
  ScheduleProblem small(conv_layer(16, 16, 8, 1), {}), large(conv_layer(64, 100, 28, 3), wide);
  Random random(4);
  const ProgramFeatures expected = small.features(*small.space().sample(random));
  std::vector<std::vector<float>> rows;
  for (ScheduleProblem* problem : {&small, &large}) {
    for (int i = 0; i < 50; ++i) {
      const ProgramFeatures features = problem->features(*problem->space().sample(random));
      ASSERT_EQ(features.row.size(), expected.row.size());
      for (const float value : features.row) ASSERT_TRUE(std::isfinite(value));
      ASSERT_EQ(features.tree.nodes.size(), expected.tree.nodes.size());
      for (size_t n = 0; n < features.tree.nodes.size(); ++n) {
        ASSERT_EQ(features.tree.nodes[n].features.size(), expected.tree.nodes[0].features.size());
        for (const int32_t child : features.tree.nodes[n].children) ASSERT_GT(child, int32_t(n));
      }
      rows.push_back(features.row);
    }
  }
  // Nearly every point has a row of its own.
  std::sort(rows.begin(), rows.end());
  EXPECT_GE(std::unique(rows.begin(), rows.end()) - rows.begin(), 70);
}

TEST(TrialTexts, DependOnShapesAndMachinesAlone) {
  const OverlayLayer layer = conv_layer(16, 32, 8, 3);
  OverlayLayer other = layer;
  other.name = "another name";
  other.weights.set_integer(0, 5);
  EXPECT_EQ(workload_text(layer), workload_text(other));
  EXPECT_NE(workload_text(layer), workload_text(conv_layer(16, 32, 9, 3)));
  EXPECT_NE(workload_text(layer), workload_text(conv_layer(16, 32, 8, 1)));
  other.output.scale = {{1, 20}};  // two shifts on the plain set
  EXPECT_NE(workload_text(layer), workload_text(other));
  OverlayHardware named, narrow;
  named.name = "a name";
  narrow.memory_width_bits = 32;
  EXPECT_EQ(hardware_text({}, {}), hardware_text(named, {}));
  EXPECT_NE(hardware_text({}, {}), hardware_text(narrow, {}));
  MemoryModel slow;
  slow.latency = 100;
  EXPECT_NE(hardware_text({}, {}), hardware_text({}, slow));
  for (const char c : workload_text(layer) + hardware_text({}, {})) EXPECT_TRUE(c >= ' ' && c <= '~');
}

}  // namespace
}  // namespace tilewright::overlay
