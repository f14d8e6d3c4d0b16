// The event-driven engine against the literal reference, and against the functional simulator, on random
// programs, hardware parameters and memories.
#include <gtest/gtest.h>

#include "tilewright/overlay/cycle_reference.h"
#include "tilewright/overlay/cycle_simulator.h"
#include "tilewright/overlay/random_program.h"

namespace tilewright::overlay {
namespace {

MemoryModel random_memory(Random& random) {
  MemoryModel m;
  m.kind = MemoryKind(random.between(0, 2));
  m.latency = uint32_t(random.chance(0.5) ? random.between(1, 8) : random.between(9, 120));
  m.beat_interval = uint32_t(random.chance(0.6) ? 1 : random.between(2, 4));
  m.ddr.banks = 1u << random.between(0, 3);
  m.ddr.row_bytes = 4096u << random.between(0, 2);
  m.ddr.controller = uint32_t(random.between(0, 12));
  m.ddr.beat_interval = uint32_t(random.chance(0.7) ? 1 : random.between(2, 3));
  return m;
}

testing::AssertionResult same(const CycleCounters& a, const CycleCounters& b) {
  if (a == b) return testing::AssertionSuccess();
  auto result = testing::AssertionFailure();
  const auto field = [&](const char* name, uint64_t x, uint64_t y) {
    if (x != y) result << name << " " << x << " and " << y << "; ";
  };
  field("cycles", a.cycles, b.cycles);
  field("fetch_busy", a.fetch_busy, b.fetch_busy);
  field("fetch_blocked", a.fetch_blocked, b.fetch_blocked);
  field("fetch_idle", a.fetch_idle, b.fetch_idle);
  field("load_busy", a.load_busy, b.load_busy);
  field("load_token", a.load_token, b.load_token);
  field("load_starved", a.load_starved, b.load_starved);
  field("compute_gemm", a.compute_gemm, b.compute_gemm);
  field("compute_alu", a.compute_alu, b.compute_alu);
  field("compute_load", a.compute_load, b.compute_load);
  field("compute_token_load", a.compute_token_load, b.compute_token_load);
  field("compute_token_store", a.compute_token_store, b.compute_token_store);
  field("compute_starved", a.compute_starved, b.compute_starved);
  field("store_busy", a.store_busy, b.store_busy);
  field("store_token", a.store_token, b.store_token);
  field("store_starved", a.store_starved, b.store_starved);
  field("read_bursts", a.read_bursts, b.read_bursts);
  field("read_beats", a.read_beats, b.read_beats);
  field("write_bursts", a.write_bursts, b.write_bursts);
  field("write_beats", a.write_beats, b.write_beats);
  return result;
}

void compare_with_reference(uint64_t first_seed, int count) {
  for (uint64_t seed = first_seed; seed < first_seed + uint64_t(count); ++seed) {
    Random random(seed);
    const std::vector<OverlayHardware> overlays = varied_overlays();
    OverlayHardware hardware = overlays[size_t(random.between(0, int64_t(overlays.size()) - 1))];
    hardware.alu_lanes = 1 << random.between(0, 4);
    hardware.alu_lanes = std::min(hardware.alu_lanes, hardware.batch * hardware.block_out);
    hardware.command_queue_depth = 4 << random.between(0, 5);
    hardware.read_queue_beats = 4 << random.between(0, 6);
    hardware.max_burst_beats = 1 << random.between(0, 6);
    hardware.max_burst_beats = std::min(hardware.max_burst_beats, hardware.read_queue_beats);
    hardware.memory_width_bits = 32 << random.between(0, 4);
    const RandomProgram program = random_program(hardware, random, int(random.between(1, 60)));
    const MemoryModel memory = random_memory(random);
    std::vector<std::byte> timed = program.dram, literal = program.dram;
    CycleOptions options;
    options.record_transactions = true;
    const TimedRun a = CycleSimulator(hardware, memory).run(timed, program.address, program.count, options);
    const TimedRun b = CycleReference(hardware, memory).run(literal, program.address, program.count);
    ASSERT_TRUE(same(a.cycles, b.cycles)) << "seed " << seed;
    ASSERT_EQ(a.transactions.size(), b.transactions.size()) << "seed " << seed;
    for (size_t i = 0; i < a.transactions.size(); ++i) {
      ASSERT_TRUE(a.transactions[i] == b.transactions[i])
          << "seed " << seed << " transaction " << i << ": cycle " << a.transactions[i].cycle << " and "
          << b.transactions[i].cycle << ", address " << a.transactions[i].address << " and "
          << b.transactions[i].address;
    }
  }
}

TEST(CycleSimulatorRandom, EqualsTheLiteralReference) { compare_with_reference(1, 200); }

}  // namespace
}  // namespace tilewright::overlay
