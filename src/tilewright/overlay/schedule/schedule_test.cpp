#include "tilewright/overlay/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/base/random.h"
#include "tilewright/overlay/schedule/estimate.h"
#include "tilewright/overlay/schedule/layer_testing.h"

namespace tilewright::overlay {
namespace {

std::string problems(const OverlayLayer& layer, const Schedule& schedule,
                     const OverlayHardware& hardware = {}) {
  Diagnostics diagnostics;
  verify(layer, hardware, schedule, diagnostics);
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.errors()) text += to_string(diagnostic) + "\n";
  return text;
}

TEST(Schedule, TextRoundTrips) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Schedule s;
    s.batch_blocks = random.between(1, 9);
    s.rows = random.between(1, 300);
    s.cols = random.between(1, 300);
    s.out_blocks = random.between(1, 99);
    s.in_blocks = random.between(1, 99);
    s.virtual_threads = int(random.between(1, 2));
    s.order = random.chance(0.5) ? TileOrder::kOutputsInner : TileOrder::kOutputsOuter;
    s.weights_resident = random.chance(0.5);
    s.inputs_resident = random.chance(0.5);
    s.fold_y = int(random.between(1, 7));
    s.fold_x = int(random.between(1, 7));
    s.early_start = random.chance(0.5);
    s.parameters_by_tile = random.chance(0.5);
    s.first_parts = int(random.between(1, 3));
    s.finish_parts = int(random.between(1, 3));
    EXPECT_EQ(parse_schedule(print_schedule(s), "text"), s);
  }
}

TEST(Schedule, FieldsThatCameLaterAreLeftOutOfItsTextAtTheirDefaults) {
  const std::string text =
      "{batch_blocks: 1, rows: 7, cols: 28, out_blocks: 2, in_blocks: 2, virtual_threads: 2, order: "
      "outputs_inner, weights_resident: true, inputs_resident: false, fold_y: 1, fold_x: 1}";
  EXPECT_EQ(print_schedule(parse_schedule(text, "text")), text);
}

