#include "tilewright/pipeline/allocate/allocate.h"

#include <gtest/gtest.h>

#include "support/pipeline/network_testing.h"
#include "tilewright/pipeline/allocate/allocate_processors.h"
#include "tilewright/pipeline/allocate/baselines.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"

namespace tilewright::pipeline {
namespace {

Budget zynq() {
  Budget budget;
  budget.resources = {53200, 106400, 0, 220, 280, 0};
  return budget;
}

std::string problems(const Network& network, const Allocation& allocation) {
  Diagnostics diagnostics;
  allocation.verify(network, diagnostics);
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.errors()) text += to_string(diagnostic) + "\n";
  return text;
}

TEST(Allocate, ResultsKeepRulesAndBudget) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    AllocateOptions options;
    options.nodes = 200;
    options.evaluations = 500;
    for (const bool streaming : {true, false}) {
      options.streaming = streaming;
      options.processors = !streaming;
      const Budget budget = zynq();
      const AllocationResult result = allocate(network, budget, Objective::kLatency, options);
      EXPECT_EQ(result.allocation.streaming, streaming);
      EXPECT_EQ(problems(network, result.allocation), "");
      const synthesis::Resources& need = result.estimate.resources;
      EXPECT_LE(need.lut, 53200 * options.logic_share);
      EXPECT_LE(need.dsp, 220);
      EXPECT_LE(need.bram, 280);
      EXPECT_EQ(result.estimate.latency_cycles,
                estimate(network, result.allocation, budget.family, budget.port).latency_cycles);
      EXPECT_GT(result.evaluated, 0);
      EXPECT_NE(result.explanation.find("multipliers busy"), std::string::npos);
      EXPECT_NE(result.explanation.find(network.layers.back().name), std::string::npos);
    }
  }
}

// Windows, strides and rows that a row-major feeder cannot cut: the allocation is one that can be built.
TEST(Allocate, LargeWindows) {
  NetworkBuilder average("average", {25, 25, 2}), kernel("kernel", {18, 18, 2}), pool("pool", {40, 40, 3});
  NetworkBuilder pixel("pixel", {1, 1, 8});
  const Network networks[] = {
      average.finish(average.dense(average.average(average.depthwise(0, 3)), 4)),
      kernel.finish(kernel.dense(kernel.depthwise(kernel.convolution(0, 4, 17), 17), 4)),
      pool.finish(pool.dense(pool.max_pool(pool.convolution(0, 4, 3, 2), 17, 1, 8), 4)),
      pixel.finish(pixel.dense(pixel.depthwise(0, 3), 4))};
  Budget budget = zynq();
  budget.resources = {5'000'000, 10'000'000, 0, 100'000, 100'000, 0};
  for (const Network& network : networks) {
    AllocateOptions options;
    options.evaluations = 500;
    for (const bool streaming : {true, false}) {
      SCOPED_TRACE(network.name + (streaming ? ", stages" : ", processors"));
      options.streaming = streaming;
      options.processors = !streaming;
      Allocation result = allocate(network, budget, Objective::kLatency, options).allocation;
      EXPECT_EQ(problems(network, result), "");
      EXPECT_NO_THROW(build(network, result));
      if (!streaming || network.name == "pixel") continue;
      result.layers[1].stage.feeder = Feeder::kRowMajor;
      EXPECT_NE(problems(network, result).find("a row-major feeder cannot cut"), std::string::npos);
    }
  }
}

// A Pad on one side in front of a 1x1 convolution: no stage's feeder cuts windows of padding alone.
TEST(Allocate, PaddingInFrontOfAPixelwiseLayerRunsOnProcessors) {
  NetworkBuilder builder("padded", {5, 5, 6}, 1);
  const int first = builder.convolution(0, 6, 3);
  Network network = builder.finish(builder.convolution(first, 4, 1));
  network.tensors[size_t(network.output)].shape.rows = 6;  // one row of padding at the bottom
  network.layers[1].macs = 6 * 5 * 6 * 4;
  AllocateOptions options;
  EXPECT_FALSE(allocate(network, zynq(), Objective::kLatency, options).allocation.streaming);
  options.processors = false;
  try {
    allocate(network, zynq(), Objective::kLatency, options);
    FAIL() << "a stage for it?";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("layer 'layer2' ends with windows of padding alone"),
              std::string::npos)
        << error.what();
  }
}

