// Parameters are drawn wide: queues of four, bursts of one beat, latencies to 120 cycles, one to eight banks.
#include "random_runs.h"

#include <gtest/gtest.h>

#include "counter_sums.h"
#include "support/overlay/cycle_reference_testing.h"
#include "support/overlay/random_stream_testing.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

MemoryModel random_memory(Random& random) {
  MemoryModel m;
  m.kind = MemoryModelKind(random.between(0, 2));
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

OverlayHardware random_hardware(Random& random) {
  const std::vector<OverlayHardware> overlays = varied_overlays();
  OverlayHardware h = overlays[size_t(random.between(0, int64_t(overlays.size()) - 1))];
  h.alu_lanes = std::min(1 << random.between(0, 4), h.batch * h.block_out);
  h.command_queue_depth = 4 << random.between(0, 5);
  h.read_queue_beats = 4 << random.between(0, 6);
  h.max_burst_beats = std::min(1 << random.between(0, 6), h.read_queue_beats);
  h.memory_width_bits = 32 << random.between(0, 4);
  h.gemm_beside_alu = h.isa == IsaVersion::kWide && random.chance(0.5);
  h.lookup_table =
      h.row_functions || (h.isa == IsaVersion::kWide && h.output_bits == 8 && random.chance(0.5));
  return h;
}

void expect_equal(const TimedRun& a, const TimedRun& b) {
  EXPECT_TRUE(same(a.cycles, b.cycles));
  ASSERT_EQ(a.transactions.size(), b.transactions.size());
  for (size_t i = 0; i < a.transactions.size(); ++i) {
    const AxiTransaction &x = a.transactions[i], &y = b.transactions[i];
    ASSERT_TRUE(x == y) << "transaction " << i << ": cycle " << x.cycle << " and " << y.cycle << ", address "
                        << x.address << " and " << y.address;
  }
}

// Work as the functional simulator counts it.
void expect_equal(const RunCounters& a, const RunCounters& b) {
  EXPECT_EQ(a.instructions, b.instructions);
  EXPECT_EQ(a.uop_load_bytes, b.uop_load_bytes);
  EXPECT_EQ(a.input_load_bytes, b.input_load_bytes);
  EXPECT_EQ(a.weight_load_bytes, b.weight_load_bytes);
  EXPECT_EQ(a.accumulator_load_bytes, b.accumulator_load_bytes);
  EXPECT_EQ(a.output_store_bytes, b.output_store_bytes);
  EXPECT_EQ(a.gemm_uops, b.gemm_uops);
  EXPECT_EQ(a.gemm_reset_uops, b.gemm_reset_uops);
  EXPECT_EQ(a.alu_uops, b.alu_uops);
  EXPECT_EQ(a.alu_lanes, b.alu_lanes);
}

}  // namespace

void expect_literal_reference(uint64_t first_seed, uint64_t count) {
  for (uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverlayHardware hardware = random_hardware(random);
    const MemoryModel memory = random_memory(random);
    const int length = int(random.between(1, 60));
    const RandomProgram program = random.chance(0.5) ? random_stream(hardware, random, length)
                                                     : random_program(hardware, random, length);
    std::vector<std::byte> timed = program.dram, literal = program.dram;
    CycleOptions options;
    options.record_transactions = true;
    const TimedRun a = CycleSimulator(hardware, memory).run(timed, program.address, program.count, options);
    const TimedRun b = CycleReference(hardware, memory).run(literal, program.address, program.count);
    expect_equal(a, b);
    expect_sums(a.cycles);
  }
}

void expect_functional_memory(uint64_t first_seed, uint64_t count) {
  for (uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverlayHardware hardware = random_hardware(random);
    const MemoryModel memory = random_memory(random);
    const RandomProgram program = random_stream(hardware, random, int(random.between(1, 60)));
    std::vector<std::byte> timed = program.dram, untimed = program.dram;
    CycleSimulator simulator(hardware, memory);
    const TimedRun a = simulator.run(timed, program.address, program.count);
    expect_equal(a.work, FunctionalSimulator(hardware).run(untimed, program.address, program.count));
    EXPECT_TRUE(timed == untimed);
    // Time alone: the same cycles, the memory untouched.
    std::vector<std::byte> untouched = program.dram;
    CycleOptions time_only;
    time_only.execute = false;
    const TimedRun b = simulator.run(untouched, program.address, program.count, time_only);
    EXPECT_TRUE(same(a.cycles, b.cycles));
    expect_equal(a.work, b.work);
    EXPECT_TRUE(untouched == program.dram);
  }
}

}  // namespace tilewright::overlay
