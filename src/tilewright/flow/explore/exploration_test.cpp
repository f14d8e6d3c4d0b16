// A network of two small convolutions on the overlays of a Zynq-7020: what tuning finds is what the cycle
// simulator says, bounds hold, and a study is taken up.
#include "tilewright/flow/explore/exploration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/candidate_tuning.h"
#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/flow/explore/exploration_testing.h"
#include "tilewright/flow/explore/overlay_candidates.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

TEST(ExplorationNetwork, CountsEqualLayersOnce) {
  const ExplorationNetwork network = exploration_network(small_network(), 8);
  ASSERT_EQ(network.layers.size(), 3u);  // the first is foldable, the last two are equal
  EXPECT_EQ(network.layers[2].count, 2);
  EXPECT_EQ(network.layers[2].names, (std::vector<std::string>{"third", "fourth"}));
  EXPECT_EQ(network.macs, 64 * 9 * (16 * 16 + 16 * 32 + 2 * 32 * 32));
}

TEST(ExplorationNetwork, TakesTheSameLayersAtEveryWidth) {
  for (const int bits : {4, 2, 1}) {
    const ExplorationNetwork network = exploration_network(small_network(), bits);
    EXPECT_TRUE(network.left_out.empty()) << network.left_out[0];
    EXPECT_EQ(network.macs, exploration_network(small_network(), 8).macs);
    OverlayHardware hardware = exploration_reference();
    hardware.block_in = 128 / bits;
    hardware.input_bits = hardware.weight_bits = hardware.output_bits = bits;
    for (const ExplorationLayer& item : network.layers) {
      EXPECT_EQ(overlay::why_not(item.layer, hardware), "");
      EXPECT_EQ(item.layer.weight_bits, bits);
    }
  }
}

TEST(CandidateTuning, FindsWhatTheSimulatorMeasures) {
  const ExplorationNetwork network = exploration_network(small_network(), 8);
  OverlayHardware hardware = exploration_reference();
  hardware.weight_buffer_bytes = 1 << 14;
  hardware.accumulator_buffer_bytes = 1 << 14;
  const TunedCandidate plain = tune_candidate(network, hardware, {}, 0, 1);
  const TunedCandidate tuned = tune_candidate(network, hardware, {}, 12, 1);
  EXPECT_LE(tuned.cycles, plain.cycles);
  int64_t sum = 0;
  for (size_t i = 0; i < tuned.layers.size(); ++i) {
    const CandidateLayer& layer = tuned.layers[i];
    const overlay::OverlayLayer scheduled = scheduled_layer(network.layers[i].layer, layer.schedule);
    EXPECT_EQ(uint64_t(layer.cycles),
              overlay::layer_cycles(overlay::Tiling(scheduled, hardware, layer.schedule), hardware, {}));
    EXPECT_LE(layer.trials, 12);
    sum += layer.count * layer.cycles;
  }
  EXPECT_EQ(sum, tuned.cycles);
  const TunedCandidate read = parse_tuned(print_tuned(tuned), "test");
  EXPECT_EQ(print_tuned(read), print_tuned(tuned));
}

// The first layer has few input channels, so that its fastest schedules fold it and pass the bound of its
// original form, at which the search must not end.
TEST(CandidateTuning, FoldedLayersAreTunedLikeOthers) {
  const ExplorationNetwork network = exploration_network(foldable_network(), 8);
  const TunedCandidate tuned = tune_candidate(network, exploration_reference(), {}, 12, 1);
  const CandidateLayer& layer = tuned.layers.at(0);
  EXPECT_GT(layer.schedule.fold_x * layer.schedule.fold_y, 1);
  EXPECT_LE(layer.bound_cycles, layer.cycles);
  EXPECT_LT(double(layer.cycles),
            overlay::layer_bound(network.layers[0].layer, exploration_reference()).cycles());
  EXPECT_GT(layer.trials, 1);
}