TEST(Schedule, ParsingReportsEveryWrongField) {
  try {
    parse_schedule("{rows: 0, cols: 3, out_blocks: 1, virtual_threads: 5, order: sideways, colour: red}",
                   "s.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* part : {"rows", "in_blocks", "virtual_threads", "sideways", "colour"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

TEST(Schedule, VerifyNamesTheScratchpadAndTheNeed) {
  const OverlayLayer layer = conv_layer(64, 64, 56, 3);
  EXPECT_EQ(problems(layer, {1, 4, 56, 4, 1}), "");
  const std::string large = problems(layer, {1, 56, 56, 4, 4});
  EXPECT_NE(large.find("INP scratchpad"), std::string::npos) << large;
  EXPECT_NE(large.find("needs 13456 elements of 2048"), std::string::npos) << large;
  EXPECT_NE(large.find("ACC scratchpad"), std::string::npos) << large;
  EXPECT_NE(problems(layer, {1, 0, 4, 1, 1}).find("0 is not positive"), std::string::npos);
  EXPECT_NE(problems(layer, {1, 1, 4, 1, 1, 3}).find("3 is neither 1 nor 2"), std::string::npos);
  Schedule folded{1, 4, 28, 1, 1};
  folded.fold_x = 3;
  EXPECT_NE(problems(layer, folded).find("cannot be folded by 1x3"), std::string::npos);
  OverlayHardware small;
  small.weight_buffer_bytes = 1 << 12;
  EXPECT_NE(problems(layer, {1, 1, 4, 4, 4}, small).find("WGT scratchpad"), std::string::npos);

  OverlayLayer transposed = layer;
  transposed.out_step_y = transposed.out_step_x = 2;
  EXPECT_NE(problems(transposed, {1, 3, 4, 1, 1}).find("is not a multiple of the stride 2"),
            std::string::npos);
}

TEST(Schedule, DefaultFitsAndOverlapsEveryLayer) {
  const OverlayHardware hardware;
  for (const int64_t channels : {3, 16, 100, 512}) {
    for (const int64_t outputs : {16, 64, 300}) {
      for (const int64_t size : {1, 7, 30, 112}) {
        for (const int kernel : {1, 3}) {
          const OverlayLayer layer = conv_layer(channels, outputs, size, kernel);
          const Schedule schedule = default_schedule(layer, hardware);
          EXPECT_EQ(problems(layer, schedule), "") << print_schedule(schedule);
          EXPECT_EQ(schedule.virtual_threads, 2);
        }
      }
    }
  }
}

TEST(Schedule, DefaultKeepsTheMultipliersBusy) {
  // ResNet-18 C8: 3x3, 256 channels, 14x14. The bound is far below what the schedule reaches, far above what
  // one without reuse or overlap would.
  const OverlayLayer layer = conv_layer(256, 256, 14, 3);
  const OverlayHardware hardware;
  const Schedule schedule = default_schedule(layer, hardware);
  EXPECT_GT(estimate_layer(Tiling(layer, hardware, schedule), hardware).share_of_peak, 0.9);
}

TEST(Schedule, NothingFitsIsAnErrorWithTheReason) {
  OverlayHardware hardware;
  hardware.weight_buffer_bytes = 1 << 10;  // four elements; a 3x3 kernel needs nine
  try {
    default_schedule(conv_layer(16, 16, 8, 3), hardware);
    FAIL() << "found a schedule";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    const std::string text = error.what();
    EXPECT_NE(text.find("WGT scratchpad): needs 9 elements of 4"), std::string::npos) << text;
    EXPECT_NE(text.find("use an overlay with a larger weight buffer"), std::string::npos) << text;
  }
}

TEST(Tiling, PartsCoverTheFirstStepAndTheLastTile) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverlayLayer layer = conv_layer(random.between(1, 120), random.between(1, 120), 9, 3);
    Schedule s{1, random.between(1, 9), random.between(1, 9), random.between(1, 5), random.between(1, 5)};
    s.first_parts = int(random.between(1, 6));
    s.finish_parts = int(random.between(1, 6));
    const Tiling tiling(layer, {}, s);
    const StepPlan plan = plan_steps(tiling);
    const Range held = plan.steps[0].held;
    int64_t at = held.begin, parts = 0;
    for (; plan.steps[size_t(parts)].in.begin < held.end && at < held.end; ++parts) {
      const Step& step = plan.steps[size_t(parts)];
      EXPECT_EQ(step.in.begin, at);
      EXPECT_EQ(step.held, held);
      EXPECT_TRUE(step.load_input && step.load_weights);
      EXPECT_EQ(step.first, parts == 0);
      at = step.in.end;
    }
    EXPECT_EQ(at, held.end);
    EXPECT_EQ(parts, std::min<int64_t>(s.first_parts, held.size()));
    const Tile& tile = plan.tiles.back();
    EXPECT_EQ(parts_to_finish(tiling, tile, false).size(), 1u);
    int64_t outputs = 0;
    for (const Tile& part : parts_to_finish(tiling, tile, true))
      outputs += part.rows.size() * part.out.size();
    EXPECT_EQ(outputs, tile.rows.size() * tile.out.size());
    EXPECT_LE(parts_to_finish(tiling, tile, true).size(), size_t(s.finish_parts));
  }
}

TEST(Tiling, EveryLoadWaitsForTheLastUseOfItsBuffer) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverlayLayer layer =
        conv_layer(random.between(1, 80), random.between(1, 80), random.between(2, 12), 3);
    Schedule s{1, random.between(1, 6), random.between(1, 6), random.between(1, 3), random.between(1, 3)};
    s.virtual_threads = int(random.between(1, 2));
    s.order = random.chance(0.5) ? TileOrder::kOutputsInner : TileOrder::kOutputsOuter;
    s.weights_resident = random.chance(0.4);
    s.inputs_resident = random.chance(0.4);
    s.first_parts = int(random.between(1, 3));
    const Tiling tiling(layer, {}, s);
    const StepPlan plan = plan_steps(tiling);
    // Replay: tokens given so far limit how far the loads may run ahead.
    std::vector<int32_t> input_user(size_t(tiling.input_slots), -1),
        weight_user(size_t(tiling.weight_slots), -1);
    std::vector<int32_t> givers;
    for (size_t k = 0; k < plan.steps.size(); ++k) {
      if (plan.steps[k].give_token) givers.push_back(int32_t(k));
    }
    size_t taken = 0;
    int32_t surely_done = -1;
    for (size_t k = 0; k < plan.steps.size(); ++k) {
      const Step& step = plan.steps[k];
      if (step.wait_for_step) {
        ASSERT_LT(taken, givers.size());
        surely_done = givers[taken++];
        ASSERT_LT(surely_done, int32_t(k)) << "a load would wait for its own step";
      }
      // Further parts of the first step load other elements of the same buffers.
      const bool fresh = step.in.begin == step.held.begin;
      if (step.load_input && fresh) {
        ASSERT_LE(input_user[size_t(step.input_slot)], surely_done);
      }
      if (step.load_weights && fresh) {
        ASSERT_LE(weight_user[size_t(step.weight_slot)], surely_done);
      }
      input_user[size_t(step.input_slot)] = weight_user[size_t(step.weight_slot)] = int32_t(k);
    }
    EXPECT_EQ(taken, givers.size());
  }
}

}  // namespace
}  // namespace tilewright::overlay
