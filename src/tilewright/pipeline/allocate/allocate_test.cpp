#include "tilewright/pipeline/allocate/allocate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
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

// With enough cycles the resource to be spared is, and nothing slower or larger than the budget comes out.
TEST(Allocate, EnoughCyclesSpareAResource) {
  Random random(test_seed());
  int less[2] = {0, 0};
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const Network network = random_network(random.next());
    AllocateOptions options;
    options.processors = false;
    options.nodes = 200;
    options.evaluations = 500;
    const Objective objective = random.chance(0.5) ? Objective::kLatency : Objective::kThroughput;
    const auto cycles = [&](const Estimate& e) {
      return objective == Objective::kLatency ? e.latency_cycles : e.interval_cycles;
    };
    const AllocationResult fastest = allocate(network, zynq(), objective, options);
    options.enough_cycles = int64_t(double(cycles(fastest.estimate)) * (1 + random.uniform()));
    int resource = 0;
    for (const auto sparing : {&synthesis::Resources::lut, &synthesis::Resources::dsp}) {
      options.sparing = sparing;
      const AllocationResult spared = allocate(network, zynq(), objective, options);
      EXPECT_EQ(problems(network, spared.allocation), "");
      EXPECT_LE(cycles(spared.estimate), options.enough_cycles);
      EXPECT_LE(spared.estimate.resources.*sparing, fastest.estimate.resources.*sparing);
      EXPECT_LE(spared.estimate.resources.dsp, 220);
      EXPECT_TRUE(spared.rivals.empty());
      less[resource++] += spared.estimate.resources.*sparing < fastest.estimate.resources.*sparing ? 1 : 0;
    }
  }
  EXPECT_GT(less[0], 3);
  EXPECT_GT(less[1], 3);
}

// A simulation that takes the best of them can favour neither objective.
TEST(Allocate, BothObjectivesOfferTheSameDesigns) {
  Random random(test_seed());
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    const Network network = random_network(random.next());
    AllocateOptions options;
    options.nodes = options.evaluations = 200;
    std::vector<Allocation> offered[2];
    for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
      const AllocationResult result = allocate(network, zynq(), objective, options);
      std::vector<Allocation>& own = offered[size_t(objective)];
      own.push_back(result.allocation);
      for (const AllocationResult& rival : result.rivals) own.push_back(rival.allocation);
    }
    EXPECT_TRUE(
        std::is_permutation(offered[0].begin(), offered[0].end(), offered[1].begin(), offered[1].end()));
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
  Random seeds(test_seed());
  for (uint64_t i = 1; i <= 12; ++i) {
    const uint64_t seed = i <= 6 ? i : seeds.next();
    SCOPED_TRACE(fmt::format("seed {}, case {}", test_seed(), i));
    Random random(seed);
    NetworkBuilder builder("chain", {6, 6, 2}, seed);
    const int64_t inner = random.between(2, 4), outer = i <= 6 ? 4 : random.between(1, 9);
    const Network network = builder.finish(builder.convolution(builder.convolution(0, inner, 3), outer, 1));
    Budget budget = zynq();
    budget.resources.dsp = random.between(14, 40);
    if (random.chance(0.3)) budget.port_bytes = 64;
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
            size_fifos(network, trial);
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
  EXPECT_NE(text.find("network 'large' (BRAM): "), std::string::npos) << text;
  EXPECT_NE(text.find("design needs "), std::string::npos) << text;
  const std::string key = "a sufficient budget: ";
  const size_t at = text.find(key);
  ASSERT_NE(at, std::string::npos);
  const size_t end = text.find_first_of("\n ", at + key.size());
  apply_budget(budget, text.substr(at + key.size(), end - at - key.size()));
  EXPECT_NO_THROW(allocate(network, budget, Objective::kLatency));
}

// What is said of any design holds with all there is of the other resources.
TEST(AllocateClass, WhatAnyDesignNeedsIsNeeded) {
  const std::string key = "any design needs ";
  for (int64_t i = 0; i < 4; ++i) {
    Random random(test_seed() + uint64_t(i));
    const int64_t inputs = random.between(1, 12), image = random.between(4, 12);
    NetworkBuilder builder("drawn", {image, image, inputs}, uint64_t(i) + 1);
    const Network network = builder.finish(builder.convolution(
        builder.convolution(0, random.between(1, 24), 3), random.between(1, 24), random.chance(0.5) ? 1 : 3));
    int64_t synthesis::Resources::*const fields[] = {&synthesis::Resources::lut, &synthesis::Resources::ff,
                                                     &synthesis::Resources::dsp, &synthesis::Resources::bram};
    const char* const names[] = {"LUT", "FF", "DSP", "BRAM"};
    for (const size_t r : {0, 1, 2, 3}) {
      Budget budget = zynq();
      budget.resources = {1 << 24, 1 << 24, 1 << 24, 1 << 24, 1 << 24, 1 << 24};
      const auto refusal = [&](int64_t amount) {
        budget.resources.*fields[r] = amount;
        try {
          allocate(network, budget, Objective::kLatency);
        } catch (const Error& error) {
          return std::string(error.what());
        }
        return std::string();
      };
      const std::string text = refusal(0), here = std::string("(") + names[r] + "): " + key;
      const size_t at = text.find(here);
      if (at == std::string::npos) continue;  // it does without, or one of the resources beside it is short
      const int64_t least = std::stoll(text.substr(at + here.size()));
      EXPECT_NE(refusal(least - 1), "") << names[r] << " seed " << test_seed() << " case " << i;
    }
  }
}