TEST(OverlayCandidates, BoundsHoldAndMisfitsAreSeen) {
  for (const int bits : {8, 2}) {
    const ExplorationNetwork network = exploration_network(small_network(), bits);
    const OverlayCandidates candidates(network,
                                       {zynq(), "unused", fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl", {}, 1, 1});
    Random random(3);
    int fitting = 0;
    for (int i = 0; i < 300 && fitting < 6; ++i) {
      const KnobSpace::Point point = *candidates.space().sample(random);
      const tune::CandidateFacts facts = candidates.judge(point);
      EXPECT_GT(facts.bound_s, 0);
      bool fits = true;
      for (const auto& need : candidates.needs(point)) fits = fits && need.need <= need.have;
      EXPECT_EQ(fits, facts.utilisation <= 1);
      if (!fits) continue;
      ++fitting;
      const TunedCandidate tuned = tune_candidate(network, candidates.hardware(point), {}, 2, 1);
      EXPECT_GE(double(tuned.cycles) / (facts.clock_mhz * 1e6), facts.bound_s);
    }
    EXPECT_EQ(fitting, 6);
  }
}

TEST(OverlayCandidates, ContentIsThatOfTheRtl) {
  const ExplorationNetwork network = exploration_network(small_network(), 8);
  const fs::path rtl = fs::path(testing::TempDir()) / ("rtl" + std::to_string(::getpid()));
  fs::create_directories(rtl / "overlay");
  write_text_file(rtl / "overlay/a.sv", "module a; endmodule\n");
  const OverlayCandidates before(network, {zynq(), "unused", rtl, {}, 1, 1});
  Random random(4);
  const KnobSpace::Point point = *before.space().sample(random),
                         other = before.space().neighbour(point, random);
  EXPECT_NE(before.content(point), before.content(other));
  EXPECT_EQ(before.content(point),
            OverlayCandidates(network, {zynq(), "unused", rtl, {}, 1, 1}).content(point));
  write_text_file(rtl / "overlay/a.sv", "module a; wire b; endmodule\n");
  EXPECT_NE(before.content(point),
            OverlayCandidates(network, {zynq(), "unused", rtl, {}, 1, 1}).content(point));
  fs::remove_all(rtl);
}

// A job folder remembers answers: it may not give them to a network that later has a file of the same name.
TEST(OverlayCandidates, JobsAreThoseOfOneNetwork) {
  const fs::path rtl = fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  const auto candidates = [&](const Bundle& network) {
    return OverlayCandidates(exploration_network(network, 8), {zynq(), "network.twb", rtl, {}, 1, 1});
  };
  const OverlayCandidates one = candidates(small_network()), other = candidates(foldable_network());
  Random random(4);
  const KnobSpace::Point point = *one.space().sample(random);
  EXPECT_EQ(one.job(point, 4).id, candidates(small_network()).job(point, 4).id);
  EXPECT_EQ(one.content(point), other.content(point));
  EXPECT_NE(one.job(point, 4).id, other.job(point, 4).id);
}

TEST(OverlayCandidates, RefuseDevicesWithoutAnAreaModel) {
  Device device = zynq();
  device.family = synthesis::DeviceFamily::kIce40;
  try {
    const OverlayCandidates candidates(exploration_network(small_network(), 8),
                                       {device, "unused", fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl", {}, 1, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("overlays have no area model"), std::string::npos);
  }
}

TEST(CandidateJob, AnswersWhatTuningFinds) {
  const fs::path file = fs::path(testing::TempDir()) / ("network" + std::to_string(::getpid()) + ".twb");
  write_bundle(file, small_network());
  CandidateRequest request;
  request.network = file;
  request.operand_bits = 4;
  request.hardware = exploration_reference();
  request.hardware.block_in = 32;
  request.hardware.input_bits = request.hardware.weight_bits = request.hardware.output_bits = 4;
  request.trials = 3;
  request.network_digest = network_digest(exploration_network(small_network(), 4));
  const std::string text = print_candidate_request(request);
  const std::string reply = candidate_job().handler(text);
  EXPECT_EQ(reply, print_tuned(tune_candidate(exploration_network(small_network(), 4), request.hardware,
                                              request.memory, 3, request.seed)));
  EXPECT_THROW(candidate_job().handler("{}"), Error);
  // Nor does a worker take what it has at hand for a request of another width.
  request.operand_bits = 8;
  const tune::JobKind job = candidate_job();
  EXPECT_EQ(job.handler(text), reply);
  EXPECT_THROW(job.handler(print_candidate_request(request)), InterruptedError);
  EXPECT_EQ(job.handler(text), reply);
  request.operand_bits = 4;
  // What the request was not made for says nothing about the candidate.
  request.network_digest = network_digest(exploration_network(small_network(), 8));
  EXPECT_THROW(candidate_job().handler(print_candidate_request(request)), InterruptedError);
  std::string other = text;
  other.replace(other.find(overlay::kTimingTool), 15, "simulator of to");
  EXPECT_THROW(candidate_job().handler(other), InterruptedError);
  fs::remove(file);
}

}  // namespace
}  // namespace tilewright
