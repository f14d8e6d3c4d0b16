// The records that come with the project are those of this version, and true.
#include <gtest/gtest.h>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/best_schedules.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

TEST(ZooRecords, HoldWhatIsMeasured) {
  const auto records = tune::open_best_schedules(TILEWRIGHT_SOURCE_DIR "/models/tune/zoo.jsonl.gz");
  const Graph network = zoo::network("cifar10_tutorial").build({});
  for (const char* preset : {"overlay-16x16", "vta-default"}) {
    const OverlayHardware hardware =
        read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + preset + ".yaml");
    const Bundle bundle = zoo::seeded_compilation(network, hardware).bundle;
    int layers = 0;
    for (const PartitionStep& step : bundle.steps()) {
      if (step.on_host()) continue;
      for (const overlay::OverlayLayer& layer : overlay::overlay_layers(bundle.graph, step.nodes, hardware)) {
        SCOPED_TRACE(std::string(preset) + ": " + layer.name);
        const auto record = records->best(overlay::workload_text(layer), overlay::hardware_text(hardware, {}),
                                          overlay::kTimingTool);
        ASSERT_TRUE(record) << "tune_zoo makes them (models/tune/README.md)";
        overlay::ScheduleProblem problem(layer, hardware, {});
        const auto point =
            problem.schedules().point(overlay::parse_schedule(record->key.schedule, "zoo.jsonl.gz"));
        ASSERT_TRUE(point) << record->key.schedule;
        EXPECT_EQ(problem.measure({{*point}})[0].cost, record->cost);
        ++layers;
      }
    }
    EXPECT_GE(layers, 5);
  }
}

}  // namespace
}  // namespace tilewright
