#include "tilewright/spatial/cost/fast_evaluator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "support/spatial/random_array_mapping_testing.h"

namespace tilewright {
namespace {

// Energies that no order of additions leaves alone, so that equal sums mean equal counts.
ArrayHardware random_hardware(Random& random, int levels, int spatial) {
  ArrayHardware hardware;
  hardware.name = "random";
  hardware.mac_energy = random.uniform();
  for (int l = 0; l < levels; ++l) {
    ArrayLevel level;
    level.name = fmt::format("l{}", l);
    level.read_energy = random.uniform() * 10;
    level.fill_energy = random.uniform() * 10;
    level.update_energy = random.uniform() * 10;
    level.network.delivery_energy = random.uniform();
    if (l > 0) {
      level.capacity_words = random.between(10, 4000 >> l);
      if (random.chance(0.3))
        level.role_capacity_words[size_t(random.between(0, 2))] = random.between(1, 200);
      level.copies = random.between(1, 2);
    }
    if (l == spatial) {
      level.fanout_x = random.between(1, 6);
      level.fanout_y = random.between(1, 6);
      level.network.multicast = random.chance(0.8);
      level.network.reduction = random.chance(0.8);
    }
    hardware.levels.push_back(level);
  }
  return hardware;
}

Workload random_workload(Random& random) {
  ConvShape shape;
  shape.batch = random.between(1, 2);
  shape.group = random.chance(0.8) ? 1 : 2;
  shape.input_channels = shape.group * random.between(1, 6);
  shape.output_channels = shape.group * random.between(1, 6);
  for (WindowAxis* axis : {&shape.height, &shape.width}) {
    axis->kernel = random.chance(0.2) ? 1 : random.between(2, 6);
    axis->stride = random.chance(0.5) ? 1 : random.between(1, 4);
    axis->dilation = random.chance(0.7) ? 1 : random.between(1, 3);
    axis->output = random.between(1, 12);
    axis->input = 20;
  }
  if (random.chance(0.2)) return depthwise_workload("d", shape);
  if (random.chance(0.2)) {
    return batched_matmul_workload("b", random.between(1, 3), random.between(1, 12), random.between(1, 12),
                                   random.between(1, 12), random.chance(0.5));
  }
  return conv2d_workload("c", shape);
}

constexpr FastKernelSet kKernels[] = {FastKernelSet::kAvx512, FastKernelSet::kAvx2, FastKernelSet::kPortable};

bool truly_valid(const Workload& workload, const ArrayHardware& hardware, const Mapping& mapping,
                 const CostRules& rules) {
  Diagnostics diagnostics;
  check_array_mapping(workload, hardware, mapping, "", diagnostics, rules.accounting);
  return diagnostics.ok();
}

TEST(FastEvaluator, EqualsTheEvaluationOfMappingsToTheLastBit) {
  const uint64_t seed = 20240;
  Random random(seed);
  int refused = 0, valid = 0, compared = 0;
  for (int round = 0; round < 400; ++round) {
    const int levels = int(random.between(2, 5));
    CostRules rules;
    rules.accounting = random.chance(0.5) ? Accounting::kTimeloop : Accounting::kExact;
    rules.charge_drain_reads = random.chance(0.5);
    const int first = rules.accounting == Accounting::kExact ? levels - 2 : 0;
    const ArrayHardware hardware = random_hardware(random, levels, int(random.between(first, levels - 1)));
    const Workload workload = random_workload(random);
    const auto evaluator = FastEvaluator::make(workload, hardware, rules);
    if (!evaluator) {
      ++refused;
      continue;
    }
    std::vector<FlatMapping> block;
    for (int i = 0; i < 60; ++i) {
      const Mapping mapping = random_array_mapping(workload, hardware, 0.7, false, random);
      const auto flat = evaluator->flatten(mapping);
      ASSERT_TRUE(flat);
      const FastCost cost = evaluator->evaluate(*flat);
      for (const FastKernelSet kernel : kKernels) {
        const FastCost again = evaluator->evaluate_by(kernel, *flat);
        ASSERT_EQ(again.valid, cost.valid);
        ASSERT_EQ(again.energy, cost.energy);
      }
      ++compared;
      SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed << "\n"
                                      << print_mapping(workload, mapping));
      ASSERT_EQ(cost.valid, truly_valid(workload, hardware, mapping, rules));
      block.push_back(*flat);
      if (!cost.valid) continue;
      ++valid;
      const Cost expected = evaluate_mapping(workload, hardware, mapping, rules);
      ASSERT_EQ(cost.energy, expected.energy);
      ASSERT_EQ(cost.cycles, expected.cycles);
    }
    if (!evaluator->has_blocks()) continue;
    for (const FastKernelSet kernel : kKernels) {
      if (!has_fast_kernels(kernel)) continue;
      for (size_t i = 0; i < block.size(); i += kBlockMappings) {
        FlatBlock packed;
        const size_t count = std::min<size_t>(kBlockMappings, block.size() - i);
        FastEvaluator::fill_block(std::span(block).subspan(i, count), packed);
        FastBlockCost costs;
        evaluator->evaluate_blocks({&packed, 1}, {&costs, 1}, kernel);
        for (size_t k = 0; k < count; ++k) {
          const FastCost one = evaluator->evaluate(block[i + k]);
          ASSERT_EQ(one.valid, (costs.valid >> k & 1) != 0) << "kernel " << int(kernel);
          if (!one.valid) continue;
          ASSERT_EQ(one.energy, costs.energy[k]) << "kernel " << int(kernel);
          ASSERT_EQ(double(one.cycles), costs.cycles[k]);
        }
      }
    }
  }
  std::printf("%d mappings compared, %d of them valid; %d cases not the evaluator's\n", compared, valid,
              refused);
  EXPECT_GT(valid, 3000);
  EXPECT_LT(refused, 100);
}

TEST(FastEvaluator, RefusesWhatItDoesNotCover) {
  Random random(1);
  ArrayHardware hardware = random_hardware(random, 3, 1);
  const Workload workload = matmul_workload("m", 4, 4, 4);
  EXPECT_TRUE(FastEvaluator::make(workload, hardware, {}));
  hardware.levels[1].network.hop_energy = 1;
  EXPECT_FALSE(FastEvaluator::make(workload, hardware, {}));
  hardware.levels[1].network.hop_energy = 0;
  hardware.levels[0].read_words_per_cycle = 4;
  EXPECT_FALSE(FastEvaluator::make(workload, hardware, {}));
  hardware.levels[0].read_words_per_cycle = 0;
  hardware.levels[0].fanout_x = 2;
  hardware.levels[1].fanout_x = 2;
  EXPECT_FALSE(FastEvaluator::make(workload, hardware, {}));
  ConvShape shape;
  shape.width = {.input = 4, .kernel = 3, .stride = 2, .output = 9};
  hardware.levels[0].fanout_x = 1;
  EXPECT_FALSE(FastEvaluator::make(conv2d_transpose_workload("t", shape), hardware, {}));
}

TEST(FastEvaluator, FlatFormHoldsOnlyPlainMappings) {
  Random random(1);
  const ArrayHardware hardware = random_hardware(random, 3, 1);
  const Workload workload = matmul_workload("m", 4, 4, 4);
  const auto evaluator = FastEvaluator::make(workload, hardware, {});
  ASSERT_TRUE(evaluator);
  Mapping mapping{{{"l0", {{1, 2}, {2, 4}, {1, 2}}, {}}, {"l1", {{3, 4}}, {}}, {"l2", {{2, 4}}, {}}}};
  EXPECT_FALSE(evaluator->flatten(mapping));  // M twice in one level
  mapping.levels[0].temporal = {{1, 4}};
  EXPECT_TRUE(evaluator->flatten(mapping));
  mapping.levels[0].spatial = {{3, 2, SpatialAxis::kX}};  // no fan-out here
  EXPECT_FALSE(evaluator->flatten(mapping));
}

}  // namespace
}  // namespace tilewright
