// What a worker process of the command answers, beside what this process measures itself.
#include "tilewright/flow/explore/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fleet.h"
#include "random_layer.h"
#include "tilewright/base/error.h"
#include "tilewright/flow/explore/layer_text.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/fleet/remote_problem.h"

namespace tilewright {
namespace {

using namespace overlay;

const char* const kPresets = TILEWRIGHT_SOURCE_DIR "/hardware";

std::string answer(const std::string& request) {
  for (const tune::JobKind& kind : job_kinds()) {
    if (kind.name == "measure") return kind.handler(request);
  }
  return "";
}

OverlayLayer random_layer(uint64_t seed, random_layers::Kind kind, const OverlayHardware& hardware) {
  const random_layers::Case made = random_layers::make_case(seed, kind, hardware);
  const std::vector<NodeId> nodes{NodeId(made.graph.nodes.size()) - 1};
  return overlay_layers(made.graph, nodes, hardware).at(0);
}

TEST(Jobs, LayersOfEveryKindAreTimedAsInThisProcess) {
  Random random(1);
  for (const char* preset : {"vta-default", "overlay-16x16"}) {
    const OverlayHardware hardware = find_overlay_hardware(preset, kPresets);
    for (int kind = 0; kind < random_layers::kKinds; ++kind) {
      if (random_layers::works_on_tokens(random_layers::Kind(kind))) continue;  // they have no text
      OverlayLayer layer;
      try {
        layer = random_layer(uint64_t(kind), random_layers::Kind(kind), hardware);
      } catch (const Error&) {
        continue;  // not on this overlay
      }
      SCOPED_TRACE(preset + std::string(" ") + layer.op);
      const OverlayLayer read = parse_layer(print_layer(layer), "text");
      EXPECT_EQ(print_layer(read), print_layer(layer));
      EXPECT_EQ(workload_text(read), workload_text(layer));
      ScheduleProblem problem(layer, hardware);
      std::vector<KnobSpace::Point> points;
      std::vector<std::string> schedules;
      for (int i = 0; i < 6; ++i) {
        points.push_back(problem.space().sample(random).value());
        schedules.push_back(print_schedule(problem.schedules().schedule(points.back())));
      }
      const auto reply = nlohmann::json::parse(answer(measure_request(layer, hardware, {}, schedules)));
      const std::vector<Measurement> here = problem.measure(points);
      for (size_t i = 0; i < points.size(); ++i) {
        if (here[i].cost) {
          EXPECT_EQ(reply["costs"][i], *here[i].cost) << schedules[i];
        } else {
          EXPECT_EQ(reply["costs"][i], here[i].failure);
        }
      }
    }
  }
}

TEST(Jobs, BadSchedulesFailAloneAndBadRequestsAsAWhole) {
  const OverlayHardware hardware = find_overlay_hardware("vta-default", kPresets);
  const OverlayLayer layer = random_layer(3, random_layers::Kind::kConv, hardware);
  const std::string good = print_schedule(default_schedule(layer, hardware));
  const std::string request =
      measure_request(layer, hardware, {},
                      {good, "{rows: 0}", "{rows: 1000000, cols: 1000000, out_blocks: 1, in_blocks: 1}"});
  const auto reply = nlohmann::json::parse(answer(request));
  EXPECT_TRUE(reply["costs"][0].is_number());
  EXPECT_TRUE(reply["costs"][1].is_string());
  EXPECT_TRUE(reply["costs"][2].is_string() || reply["costs"][2].is_number());
  auto changed = nlohmann::json::parse(request);
  changed["tool"] = "cycle-simulator of tomorrow";
  EXPECT_THROW(answer(changed.dump()), InterruptedError);
  changed = nlohmann::json::parse(request);
  changed["layer"] = "{}";
  EXPECT_THROW(answer(changed.dump()), Error);
  changed.erase("layer");
  EXPECT_THROW(answer(changed.dump()), Error);
  EXPECT_THROW(answer("[1, 2"), Error);
}

TEST(Jobs, WorkersOfTheCommandMeasureWhatThisProcessDoes) {
  const tune::TestFolder folder("command");
  const OverlayHardware hardware = find_overlay_hardware("vta-default", kPresets);
  const OverlayLayer layer = random_layer(3, random_layers::Kind::kConv, hardware);
  ScheduleProblem problem(layer, hardware);
  tune::ExecutorOptions options = tune::fleet_options(folder.path());
  options.worker_command = {TILEWRIGHT_COMMAND, "worker"};
  const auto executor = tune::make_local_executor(options);
  tune::RemoteMeasurement measurement;
  measurement.request = [&](const std::vector<KnobSpace::Point>& points) {
    std::vector<std::string> schedules;
    for (const KnobSpace::Point p : points)
      schedules.push_back(print_schedule(problem.schedules().schedule(p)));
    return measure_request(layer, hardware, {}, schedules);
  };
  tune::RemoteProblem remote(problem, *executor, measurement);
  Random random(5);
  std::vector<KnobSpace::Point> points;
  for (int i = 0; i < 30; ++i) points.push_back(problem.space().sample(random).value());
  const std::vector<Measurement> here = problem.measure(points), there = remote.measure(points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(there[i].point, points[i]);
    EXPECT_EQ(there[i].cost, here[i].cost);
    EXPECT_EQ(there[i].failure, here[i].failure);
  }
}

}  // namespace
}  // namespace tilewright
