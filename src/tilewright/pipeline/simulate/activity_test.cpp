// What a model counts as switching equals what its ports show: random registers, and queues in memories.
#include <gtest/gtest.h>

#include <bit>

#include "support/pipeline/rtl_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/copy_design_testing.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::Module;
using netlist::NetId;

RtlModelOptions with_activity() {
  RtlModelOptions options = rtl_options();
  options.activity = true;
  return options;
}

Activity sum_of(std::span<const ScopeActivity> scopes) {
  Activity sum;
  for (const ScopeActivity& scope : scopes) sum += {scope.toggled_bits, scope.memory_bits, 0};
  return sum;
}

// One register with an enable.
netlist::Netlist register_design(int width) {
  Module top("kept");
  const NetId d = top.add_port("d", Direction::kInput, width);
  const NetId enable = top.add_port("enable", Direction::kInput, 1);
  const NetId q = top.add_port("q", Direction::kOutput, width);
  top.registers.push_back({q, d, enable, 0});
  return {"kept", {top}};
}

TEST(ActivityClass, EveryBitThatChangesCountsOnce) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (const int width : {65, int(random.between(1, 300))}) {
    SCOPED_TRACE(width);
    RtlModel model(register_design(width), {}, with_activity());
    const int d = model.port("d"), enable = model.port("enable"), q = model.port("q");
    model.reset();
    model.settle();
    std::vector<std::vector<uint32_t>> before;
    uint64_t toggled = 0;
    const auto look = [&] {
      std::vector<std::vector<uint32_t>> now = {model.get_words(d), model.get_words(enable),
                                                model.get_words(q)};
      for (size_t p = 0; p < before.size(); ++p) {
        for (size_t i = 0; i < now[p].size(); ++i)
          toggled += uint64_t(std::popcount(now[p][i] ^ before[p][i]));
      }
      before = std::move(now);
    };
    look();
    const Activity start = sum_of(model.activity());
    for (int cycle = 0; cycle < 200; ++cycle) {
      std::vector<uint32_t> words(size_t(width + 31) / 32);
      for (uint32_t& word : words) word = uint32_t(random.next());
      if (width % 32 != 0) words.back() &= (1u << width % 32) - 1;
      if (random.chance(0.7)) model.set_words(d, words.data());
      model.set(enable, random.chance(0.5) ? 1 : 0);
      model.settle();
      look();
      model.edge();
      look();
    }
    const Activity end = sum_of(model.activity());
    EXPECT_EQ(end.toggled_bits - start.toggled_bits, toggled);
    EXPECT_EQ(end.memory_bits, 0u);
  }
}

// Marks cut a run into intervals whose sum it is; a queue in block memory takes and gives every beat once.
TEST(ActivityClass, IntervalsAddUpToTheRun) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  const CopyShape shape{.image_bytes = 8 * random.between(10, 69), .queue = 1024};
  const Design design = copy_design(shape);
  RtlPortOptions options;
  options.model = with_activity();
  RtlDesignPort port(design, options);
  std::vector<int32_t> image(size_t(design.input.shape.elements()));
  for (int32_t& element : image) element = int32_t(random.between(-128, 127));
  std::vector<std::vector<Activity>> sums;
  for (const bool marked : {false, true}) {
    port.restart(0);
    std::vector<uint64_t> marks;
    if (marked) marks.push_back(1'000'000);  // behind the end
    for (int m = 0; marked && m < 20; ++m) marks.push_back(uint64_t(random.between(0, 149)));
    std::sort(marks.begin(), marks.end());
    ActivityLog log(marks);
    port.log_activity(&log);
    const uint64_t beats = port.read_beats() + port.write_beats();
    run_design(design, port, {image});
    std::vector<Activity>& sum = sums.emplace_back(log.scopes().size());
    uint64_t dram_bits = 0, queue_bits = 0;
    ASSERT_EQ(log.intervals().size(), marks.size() + 1);
    for (size_t i = 0; i < log.intervals().size(); ++i) {
      for (size_t s = 0; s < sum.size(); ++s) sum[s] += log.intervals()[i][s];
      dram_bits += log.dram_bits()[i];
    }
    for (size_t s = 0; s < sum.size(); ++s) {
      if (log.scopes()[s].find(".copy.queue") != std::string::npos) queue_bits += sum[s].memory_bits;
    }
    EXPECT_EQ(queue_bits, 2 * 8 * uint64_t(shape.image_bytes));
    EXPECT_EQ(dram_bits, (port.read_beats() + port.write_beats() - beats) * uint64_t(design.port_bytes) * 8);
  }
  EXPECT_EQ(sums[0], sums[1]);
}

TEST(EnergyCosts, AreReadAndRefusedTogether) {
  const EnergyCosts costs = energy_costs("dram=4,toggle=0.5");
  EXPECT_EQ(costs.dram_pj, 4);
  EXPECT_EQ(costs.toggle_pj, 0.5);
  EXPECT_EQ(costs.memory_pj, EnergyCosts().memory_pj);
  EXPECT_DOUBLE_EQ(costs.picojoules({10, 100, 2}), 5 + 100 * costs.memory_pj + 8);
  try {
    energy_costs("toggel=1,dram=x,memory=-1,toggle=nan");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 4u);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