// All stages of a short chain, tried one by one.
TEST(Allocate, ChainsAreProvenBest) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    NetworkBuilder builder("chain", {6, 6, 2}, seed);
    const Network network =
        builder.finish(builder.convolution(builder.convolution(0, random.between(2, 4), 3), 4, 1));
    Budget budget = zynq();
    budget.resources.dsp = random.between(14, 40);
    for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
      AllocateOptions options;
      options.processors = false;
      options.lut_multipliers = false;
      const AllocationResult result = allocate(network, budget, objective, options);
      EXPECT_TRUE(result.proven_optimal);
      const Estimator estimator(network, budget.family, budget.port);
      const auto cycles = [&](const Estimate& e) {
        return objective == Objective::kLatency ? e.latency_cycles : e.interval_cycles;
      };
      int64_t best = std::numeric_limits<int64_t>::max();
      const Judge judge(budget, objective);
      for (const bool unroll : {false, true}) {
        const Allocation blank = blank_stages(network, budget, unroll);
        const auto first = stage_options(network, estimator.facts(), blank, 0, judge, false);
        const auto second = stage_options(network, estimator.facts(), blank, 1, judge, false);
        for (const StageOption& a : first) {
          for (const StageOption& b : second) {
            Allocation trial = blank;
            trial.layers[0].stage = a.stage;
            trial.layers[1].stage = b.stage;
            if (!problems(network, trial).empty()) continue;
            const Estimate e = estimator(trial);
            if (e.resources.dsp <= budget.resources.dsp && e.resources.lut <= 53200 * 0.8) {
              best = std::min(best, cycles(e));
            }
          }
        }
      }
      EXPECT_EQ(cycles(result.estimate), best);
    }
  }
}

TEST(Allocate, MoreBudgetIsNeverWorse) {
  NetworkBuilder builder("budgets", {16, 16, 3}, 1);
  const int first = builder.convolution(0, 8, 3);
  const Network network = builder.finish(
      builder.dense(builder.average(builder.residual(builder.convolution(first, 8, 3), first)), 10));
  int64_t before = std::numeric_limits<int64_t>::max();
  for (const int64_t dsp : {24, 48, 96, 192}) {
    Budget budget = zynq();
    budget.resources.dsp = dsp;
    AllocateOptions options;
    options.lut_multipliers = false;
    const int64_t cycles = allocate(network, budget, Objective::kLatency, options).estimate.latency_cycles;
    EXPECT_LE(cycles, before) << dsp;
    before = cycles;
  }
}

TEST(Allocate, MultipliersAreALimitOfTheirOwn) {
  NetworkBuilder builder("limited", {16, 16, 4}, 1);
  const Network network = builder.finish(builder.convolution(builder.convolution(0, 16, 3), 16, 3));
  Budget budget = zynq();
  apply_budget(budget, "multipliers=16");
  EXPECT_LE(allocate(network, budget, Objective::kThroughput).estimate.multipliers, 16);
}

TEST(Allocate, SaysWhatIsShortAndWhatWouldDo) {
  NetworkBuilder builder("large", {64, 64, 16}, 1, false);
  const Network network = builder.finish(builder.convolution(builder.convolution(0, 64, 3), 64, 3));
  Budget budget = zynq();
  budget.resources.bram = 10;
  budget.resources.lut = 5000;
  std::string text;
  try {
    allocate(network, budget, Objective::kLatency);
    FAIL() << "it fits?";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    text = error.what();
  }
  EXPECT_NE(text.find("network 'large' (BRAM): the smallest design needs "), std::string::npos) << text;
  const std::string key = "a sufficient budget: ";
  const size_t at = text.find(key);
  ASSERT_NE(at, std::string::npos);
  const size_t end = text.find_first_of("\n ", at + key.size());
  apply_budget(budget, text.substr(at + key.size(), end - at - key.size()));
  EXPECT_NO_THROW(allocate(network, budget, Objective::kLatency));
}

