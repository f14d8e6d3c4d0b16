#include "tilewright/spatial/cost/cost.h"

#include <gtest/gtest.h>

#include <map>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// dram - buffer - (2x1) - register files - arithmetic, each energy a power of ten apart.
ArrayHardware machine() {
  ArrayHardware hardware;
  hardware.name = "machine";
  hardware.mac_energy = 0.5;
  hardware.levels.resize(3);
  const char* names[] = {"dram", "buffer", "rf"};
  for (size_t l = 0; l < 3; ++l) {
    ArrayLevel& level = hardware.levels[l];
    level.name = names[l];
    level.read_energy = l == 0 ? 100 : l == 1 ? 10 : 1;
    level.fill_energy = level.read_energy * 2;
    level.update_energy = level.read_energy * 3;
    level.capacity_words = l == 0 ? kUnlimitedWords : 64;
  }
  hardware.levels[1].fanout_x = 2;
  hardware.levels[1].network.delivery_energy = 0.25;
  hardware.levels[1].network.hop_energy = 0.125;
  return hardware;
}

AccessCounts counts() {
  AccessCounts counts;
  counts.operations = 1000;
  counts.steps = 500;
  counts.used_instances = {1, 1, 2, 2};
  SpaceTraffic to_buffer{0, 0, 1, 10, 10, 10, 0, 0, 0};
  SpaceTraffic to_rf{0, 1, 2, 40, 80, 40, 0, 0, 0};
  SpaceTraffic operands{0, 2, 3, 1000, 1000, 1000, 0, 0, 0};
  SpaceTraffic psums{2, 1, 2, 4, 6, 5, 20, 24, 22};
  counts.traffic = {to_buffer, to_rf, operands, psums};
  return counts;
}

TEST(Cost, ChargesEveryReadWriteAndHop) {
  const Workload workload = matmul_workload("m", 10, 10, 10);
  const Cost cost = cost_of_counts(workload, machine(), counts(), kPhysicalRules);
  EXPECT_DOUBLE_EQ(cost.arithmetic_energy, 500);
  EXPECT_DOUBLE_EQ(cost.memory_energy[0][0], 10 * 100);
  EXPECT_DOUBLE_EQ(cost.memory_energy[1][0], 10 * 20 + 40 * 10);
  EXPECT_DOUBLE_EQ(cost.memory_energy[2][0], 80 * 2 + 1000 * 1);
  EXPECT_DOUBLE_EQ(cost.network_energy[1][0], 80 * 0.25 + (40 + 80) * 0.125);
  EXPECT_DOUBLE_EQ(cost.memory_energy[1][2], 4 * 10 + 20 * 30);
  EXPECT_DOUBLE_EQ(cost.memory_energy[2][2], 6 * 2 + 24 * 1);
  EXPECT_DOUBLE_EQ(cost.network_energy[1][2], (6 + 24) * 0.25 + (5 + 6 + 22 + 24) * 0.125);
  double sum = cost.arithmetic_energy;
  for (size_t l = 0; l < 3; ++l) {
    for (size_t r = 0; r < 3; ++r) sum += cost.memory_energy[l][r] + cost.network_energy[l][r];
  }
  EXPECT_DOUBLE_EQ(cost.energy, sum);
  EXPECT_EQ(cost.cycles, 500);
  EXPECT_DOUBLE_EQ(cost.utilisation, 1000.0 / (500 * 2));
  EXPECT_DOUBLE_EQ(cost.edp(), sum * 500);
}

TEST(Cost, DrainReadsCanBeFree) {
  const Workload workload = matmul_workload("m", 10, 10, 10);
  const Cost with = cost_of_counts(workload, machine(), counts(), kPhysicalRules);
  const Cost without = cost_of_counts(workload, machine(), counts(), kTimeloopRules);
  EXPECT_DOUBLE_EQ(with.energy - without.energy, 24);
}

