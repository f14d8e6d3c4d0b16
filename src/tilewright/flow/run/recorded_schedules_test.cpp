#include "tilewright/flow/run/recorded_schedules.h"

#include <gtest/gtest.h>

#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/record_text.h"

namespace tilewright {
namespace {

// Two equal convolutions, one after the other.
Graph two_convolutions() {
  Graph graph;
  graph.name = "two";
  ValueId value = graph.add_input("x", ElementType::kI8, {1, 64, 14, 14});
  for (const char* name : {"first", "second"}) {
    const std::string n = name;
    Tensor weights(ElementType::kI8, {64, 64, 3, 3});
    for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, i * 37 % 255 - 127);
    const ValueId w = graph.add_constant(n + "_w", std::move(weights));
    const ValueId b = graph.add_constant(n + "_b", Tensor(ElementType::kI32, {64}));
    const ValueId m = graph.add_constant(n + "_m", Tensor::of<int32_t>({1}, {1}));
    const ValueId s = graph.add_constant(n + "_s", Tensor::of<int32_t>({1}, {9}));
    const ValueId y = graph.add_value(n + "_y", ElementType::kI8, {1, 64, 14, 14});
    Node& conv = graph.add_node(n, "QConv", {value, w, b, m, s}, {y}, kTilewrightDomain);
    conv.attributes["strides"] = std::vector<int64_t>{1, 1};
    conv.attributes["pads"] = std::vector<int64_t>{1, 1, 1, 1};
    value = y;
  }
  graph.outputs = {value};
  return graph;
}

OverlayHardware wide_overlay() {
  OverlayHardware hardware;
  hardware.name = "wide";
  hardware.isa = IsaVersion::kWide;
  return hardware;
}

class RecordedSchedules : public testing::Test {
 protected:
  RecordedSchedules() : plain_(compile(graph_, hardware_)) {
    const std::vector<NodeId> nodes{0, 1};
    layer_ = overlay::overlay_layers(graph_, nodes, hardware_)[1];
    schedule_ = plain_.bundle.schedules.at("second");
    schedule_.rows = 7;
    schedule_.inputs_resident = false;
  }

  Compilation compile_with(const std::string& schedule, double cost,
                           const std::string& tool = overlay::kTimingTool,
                           const MemoryModel& memory = {}) const {
    const tune::Record record{
        {overlay::workload_text(layer_), overlay::hardware_text(hardware_, {}), schedule, tool, 0},
        cost,
        "",
        0,
        0};
    const auto best = tune::parse_best_schedules(tune::print_record(record), "text");
    return compile(graph_, hardware_, {}, recorded_schedules(*best, hardware_, memory));
  }

  Graph graph_ = two_convolutions();
  OverlayHardware hardware_ = wide_overlay();
  Compilation plain_;
  overlay::OverlayLayer layer_;
  overlay::Schedule schedule_;
};

TEST_F(RecordedSchedules, AreTakenWhereTheKeyIsTheLayers) {
  const Compilation tuned = compile_with(print_schedule(schedule_), 10);
  EXPECT_EQ(tuned.recorded, (std::set<std::string>{"first", "second"}));
  EXPECT_EQ(tuned.bundle.schedules.at("first"), schedule_);
  EXPECT_EQ(tuned.bundle.schedules.at("second"), schedule_);
  EXPECT_NE(schedule_, plain_.bundle.schedules.at("second"));
}

TEST_F(RecordedSchedules, AreLeftWhereTheyDoNotFitOrDoNotPay) {
  overlay::Schedule too_large = schedule_;  // rows of its own for every tile, and all of them kept
  too_large.rows = 1;
  too_large.inputs_resident = true;
  Diagnostics problems;
  verify(layer_, hardware_, too_large, problems);
  ASSERT_FALSE(problems.ok());
  const auto expect_plain = [&](const Compilation& tuned) {
    EXPECT_EQ(tuned.recorded, std::set<std::string>{});
    EXPECT_EQ(tuned.bundle.schedules, plain_.bundle.schedules);
  };
  expect_plain(compile_with(print_schedule(too_large), 10));
  expect_plain(compile_with("no schedule", 10));
  expect_plain(compile_with(print_schedule(schedule_), 1e9));
  expect_plain(compile_with(print_schedule(schedule_), 10, "cycle-simulator 0"));
  MemoryModel ideal;
  ideal.kind = MemoryModelKind::kIdeal;
  expect_plain(compile_with(print_schedule(schedule_), 10, overlay::kTimingTool, ideal));
}

}  // namespace
}  // namespace tilewright