// Where a design is known, no refusal says that there is none; and with less of one resource than any search
// has found to do, some do say so.
TEST(AllocateClass, NoDesignFitsIsSaidOfNoneThatDoes) {
  int64_t said = 0;
  for (int64_t i = 0; i < 3; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    Random random(test_seed() * 17 + uint64_t(i));
    const int64_t inputs = random.between(1, 8), image = random.between(4, 10);
    NetworkBuilder builder("drawn", {image, image, inputs}, uint64_t(i) + 1);
    const Network network = builder.finish(
        builder.convolution(builder.convolution(0, random.between(1, 12), 3), random.between(1, 12), 1));
    Budget budget = zynq();
    if (i % 2 == 0) budget.family = synthesis::DeviceFamily::kIce40;
    AllocateOptions options;
    options.logic_share = 1;
    options.nodes = options.evaluations = 200;
    const auto refusal = [&] {
      try {
        allocate(network, budget, Objective::kLatency, options);
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    const std::string none = "no design fits";
    for (const double part : {0.3, 0.1}) {
      budget.resources = {int64_t(53200 * part), int64_t(106400 * part), 0,
                          int64_t(220 * part),   int64_t(280 * part),    0};
      if (refusal() != "") continue;
      const AllocationResult found = allocate(network, budget, Objective::kLatency, options);
      budget.resources = found.estimate.resources;
      EXPECT_EQ(refusal().find(none), std::string::npos);
    }
    // From the last design down: less and less look-up tables.
    for (int step = 0; step < 4; ++step) {
      budget.resources.lut = budget.resources.lut * 3 / 4;
      const std::string text = refusal();
      said += text.find(none) != std::string::npos || text.find("any design") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(said, 0);
}

// More of everything, by any factor, gives no slower design, but for a fiftieth.
TEST(AllocateClass, MoreOfEverythingIsNotSlower) {
  for (int64_t i = 0; i < 4; ++i) {
    Random random(test_seed() * 31 + uint64_t(i));
    const int64_t inputs = random.between(1, 12), image = random.between(6, 14);
    NetworkBuilder builder("drawn", {image, image, inputs}, uint64_t(i) + 1);
    const Network network = builder.finish(builder.convolution(
        builder.convolution(0, random.between(1, 24), 3), random.between(1, 24), random.chance(0.5) ? 1 : 3));
    Budget budget = zynq();
    int64_t before[] = {INT64_MAX, INT64_MAX};
    for (const double part : {0.3, 0.45, 0.7, 1.0, 1.9}) {
      Budget own = budget;
      own.resources.lut = int64_t(double(budget.resources.lut) * part);
      own.resources.ff = int64_t(double(budget.resources.ff) * part);
      own.resources.dsp = int64_t(double(budget.resources.dsp) * part);
      own.resources.bram = int64_t(double(budget.resources.bram) * part);
      for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
        const Estimate e = allocate(network, own, objective).estimate;
        const int64_t cycles = objective == Objective::kLatency ? e.latency_cycles : e.interval_cycles;
        // The searches have limits; what they miss is little.
        EXPECT_LE(double(cycles), 1.02 * double(before[size_t(objective)]))
            << part << " of the budget, seed " << test_seed() << " case " << i;
        before[size_t(objective)] = std::min(cycles, before[size_t(objective)]);
      }
    }
  }
}

// What is spared may come down to nothing.
TEST(Allocate, SparesWhatIsAskedForWithinTheCycles) {
  NetworkBuilder builder("spared", {8, 8, 4}, 1);
  Network network = builder.finish(builder.convolution(builder.convolution(0, 8, 3), 8, 1));
  for (Layer& layer : network.layers)
    std::fill(layer.finish.scale.begin(), layer.finish.scale.end(), Requantization{1, 7});
  const int64_t enough = 2 * allocate(network, zynq(), Objective::kLatency).estimate.latency_cycles;
  using synthesis::Resources;
  int64_t luts = 0;
  for (int64_t Resources::*const spared : {&Resources::lut, &Resources::dsp, &Resources::bram}) {
    AllocateOptions options;
    options.processors = false;
    options.enough_cycles = enough;
    options.sparing = spared;
    const Estimate e = allocate(network, zynq(), Objective::kLatency, options).estimate;
    EXPECT_LE(e.latency_cycles, enough);
    EXPECT_TRUE(spared != &Resources::dsp || e.resources.dsp == 0);
    if (luts == 0) luts = e.resources.lut;
    EXPECT_LE(luts, e.resources.lut);
  }
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
