// Cycles by hand, from docs/design/overlay/overlay_rtl.md. Ideal memory and the default overlay (16-byte
// instructions and INP elements, 8-byte beats) unless said otherwise: the fetch unit's first slot is granted
// in 1, its beats arrive from 3 on and are popped from 5 on, so instruction 0 is pushed in 7, at the head in
// 9 and starts there.
#include "tilewright/overlay/time/cycle_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "support/overlay/cycle_reference_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {
namespace {

constexpr uint64_t kProgram = 4096;

OverlayHardware hardware() {
  OverlayHardware h;
  h.name = "test";
  return h;
}

std::vector<std::byte> dram_of(const OverlayHardware& h, const std::vector<Instruction>& instructions,
                               const std::vector<MicroOp>& uops = {}) {
  std::vector<std::byte> code, image;
  for (const Instruction& i : instructions) encode(h, i, code);
  for (const MicroOp& uop : uops) encode(h, uop, image);
  std::vector<std::byte> dram(65536);
  std::copy(image.begin(), image.end(), dram.begin());
  std::copy(code.begin(), code.end(), dram.begin() + kProgram);
  return dram;
}

// The reference, which goes cycle by cycle, must say the same.
TimedRun run(const OverlayHardware& h, const std::vector<Instruction>& instructions, const char* memory,
             const CycleOptions& options = {}, const std::vector<MicroOp>& uops = {}) {
  std::vector<std::byte> dram = dram_of(h, instructions, uops), copy = dram;
  const MemoryModel model = find_memory_model(memory);
  const TimedRun timed = CycleSimulator(h, model).run(dram, kProgram, instructions.size(), options);
  const TimedRun reference = CycleReference(h, model).run(copy, kProgram, instructions.size());
  EXPECT_EQ(timed.cycles.cycles, reference.cycles.cycles);
  EXPECT_EQ(dram, copy);
  return timed;
}

CycleCounters cycles(const OverlayHardware& h, const std::vector<Instruction>& instructions,
                     const char* memory = "ideal") {
  return run(h, instructions, memory).cycles;
}

MemoryInstruction load(MemoryType type, uint32_t dram, uint32_t rows, uint32_t columns) {
  MemoryInstruction i;
  i.memory_type = type;
  i.dram_base = dram;
  i.y_size = rows;
  i.x_size = i.x_stride = columns;
  return i;
}

MemoryInstruction store(uint32_t rows, uint32_t columns, uint32_t stride) {
  MemoryInstruction i = load(MemoryType::kOutput, 0, rows, columns);
  i.is_store = true;
  i.x_stride = stride;
  return i;
}

// 12 iterations of micro-op 0.
GemmInstruction gemm() {
  GemmInstruction i;
  i.loop.uop_end = 1;
  i.loop.iter_out = 3;
  i.loop.iter_in = 4;
  return i;
}

AluInstruction alu(AluOpcode opcode, uint32_t steps) {
  AluInstruction i;
  i.opcode = opcode;
  i.use_imm = true;
  i.loop.uop_end = 1;
  i.loop.iter_in = steps;
  return i;
}

TEST(CycleSimulator, FinishAlone) {
  const CycleCounters c = cycles(hardware(), {FinishInstruction{}});
  EXPECT_EQ(c.cycles, 11u);  // starts in 9, `finished` in 10, which is the last cycle
  EXPECT_EQ(c.fetch_busy, 8u);
  EXPECT_EQ(c.fetch_idle, 3u);
  EXPECT_EQ(c.compute_starved, 11u);
  EXPECT_EQ(c.read_bursts, 1u);
  EXPECT_EQ(c.read_beats, 2u);
}

TEST(CycleSimulator, LatencyIsPaidOnce) {
  EXPECT_EQ(cycles(hardware(), {FinishInstruction{}}, "fixed:40").cycles, 11u + 39u);
}

// Start 9, slot 11 and granted, address accepted in 12, beats 13..20, steps 15..22.
TEST(CycleSimulator, LoadOfLargeElements) {
  const CycleCounters c = cycles(hardware(), {load(MemoryType::kInput, 16, 1, 4), FinishInstruction{}});
  EXPECT_EQ(c.cycles, 24u);
  EXPECT_EQ(c.load_busy, 14u);
  EXPECT_EQ(c.load_starved, 10u);
  EXPECT_EQ(c.read_bursts, 2u);
  EXPECT_EQ(c.read_beats, 12u);
}

// Row above 10..14; left 15, 16, beats (visible from 15) 17..20, right 21; left 22, 23, beats 24..27, right
// 28; row below 29..33.
TEST(CycleSimulator, LoadWithPadding) {
  MemoryInstruction i = load(MemoryType::kInput, 16, 2, 2);
  i.y_pad_0 = i.y_pad_1 = 1;
  i.x_pad_0 = 2;
  i.x_pad_1 = 1;
  const CycleCounters c = cycles(hardware(), {i, FinishInstruction{}});
  EXPECT_EQ(c.load_busy, 25u);
  EXPECT_EQ(c.cycles, 35u);
}

// 64-byte beats: one beat holds the program, popped in 5; instruction 0 leaves in 6, 1 in 7. Start 8, granted
// 10, beats in 12 and 13; elements 1 to 3 of the first beat in 14..16, then, visible in 17, three in 17..19.
TEST(CycleSimulator, LoadOfSmallElements) {
  OverlayHardware h = hardware();
  h.memory_width_bits = 512;
  const CycleCounters c = cycles(h, {load(MemoryType::kInput, 1, 1, 6), FinishInstruction{}});
  EXPECT_EQ(c.load_busy, 12u);
  EXPECT_EQ(c.cycles, 21u);
  EXPECT_EQ(c.read_beats, 3u);
}

TEST(CycleSimulator, LoadOfNothing) {
  MemoryInstruction i = load(MemoryType::kInput, 16, 3, 0);
  i.x_pad_0 = 7;
  EXPECT_EQ(cycles(hardware(), {i, FinishInstruction{}}).load_busy, 2u);  // 9 and 10
}

// Bursts of two beats and four credits: granted 11, 12; credits of the pops in 15 and 16 are there in 17, of
// 17 and 18 in 19; beats of the last burst arrive in 21 and 22 and are popped in 23 and 24.
TEST(CycleSimulator, CreditsRunOut) {
  OverlayHardware h = hardware();
  h.read_queue_beats = 4;
  h.max_burst_beats = 2;
  CycleOptions options;
  options.record_transactions = true;
  const TimedRun r = run(h, {load(MemoryType::kInput, 16, 1, 4), FinishInstruction{}}, "ideal", options);
  EXPECT_EQ(r.cycles.cycles, 26u);
  std::vector<uint64_t> accepted;
  for (const AxiTransaction& t : r.transactions) {
    if (t.client == AxiClient::kLoad) accepted.push_back(t.cycle);
  }
  EXPECT_EQ(accepted, (std::vector<uint64_t>{12, 13, 18, 20}));
}

TEST(CycleSimulator, Gemm) {
  const CycleCounters c = cycles(hardware(), {gemm(), FinishInstruction{}});
  EXPECT_EQ(c.compute_gemm, 20u);  // 9..28
  EXPECT_EQ(c.cycles, 31u);
  GemmInstruction empty = gemm();
  empty.loop.iter_in = 0;
  EXPECT_EQ(cycles(hardware(), {empty, FinishInstruction{}}).compute_gemm, 2u);
}

TEST(CycleSimulator, Alu) {
  EXPECT_EQ(cycles(hardware(), {alu(AluOpcode::kAdd, 12), FinishInstruction{}}).compute_alu, 16u);
  EXPECT_EQ(cycles(hardware(), {alu(AluOpcode::kMul, 12), FinishInstruction{}}).compute_alu, 63u);
  EXPECT_EQ(cycles(hardware(), {alu(AluOpcode::kAdd, 0), FinishInstruction{}}).compute_alu, 2u);
  OverlayHardware narrow = hardware();
  narrow.alu_lanes = 4;
  EXPECT_EQ(cycles(narrow, {alu(AluOpcode::kAdd, 12), FinishInstruction{}}).compute_alu, 52u);
}

// Granted 11, items 12..17, last beat 19, response 20; granted 17, items 18..23, last beat 25, response 26,
// counted and done in 27.
TEST(CycleSimulator, Store) {
  CycleOptions options;
  options.record_transactions = true;
  const TimedRun r = run(hardware(), {store(2, 3, 100), FinishInstruction{}}, "ideal", options);
  EXPECT_EQ(r.cycles.store_busy, 19u);
  EXPECT_EQ(r.cycles.cycles, 29u);
  ASSERT_EQ(r.transactions.size(), 3u);
  EXPECT_TRUE((r.transactions[1] == AxiTransaction{12, 0, 6, AxiClient::kStore}));
  EXPECT_TRUE((r.transactions[2] == AxiTransaction{18, 1600, 6, AxiClient::kStore}));
}

// 16-byte beats, latency 50: start in 57, one-beat bursts granted in 59, 61, ... 73; the ninth waits for the
// first response, in 59 + 3 + 50, the tenth for the second. Its response comes in 115 + 53.
TEST(CycleSimulator, EightWriteBurstsAreOutstanding) {
  OverlayHardware h = hardware();
  h.memory_width_bits = 128;
  const CycleCounters c = cycles(h, {store(10, 1, 7), FinishInstruction{}}, "fixed:50");
  EXPECT_EQ(c.store_busy, 169u - 57u + 1u);
  EXPECT_EQ(c.cycles, 171u);
}

// The token is pushed in 22 and seen in 23; the GEMM is at the head in 11.
TEST(CycleSimulator, Token) {
  MemoryInstruction i = load(MemoryType::kInput, 16, 1, 4);
  i.dependencies.push_next = true;
  GemmInstruction waiting = gemm();
  waiting.dependencies.pop_prev = true;
  const CycleCounters c = cycles(hardware(), {i, waiting, FinishInstruction{}});
  EXPECT_EQ(c.compute_token_load, 12u);
  EXPECT_EQ(c.compute_gemm, 20u);
  EXPECT_EQ(c.cycles, 45u);
}

// Starts 9, 29, 49, 69. The fourth GEMM is in the register in 13 and finds room in 30, FINISH in 32 and 50.
TEST(CycleSimulator, FullQueueBlocksFetch) {
  OverlayHardware h = hardware();
  h.command_queue_depth = 2;
  const CycleCounters c = cycles(h, {gemm(), gemm(), gemm(), gemm(), FinishInstruction{}});
  EXPECT_EQ(c.fetch_blocked, 17u + 18u);
  EXPECT_EQ(c.cycles, 91u);
}

// 32-byte instructions: instruction 0 starts in 11. Micro-ops arrive after the program (3..18) in 19 and 20,
// done in 22. ALU 23..126; GEMM, its micro-op in the upper half, 24..51 or after it; FINISH last.
TEST(CycleSimulator, GemmBesideAlu) {
  OverlayHardware h = hardware();
  h.isa = IsaVersion::kWide;
  std::vector<MicroOp> uops(2);
  uops[1].dst = uint32_t(h.accumulator_depth() / 2);
  GemmInstruction second = gemm();
  second.beside_alu = true;
  second.loop.uop_begin = 1;
  second.loop.uop_end = 2;
  second.loop.iter_in = 20;
  second.loop.iter_out = 1;
  std::vector<Instruction> program = {load(MemoryType::kUop, 0, 1, 2), alu(AluOpcode::kAdd, 100), second,
                                      FinishInstruction{}};
  CycleCounters c = run(h, program, "ideal", {}, uops).cycles;
  EXPECT_EQ(c.compute_gemm, 28u);
  EXPECT_EQ(c.compute_alu, 104u);
  EXPECT_EQ(c.cycles, 157u);
  h.gemm_beside_alu = true;
  c = run(h, program, "ideal", {}, uops).cycles;
  EXPECT_EQ(c.compute_gemm, 28u);
  EXPECT_EQ(c.compute_alu, 76u);
  EXPECT_EQ(c.cycles, 129u);
  uops[1].dst = 0;
  EXPECT_THROW(run(h, program, "ideal", {}, uops), Error);
}

class Recorder : public CycleObserver {
 public:
  void instruction(const InstructionSpan& span) override { spans.push_back(span); }
  void token(TokenChannel, uint32_t pusher, uint64_t push_cycle, uint32_t popper,
             uint64_t pop_cycle) override {
    tokens.push_back({pusher, push_cycle, popper, pop_cycle});
  }
  std::vector<InstructionSpan> spans;
  std::vector<std::array<uint64_t, 4>> tokens;
};

TEST(CycleSimulator, TellsAnObserver) {
  MemoryInstruction i = load(MemoryType::kInput, 16, 1, 4);
  i.dependencies.push_next = true;
  GemmInstruction waiting = gemm();
  waiting.dependencies.pop_prev = true;
  Recorder recorder;
  CycleOptions options;
  options.observer = &recorder;
  run(hardware(), {i, waiting, FinishInstruction{}}, "ideal", options);
  std::vector<std::array<uint64_t, 5>> spans;
  for (const InstructionSpan& s : recorder.spans) {
    spans.push_back({uint64_t(s.module), s.index, s.visible_cycle, s.start_cycle, s.done_cycle});
  }
  std::sort(spans.begin(), spans.end());
  EXPECT_EQ(spans, (std::vector<std::array<uint64_t, 5>>{{0, 0, 7, 7, 7},
                                                         {0, 1, 9, 9, 9},
                                                         {0, 2, 11, 11, 11},
                                                         {1, 0, 9, 9, 22},
                                                         {2, 1, 11, 23, 42},
                                                         {2, 2, 43, 43, 43}}));
  EXPECT_EQ(recorder.tokens, (std::vector<std::array<uint64_t, 4>>{{0, 22, 1, 23}}));
}

std::string message(const std::vector<Instruction>& instructions, const OverlayHardware& h = hardware()) {
  try {
    run(h, instructions, "ideal");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CycleSimulator, ErrorsNameTheInstruction) {
  EXPECT_NE(
      message({load(MemoryType::kInput, 0, 100, 100), FinishInstruction{}}).find("instruction 0 (LOAD)"),
      std::string::npos);
  GemmInstruction outside = gemm();
  outside.loop.dst_factor_out = 2000;
  EXPECT_NE(message({gemm(), outside, FinishInstruction{}}).find("instruction 1 (GEMM)"), std::string::npos);
  GemmInstruction waiting = gemm();
  waiting.dependencies.pop_prev = true;
  const std::string deadlock = message({gemm(), waiting, gemm(), FinishInstruction{}});
  EXPECT_NE(deadlock.find("instruction 1 (compute queue): deadlock: it waits for a token on load->compute"),
            std::string::npos)
      << deadlock;
}

// FINISH does not wait for the load module, but the run does.
TEST(CycleSimulator, ALoadThatWaitsForEverIsADeadlock) {
  MemoryInstruction waiting = load(MemoryType::kInput, 16, 1, 4);
  waiting.dependencies.pop_next = true;
  const std::vector<Instruction> program = {waiting, FinishInstruction{}};
  EXPECT_NE(message(program).find("instruction 0 (load queue): deadlock"), std::string::npos);
  std::vector<std::byte> dram = dram_of(hardware(), program);
  EXPECT_THROW(CycleReference(hardware(), {}).run(dram, kProgram, program.size()), Error);
}

// The push that compute waits for comes after more instructions than its queue holds.
TEST(CycleSimulator, FullQueueCanBeADeadlock) {
  std::vector<Instruction> program;
  GemmInstruction waiting = gemm();
  waiting.dependencies.pop_prev = true;
  program.assign(4, gemm());
  program[0] = waiting;
  MemoryInstruction push = load(MemoryType::kInput, 16, 1, 4);
  push.dependencies.push_next = true;
  program.push_back(push);
  program.push_back(FinishInstruction{});
  EXPECT_EQ(message(program), "no error");
  OverlayHardware small = hardware();
  small.command_queue_depth = 2;
  const std::string text = message(program, small);
  EXPECT_NE(text.find("instruction 0 (compute queue): deadlock"), std::string::npos) << text;
  EXPECT_NE(text.find("command_queue_depth over 2"), std::string::npos) << text;
}

TEST(CycleSimulator, The256thTokenIsAnError) {
  GemmInstruction pushing = gemm();
  pushing.dependencies.push_prev = true;
  std::vector<Instruction> program(255, pushing);
  program.push_back(FinishInstruction{});
  EXPECT_EQ(message(program), "no error");
  program.insert(program.begin(), pushing);
  EXPECT_NE(message(program).find("instruction 255: pushes the 256th token on compute->load"),
            std::string::npos)
      << message(program);
}

TEST(CycleSimulator, RefusesAnUnalignedProgramAndABadMemory) {
  std::vector<std::byte> dram(65536);
  CycleSimulator simulator(hardware(), MemoryModel{});
  EXPECT_THROW(simulator.run(dram, 8, 1), Error);
  MemoryModel bad;
  bad.beat_interval = 0;
  EXPECT_THROW(CycleSimulator(hardware(), bad), Error);
}

}  // namespace
}  // namespace tilewright::overlay