TEST(Allocate, BudgetText) {
  Budget budget;
  apply_budget(budget, "dsp=5640,bram=4320,uram=960,lut=1,ff=2,multipliers=705,channels=4");
  EXPECT_EQ(budget.resources, (synthesis::Resources{1, 2, 0, 5640, 4320, 960}));
  EXPECT_EQ(budget.multipliers, 705);
  EXPECT_EQ(budget.channels, 4);
  try {
    apply_budget(budget, "dsp=many,logic=3,bram,channels=0");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("(dsp): 'many' is not a count"), std::string::npos) << text;
    EXPECT_NE(text.find("(logic): is not a resource"), std::string::npos) << text;
    EXPECT_NE(text.find("(bram): '' is not a count"), std::string::npos) << text;
    EXPECT_NE(text.find("(channels): '0' is not a count"), std::string::npos) << text;
  }
}

TEST(Allocate, RefusesNothingToDo) {
  EXPECT_THROW(allocate(Network{}, zynq(), Objective::kLatency), Error);
  NetworkBuilder builder("none", {4, 4, 4}, 1);
  const Network network = builder.finish(builder.convolution(0, 4, 1));
  AllocateOptions options;
  options.logic_share = 0;
  EXPECT_THROW(allocate(network, zynq(), Objective::kLatency, options), Error);
  options = {};
  options.streaming = options.processors = false;
  EXPECT_THROW(allocate(network, zynq(), Objective::kLatency, options), Error);
}

TEST(Allocate, DeviceBudgetsTakeMemoryAndClock) {
  Device device;
  device.has = {10, 20, 0, 30, 40, 50};
  EXPECT_EQ(device_budget(device).port_bytes, 8);
  EXPECT_EQ(device_budget(device).clock_mhz, 100);
  device.memory = DeviceMemory{4, 64, 128, 90};
  device.clock_mhz = 125;
  const Budget budget = device_budget(device);
  EXPECT_EQ(budget.resources, device.has);
  EXPECT_EQ(budget.port_bytes, 64);
  EXPECT_EQ(budget.channels, 4);
  EXPECT_EQ(budget.port.latency_cycles, 128);
  EXPECT_EQ(budget.port.efficiency_percent, 90);
  EXPECT_EQ(budget.clock_mhz, 125);
}

TEST(Baselines, GreedyFoldingEndsWhereTheSlowestStageCannotGrow) {
  NetworkBuilder builder("folded", {8, 8, 4}, 1);
  const Network network = builder.finish(builder.convolution(builder.convolution(0, 8, 3), 8, 3));
  Budget budget = zynq();
  budget.resources.dsp = 40;
  const Judge judge(budget, Objective::kThroughput);
  const Estimator estimator(network, budget.family, budget.port);
  const Allocation blank = blank_stages(network, budget, false);
  std::vector<std::vector<StageOption>> options;
  for (size_t i = 0; i < 2; ++i)
    options.push_back(stage_options(network, estimator.facts(), blank, i, judge, false));
  const auto fits = [&](const std::vector<int>& chosen) {
    int64_t dsp = 0;
    for (size_t i = 0; i < 2; ++i) dsp += options[i][size_t(chosen[i])].resources.dsp;
    return dsp <= 40;
  };
  std::vector<int> start;
  for (const auto& list : options) start.push_back(int(list.size()) - 1);
  const std::vector<int> folded = greedy_folding(options, start, fits);
  EXPECT_TRUE(fits(folded));
  size_t slowest = 0;
  if (options[1][size_t(folded[1])].cycles > options[0][size_t(folded[0])].cycles) slowest = 1;
  for (size_t o = 0; o < options[slowest].size(); ++o) {
    std::vector<int> trial = folded;
    trial[slowest] = int(o);
    if (options[slowest][o].cycles < options[slowest][size_t(folded[slowest])].cycles) {
      EXPECT_FALSE(fits(trial));
    }
  }
}