TEST(Cost, TheBusiestPortSetsTheCycles) {
  const Workload workload = matmul_workload("m", 10, 10, 10);
  ArrayHardware hardware = machine();
  const auto cycles = [&] { return cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles; };
  // Reads of the buffer: 40 + 4 words; at 0.04 per cycle 1100 cycles, at 0.1 hidden behind the steps.
  hardware.levels[1].read_words_per_cycle = 0.04;
  EXPECT_EQ(cycles(), 1100);
  hardware.levels[1].read_words_per_cycle = 0.1;
  EXPECT_EQ(cycles(), 500);
  // Register files, two of them: 1000 operand reads and 24 drains.
  hardware.levels[2].read_words_per_cycle = 0.5;
  EXPECT_EQ(cycles(), 1024);
  // The network carries the outputs sent and arriving: 4 + 20.
  hardware.levels[1].network.words_per_cycle[2] = 0.01;
  EXPECT_EQ(cycles(), 2400);
}

TEST(Cost, TransfersThatDoNotOverlapComeOnTop) {
  const Workload workload = matmul_workload("m", 10, 10, 10);
  ArrayHardware hardware = machine();
  hardware.levels[0].read_words_per_cycle = 0.1;
  EXPECT_EQ(cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles, 500);
  hardware.levels[1].overlaps_transfers = false;
  EXPECT_EQ(cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles, 500 + 100);
  hardware.levels[1].write_words_per_cycle = 0.05;
  EXPECT_EQ(cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles, 500 + 200);
  hardware.levels[2].overlaps_transfers = false;
  hardware.levels[2].write_words_per_cycle = 0.1;  // 80 + 6 words into two register files
  EXPECT_EQ(cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles, 500 + 200 + 430);
  hardware.levels[2].write_words_per_cycle = 1;  // what leaves them takes the buffer 20 / 0.05
  EXPECT_EQ(cost_of_counts(workload, hardware, counts(), kPhysicalRules).cycles, 500 + 200 + 400);
}

TEST(Cost, CapacitiesAreInWordsAndReservationsLieApart) {
  ArrayHardware hardware = machine();
  hardware.levels[1].capacity_words = 8;
  hardware.levels[1].role_capacity_words[1] = 16;
  hardware.levels[2].must_keep = 4;
  const Workload workload = matmul_workload("m", 4, 4, 1);  // elements of 8 and 32 bits: one word each
  const auto problems = [&](const std::string& text) {
    Diagnostics diagnostics;
    check_array_mapping(workload, hardware, parse_mapping(text, "m", workload), "m", diagnostics);
    std::string all;
    for (const Diagnostic& d : diagnostics.errors()) all += to_string(d) + "\n";
    return all;
  };
  EXPECT_EQ(
      problems("- {level: dram, temporal: M=2 N=2}\n- {level: buffer, temporal: M=2 N=2}\n- {level: rf}\n"),
      "");
  EXPECT_NE(problems("- {level: dram}\n- {level: buffer, temporal: M=4 N=4}\n- {level: rf}\n")
                .find("the tiles take 320 bits of 128"),
            std::string::npos);
  EXPECT_NE(problems("- {level: dram, temporal: M=4 N=4}\n- {level: buffer}\n- {level: rf, keeps: input}\n")
                .find("output must be kept here"),
            std::string::npos);
}

// A port that carries 7 words at 2 a cycle is busy for 4 cycles: in whole numbers, whatever the rates.
TEST(PortCyclesClass, PortsAreBusyForWholeCycles) {
  const int64_t cases = test_cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    std::vector<PortLoad> loads;
    std::map<int, int64_t> slowest;
    const int64_t steps = random.between(0, 60);
    for (int64_t n = random.between(0, 5); n > 0; --n) {
      const int64_t words = random.between(0, 100), quarters = random.between(1, 40);
      const int group = int(random.between(-1, 2));
      loads.push_back({words, double(quarters) / 4, group});
      slowest[group] = std::max(slowest[group], (4 * words + quarters - 1) / quarters);
    }
    int64_t expected = std::max(steps, slowest[-1]);
    for (const auto& [group, cycles] : slowest) expected += group >= 0 ? cycles : 0;
    ASSERT_EQ(port_cycles(steps, loads), expected);
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
