#include <gtest/gtest.h>

#include "support/overlay/data_trial_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/measure/schedule_timer.h"
#include "tilewright/overlay/tuning/schedule_space.h"

namespace tilewright::overlay {
namespace {

Tensor random_tensor(Random& random, ElementType type, const Shape& shape, int64_t low, int64_t high) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

// 3x3 with padding that is not zero, so that the plain encoding reads it from memory.
Graph conv(Random& random) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 20, 9, 11});
  const ValueId w =
      graph.add_constant("w", random_tensor(random, ElementType::kI8, Shape{40, 20, 3, 3}, -127, 127));
  const ValueId b = graph.add_constant("b", random_tensor(random, ElementType::kI32, Shape{40}, -900, 900));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>(Shape{1}, {9}));
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 40, 9, 11});
  Node& node = graph.add_node("conv", "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["pads"] = std::vector<int64_t>(4, 1);
  node.attributes["pad_value"] = int64_t{3};
  graph.outputs = {y};
  return graph;
}

TEST(DataTrial, GivesTheTimersCyclesAndTheHostsOutputsUnderEverySchedule) {
  Random random(11);
  const Graph graph = conv(random);
  const Tensor x = random_tensor(random, ElementType::kI8, Shape{1, 20, 9, 11}, -128, 127);
  const Tensor expected = run(graph, {x})[0];
  for (const IsaVersion isa : {IsaVersion::kVta, IsaVersion::kWide}) {
    OverlayHardware hardware;
    hardware.isa = isa;
    const ScheduleSpace space(extract_layer(graph, graph.nodes[0], hardware), hardware);
    DataTrial trial(space.forms().original().layer, hardware, {}, {x});
    ScheduleTimer timer(hardware);
    for (int k = 0; k < 40; ++k) {
      const KnobSpace::Point point = *space.knobs().sample(random);
      SCOPED_TRACE(space.knobs().print(point));
      const Tiling tiling = space.tiling(point);
      EXPECT_EQ(trial.run(tiling), timer.cycles(tiling));
      EXPECT_TRUE(trial.output().identical(expected));
    }
  }
}

}  // namespace
}  // namespace tilewright::overlay