TEST(Baselines, TheProportionalRuleGivesEachKernelSizeAPowerOfTwo) {
  const Network network = resnet50_shapes();
  Budget budget = zynq();
  budget.multipliers = 705;
  const Allocation a = proportional_rule(network, budget);
  EXPECT_EQ(problems(network, a), "");
  int64_t total = 0;
  ASSERT_EQ(a.engines.size(), 4u);  // 1x1 (the dense layer too), 3x3, 7x7 and lanes
  for (const EngineAllocation& engine : a.engines) {
    if (engine.lanes) continue;
    const int64_t products = engine.shape.pi * engine.shape.po;
    EXPECT_EQ(products & (products - 1), 0);
    total += products;
  }
  EXPECT_LE(total, 705);
  // Its engines take turns, so most of its multipliers wait: the best allocation of as many is far faster.
  budget.resources = {1182240, 2364480, 0, 5640, 4320, 960};
  budget.family = synthesis::DeviceFamily::kXcup;
  budget.port_bytes = 64;
  budget.channels = 4;
  AllocateOptions options;
  options.streaming = false;
  const int64_t rule = estimate(network, a, budget.family, budget.port).latency_cycles;
  const int64_t best = allocate(network, budget, Objective::kLatency, options).estimate.latency_cycles;
  EXPECT_LT(best * 3 / 2, rule);
}

// The queues of its ten stages take a walk over 100,000 pixels for every allocation that is looked at.
Network large_maps() {
  NetworkBuilder builder("large", {320, 320, 2}, 1, false);
  int tensor = 0;
  for (int i = 0; i < 5; ++i) tensor = builder.max_pool(builder.convolution(tensor, 24, 3), 3, 1);
  return builder.finish(tensor);
}

std::string time_message(const Network& network, const Deadline& deadline) {
  AllocateOptions options;
  options.deadline = &deadline;
  try {
    allocate(network, zynq(), Objective::kLatency, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    return error.what();
  }
  return "";
}

TEST(Allocate, EndsWithItsDeadline) {
  const Deadline requested;
  requested.expire();
  const std::string none = time_message(random_network(1), requested);
  EXPECT_NE(none.find("was reached before there was a design"), std::string::npos) << none;
  EXPECT_THROW(
      {
        Network network = large_maps();
        Allocation stages = blank_stages(network, zynq(), false);
        size_fifos(network, stages, &requested);
      },
      Expired);

  // The best so far where there is one.
  const Network network = large_maps();
  Budget budget = zynq();
  budget.resources = {1'000'000, 2'000'000, 0, 6000, 4000, 900};
  const Deadline deadline(0.4);
  AllocateOptions options;
  options.deadline = &deadline;
  try {
    const AllocationResult result = allocate(network, budget, Objective::kThroughput, options);
    EXPECT_EQ(result.ending, Ending::kTime);
    EXPECT_FALSE(result.proven_optimal);
    EXPECT_EQ(problems(network, result.allocation), "");
  } catch (const Error& error) {  // a slow machine
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
    EXPECT_NE(std::string(error.what()).find("limit was reached"), std::string::npos) << error.what();
  }

  const Deadline far(1e6);
  options = {};
  options.nodes = options.evaluations = 100;
  const Network small = random_network(2);
  const AllocationResult free = allocate(small, zynq(), Objective::kLatency, options);
  options.deadline = &far;
  const AllocationResult timed = allocate(small, zynq(), Objective::kLatency, options);
  EXPECT_EQ(timed.ending, Ending::kNone);
  EXPECT_EQ(timed.allocation, free.allocation);
}

TEST(Allocate, AMemoryPortThatHoldsNoElementIsRefused) {
  Network network = random_network(1);
  network.number = NumberType::kFixed;
  for (NetworkTensor& tensor : network.tensors) tensor.bits = 32;
  Budget budget = zynq();
  budget.port_bytes = 2;
  try {
    allocate(network, budget, Objective::kLatency);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("a memory port of 2 bytes holds no element of 32 bits"),
              std::string::npos)
        << error.what();
  }
}

// 128 Kb of weights: 32 blocks of 4 Kb, of which the part has 30.
TEST(Allocate, WeightsThatExceedAnIce40AreNotPutIntoItsBlocks) {
  NetworkBuilder builder("ice", {4, 4, 64}, 1);
  const Network network = builder.finish(builder.convolution(builder.convolution(0, 128, 1), 64, 1));
  ASSERT_EQ(network.weight_bits(), 131072);
  Budget budget;
  budget.family = synthesis::DeviceFamily::kIce40;
  budget.resources = {5280, 5280, 0, 8, 30, 4};
  AllocateOptions options;
  options.nodes = options.evaluations = 100;
  try {
    const AllocationResult result = allocate(network, budget, Objective::kLatency, options);
    EXPECT_FALSE(result.allocation.weights_on_chip);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
  }
}

}  // namespace
}  // namespace tilewright::pipeline
