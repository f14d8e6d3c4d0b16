// The schedule timer against the cycle simulator on the same program as instruction bytes: random layers of
// every kind on random overlays, queues, ports and memories, under random schedules.
#include "tilewright/overlay/measure/schedule_timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "random_layer.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/execute/zeroed_memory.h"
#include "tilewright/overlay/lower/lowering.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/packing.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::random_layers {
namespace {

using overlay::Schedule;

// The buffers, the micro-ops and the program one after the other, and the run of that memory.
uint64_t cycles_of_bytes(const overlay::Tiling& tiling, const OverlayHardware& hardware,
                         const MemoryModel& memory) {
  const overlay::OverlayLayer& layer = *tiling.layer;
  const auto alignment =
      uint64_t(std::max({hardware.input_bytes(), hardware.weight_bytes(), hardware.accumulator_bytes(),
                         hardware.output_bytes(), hardware.instruction_bytes(), int64_t{64}}));
  uint64_t cursor = 4096;
  const auto take = [&](int64_t bytes) {
    const uint64_t address = (cursor + alignment - 1) / alignment * alignment;
    cursor = address + uint64_t(bytes);
    return int64_t(address);
  };
  overlay::LayerAddresses at;
  for (const overlay::LayerSource& s : layer.sources) {
    at.sources.push_back(take(packed_activation_bytes(view_of(layer, s), hardware)) / hardware.input_bytes());
  }
  at.result = take(packed_activation_bytes(result_view(layer), hardware)) / hardware.output_bytes();
  at.weights = take(packed_weight_bytes(layer, hardware)) / hardware.weight_bytes();
  at.parameters = take(tiling.blocks.sub_total * tiling.parameter_vectors * hardware.accumulator_bytes()) /
                  hardware.accumulator_bytes();
  at.table = take(packed_table_bytes(layer)) / table_entry_bytes(layer);
  at.padding = take(padding_elements(tiling) * hardware.input_bytes()) / hardware.input_bytes();
  overlay::Runtime runtime(hardware);
  lower_layer(tiling, at, runtime);
  const auto uops = uint64_t(take(int64_t(runtime.uop_image_bytes())));
  const overlay::RuntimeOutput output = runtime.synchronize(uops);
  const auto program = uint64_t(take(int64_t(output.instructions.size())));
  overlay::ZeroedMemory dram(cursor);
  if (!output.uops.empty()) std::memcpy(dram.span().data() + uops, output.uops.data(), output.uops.size());
  std::copy(output.instructions.begin(), output.instructions.end(), dram.span().begin() + long(program));
  overlay::CycleSimulator simulator(hardware, memory);
  return simulator.run(dram.span(), program, output.statistics.instructions, {.execute = false})
      .cycles.cycles;
}

OverlayHardware random_queues(Random& random, OverlayHardware hardware) {
  hardware.memory_width_bits = 32 << random.between(0, 4);
  hardware.command_queue_depth = 2 << random.between(0, 8);
  hardware.max_burst_beats = 1 << random.between(0, 6);
  hardware.max_burst_beats = std::min(hardware.max_burst_beats, 32768 / hardware.memory_width_bits);
  hardware.read_queue_beats = std::max(2, hardware.max_burst_beats << random.between(0, 3));
  hardware.gemm_beside_alu = hardware.isa == IsaVersion::kWide && random.chance(0.5);
  if (random.chance(0.1)) hardware.uop_buffer_bytes = 8 * hardware.uop_bytes();
  if (random.chance(0.3)) hardware.alu_lanes = hardware.block_out;
  return hardware;
}

MemoryModel random_timer_memory(Random& random) {
  MemoryModel memory;
  memory.kind = random.chance(0.3)   ? MemoryModelKind::kDdr
                : random.chance(0.2) ? MemoryModelKind::kIdeal
                                     : MemoryModelKind::kFixed;
  memory.latency = uint32_t(random.between(1, 80));
  memory.beat_interval = uint32_t(random.between(1, 3));
  memory.efficiency_percent = uint32_t(random.between(50, 100));
  memory.ddr.beat_interval = uint32_t(random.between(1, 2));
  return memory;
}

// Either the cycles or that the schedule fails.
template <typename Time>
std::optional<uint64_t> time_or_fail(const Time& time) {
  try {
    return time();
  } catch (const Error&) {
    return std::nullopt;
  }
}

struct Seen {
  int timed = 0, failed = 0, ddr = 0, beside = 0, folded = 0, small_elements = 0;
};

void compare(uint64_t seed, Seen& seen) {
  Random random(seed * 31 + 5);
  std::string file;
  const OverlayHardware picked = pick_hardware(seed, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware", &file);
  const OverlayHardware hardware = random_queues(random, picked);
  const Case c = make_case(seed, pick_kind(seed, hardware), hardware);
  const Node& node = c.graph.nodes.back();
  if (!overlay::supports(c.graph, node, hardware, nullptr)) return;
  overlay::OverlayLayer layer = overlay::extract_layer(c.graph, node, hardware);
  layer.foldable = random.chance(0.5);
  const MemoryModel memory = random_timer_memory(random);
  overlay::ScheduleTimer timer(hardware, memory);
  for (uint64_t draw = 0; draw < 6; ++draw) {
    const Schedule schedule = pick_schedule(seed * 6 + draw, layer, hardware);
    SCOPED_TRACE(file + " " + layer.op + " " + overlay::print_schedule(schedule));
    const overlay::OverlayLayer target = overlay::scheduled_layer(layer, schedule);
    const overlay::Tiling tiling(target, hardware, schedule);
    const auto expected = time_or_fail([&] { return cycles_of_bytes(tiling, hardware, memory); });
    EXPECT_EQ(time_or_fail([&] { return timer.cycles(tiling); }), expected);
    ++(expected ? seen.timed : seen.failed);
    seen.ddr += memory.kind == MemoryModelKind::kDdr;
    seen.beside += hardware.gemm_beside_alu;
    seen.folded += schedule.fold_y * schedule.fold_x > 1;
    seen.small_elements += hardware.input_bytes() * 8 < hardware.memory_width_bits;
    if (!expected) continue;
    EXPECT_EQ(timer.cycles_below(tiling, *expected), expected);
    EXPECT_EQ(timer.cycles_below(tiling, *expected - 1), std::nullopt);
    EXPECT_EQ(timer.cycles_below(tiling, uint64_t(random.between(1, int64_t(*expected) - 1))), std::nullopt);
    EXPECT_EQ(overlay::layer_cycles(tiling, hardware, memory), *expected);
  }
}

TEST(ScheduleTimer, EqualsTheCycleSimulatorOnRandomLayers) {
  Seen seen;
  for (uint64_t seed = 1; seed <= 350; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    compare(seed, seen);
    if (HasFailure()) break;
  }
  std::printf(
      "%d timed, %d failed, %d with DDR, %d with GEMM beside ALU, %d folded, %d with small elements\n",
      seen.timed, seen.failed, seen.ddr, seen.beside, seen.folded, seen.small_elements);
  EXPECT_GE(seen.timed, 1800);
  EXPECT_GE(std::min({seen.ddr, seen.beside, seen.small_elements}), 300);
  EXPECT_GE(seen.folded, 30);
}

}  // namespace
}  // namespace tilewright::random_layers
