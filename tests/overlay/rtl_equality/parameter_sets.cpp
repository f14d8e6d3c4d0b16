#include "parameter_sets.h"

#include <algorithm>

namespace tilewright::overlay {
namespace {

constexpr IsaVersion kPlain = IsaVersion::kVta, kWide = IsaVersion::kWide;

struct Row {
  const char* name;
  IsaVersion isa;
  int batch, block_in, block_out;
  int input, weight, accumulator, output;       // bits
  int log_uop, log_inp, log_wgt, log_acc;       // depths
  int port, alu_lanes, commands, beats, burst;  // bits, lanes, queue depths, longest burst
  bool gemm_beside_alu = false;
  MemoryPartition partition = {};
  bool lookup_table = false, row_functions = false;
};

constexpr MemoryPartition kCyclicWords{MemoryPartition::Kind::kCyclic, MemoryPartition::Dimension::kDepth, 4};
constexpr MemoryPartition kBlockWords{MemoryPartition::Kind::kBlock, MemoryPartition::Dimension::kDepth, 8};
constexpr MemoryPartition kCyclicBits{MemoryPartition::Kind::kCyclic, MemoryPartition::Dimension::kWidth, 32};

constexpr Row kRows[] = {
    {"wide-4x4-p64", kWide, 1, 4, 4, 8, 8, 32, 8, 7, 7, 6, 7, 64, 0, 16, 32, 8, false, {}, true, true},
    {"plain-8x8-p32", kPlain, 1, 8, 8, 8, 8, 32, 8, 8, 7, 6, 7, 32, 0, 16, 64, 16},
    {"plain-16x16-p64", kPlain, 1, 16, 16, 8, 8, 32, 8, 13, 11, 10, 11, 64, 0, 512, 256, 64},
    {"wide-16x16-p128",
     kWide,
     1,
     16,
     16,
     8,
     8,
     32,
     8,
     9,
     9,
     8,
     9,
     128,
     0,
     64,
     128,
     32,
     false,
     {},
     true,
     true},
    {"wide-w4-8x4-p64", kWide, 1, 8, 4, 4, 4, 32, 4, 8, 7, 7, 7, 64, 0, 32, 64, 16},
    {"wide-w2-16x4-p64", kWide, 1, 16, 4, 2, 2, 32, 2, 8, 7, 7, 7, 64, 2, 32, 64, 16},
    {"wide-w1-32x8-p64", kWide, 1, 32, 8, 1, 1, 32, 1, 8, 7, 7, 7, 64, 0, 32, 64, 16},
    {"wide-b2-4x8-p128", kWide, 2, 4, 8, 8, 8, 32, 8, 8, 7, 7, 7, 128, 4, 32, 64, 16, false, {}, true},
    {"wide-b4-8x4-p256", kWide, 4, 8, 4, 8, 8, 32, 8, 8, 7, 7, 7, 256, 0, 32, 64, 16},
    {"wide-8x8-p512", kWide, 1, 8, 8, 8, 8, 32, 8, 8, 7, 7, 8, 512, 0, 32, 64, 64, false, {}, true, true},
    {"plain-b2-4x4-p64", kPlain, 2, 4, 4, 8, 8, 32, 8, 7, 6, 6, 7, 64, 1, 8, 16, 16},
    {"wide-w8a16-4x4-p32", kWide, 1, 4, 4, 8, 8, 16, 8, 7, 7, 6, 7, 32, 1, 4, 4, 2, false, {}, true},
    {"wide-w8x4-8x8-p64", kWide, 1, 8, 8, 8, 4, 32, 8, 8, 7, 7, 7, 64, 0, 32, 64, 1, false, {}, true},
    {"wide-w4x2-16x8-p128", kWide, 1, 16, 8, 4, 2, 32, 8, 8, 7, 7, 7, 128, 2, 16, 32, 8},
    {"plain-w4-8x8-p32", kPlain, 1, 8, 8, 4, 4, 32, 4, 7, 7, 6, 7, 32, 2, 16, 32, 16},
    {"wide-8x2-p32", kWide, 1, 8, 2, 8, 8, 32, 8, 7, 7, 6, 7, 32, 0, 8, 8, 4, false, {}, true},
    {"wide-2x8-p256", kWide, 1, 2, 8, 8, 8, 32, 8, 7, 7, 6, 7, 256, 0, 16, 32, 16, false, {}, true},
    {"wide-b8-8x8-p512", kWide, 8, 8, 8, 8, 8, 32, 8, 7, 6, 6, 6, 512, 16, 32, 64, 32},
    {"beside-4x4-p64", kWide, 1, 4, 4, 8, 8, 32, 8, 7, 7, 6, 7, 64, 2, 16, 32, 8, true, {}, true, true},
    {"rows-8x8-p32", kWide, 1, 8, 8, 8, 8, 32, 8, 8, 7, 6, 7, 32, 4, 16, 32, 8, false, {}, true, true},
    {"beside-w4-b2-16x8-p128", kWide, 2, 16, 8, 4, 4, 32, 4, 8, 7, 7, 8, 128, 0, 32, 64, 16, true},
    {"ice40-w4a16-p32", kPlain, 1, 4, 4, 4, 4, 16, 4, 8, 8, 8, 8, 32, 1, 1, 2, 2},
    {"partitioned-8x4-p32", kPlain, 1, 8, 4, 4, 4, 16, 4, 7, 6, 5, 6, 32, 2, 1, 2, 2, false, kCyclicWords},
    {"partitioned-beside-4x4-p64",
     kWide,
     1,
     4,
     4,
     8,
     8,
     32,
     8,
     7,
     7,
     6,
     7,
     64,
     2,
     16,
     32,
     8,
     true,
     kBlockWords},
    {"partitioned-b2-4x2-p32", kWide, 2, 4, 2, 8, 8, 16, 8, 6, 5, 5, 6, 32, 1, 2, 4, 2, false, kCyclicBits},
};

OverlayHardware make(const Row& row) {
  OverlayHardware h;
  h.name = row.name;
  h.isa = row.isa;
  h.batch = row.batch;
  h.block_in = row.block_in;
  h.block_out = row.block_out;
  h.input_bits = row.input;
  h.weight_bits = row.weight;
  h.accumulator_bits = row.accumulator;
  h.output_bits = row.output;
  h.uop_buffer_bytes = h.uop_bytes() << row.log_uop;
  h.input_buffer_bytes = h.input_bytes() << row.log_inp;
  h.weight_buffer_bytes = h.weight_bytes() << row.log_wgt;
  h.accumulator_buffer_bytes = h.accumulator_bytes() << row.log_acc;
  h.dram_bytes = 1 << 22;
  h.memory_width_bits = row.port;
  h.alu_lanes = row.alu_lanes;
  h.command_queue_depth = row.commands;
  h.read_queue_beats = row.beats;
  h.max_burst_beats = row.burst;
  h.gemm_beside_alu = row.gemm_beside_alu;
  h.memory_partition = row.partition;
  h.lookup_table = row.lookup_table;
  h.row_functions = row.row_functions;
  return h;
}

}  // namespace

std::vector<OverlayHardware> parameter_sets() {
  std::vector<OverlayHardware> sets;
  std::transform(std::begin(kRows), std::end(kRows), std::back_inserter(sets), make);
  return sets;
}

}  // namespace tilewright::overlay
