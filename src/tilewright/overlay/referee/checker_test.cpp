#include "tilewright/overlay/referee/checker.h"

#include <gtest/gtest.h>

#include "support/overlay/random_program_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

constexpr const char* kClean =
    ".uops\n"
    "dst=0\n"
    "dst=4 src=4 wgt=1\n"
    "dst=8 src=8\n"
    ".instructions\n"
    "load.uop dram=1024 rows=1 columns=3 stride=3\n"
    "load.inp rows=1 columns=12 stride=12\n"
    "load.wgt dram=8 rows=1 columns=2 stride=2 push_next\n"
    "gemm reset uops=0..1 loop=1,4 dst=0,1 pop_prev\n"
    "gemm uops=0..1 loop=1,4 dst=0,1 src=0,1 push_prev\n"
    "alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1 push_next\n"
    "store.out dram=640 rows=1 columns=4 stride=4 pop_prev push_prev\n"
    "load.inp pop_next\n"
    "load.uop pop_next\n"
    "finish\n";

struct Found {
  std::string errors, warnings;
  size_t error_count = 0;
};

Found check(const std::string& text, IsaVersion isa = IsaVersion::kVta, uint64_t memory_bytes = 1 << 16) {
  OverlayHardware hardware;
  hardware.isa = isa;
  const AssembledProgram program = assemble(hardware, text);
  Diagnostics diagnostics;
  check_program(hardware, {program.instructions, program.uops, 4096, memory_bytes}, diagnostics);
  Found found;
  for (const Diagnostic& d : diagnostics.errors()) found.errors += to_string(d) + "\n";
  for (const Diagnostic& d : diagnostics.warnings()) found.warnings += to_string(d) + "\n";
  found.error_count = diagnostics.errors().size();
  return found;
}

// The clean program with `from` replaced by `to`.
Found changed(const std::string& from, const std::string& to, IsaVersion isa = IsaVersion::kVta) {
  std::string text = kClean;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  if (isa == IsaVersion::kWide) text.replace(text.find("dram=1024"), 9, "dram=512");
  return check(text, isa);
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nnot in\n" << text;
}

TEST(Checker, CleanProgramHasNothingToReport) {
  const Found found = check(kClean);
  EXPECT_EQ(found.errors, "");
  EXPECT_EQ(found.warnings, "");
}

TEST(Checker, StreamProblems) {
  const OverlayHardware hardware;
  const std::vector<std::byte> odd(17), unknown(16, std::byte{7});
  Diagnostics diagnostics;
  check_program(hardware, {odd, {}, 0, 0}, diagnostics);
  expect_contains(diagnostics.errors().at(0).message, "17 bytes are not a whole number of instructions");
  Diagnostics codes;
  check_program(hardware, {unknown, {}, 0, 0}, codes);
  expect_contains(to_string(codes.errors().at(0)),
                  "instruction 0 'raw 0x0707070707070707 0x0707070707070707'");
  expect_contains(codes.errors().at(0).message, "cannot be decoded: unknown opcode 7");
  expect_contains(changed("finish\n", "").errors, "the last instruction is not FINISH");
  expect_contains(changed("load.uop pop_next\n", "finish\n").errors, "FINISH is not the last instruction");
  expect_contains(changed("load.uop pop_next\nfinish", "finish pop_next").errors, "FINISH carries a pop");
}

TEST(Checker, AccessesOutOfRange) {
  expect_contains(changed("load.inp rows=1", "load.inp sram=2040 rows=1").errors,
                  "instruction 1 'load.inp sram=2040 rows=1 columns=12 stride=12' (sram_base): out of range: "
                  "index reaches "
                  "2051 of a scratchpad of 2048");
  expect_contains(changed("store.out", "store.out sram=2046").errors,
                  "(sram_base): out of range: index reaches 2049");
  expect_contains(changed("dram=640", "dram=4095").errors,
                  "(dram_base): out of range: reaches byte 65584 of a memory");
  expect_contains(changed("load.inp rows", "load.inp dram=4090 rows").errors, "reaches byte 65632");
  expect_contains(changed("dst=0,1 src=0,1 push_prev", "dst=0,700 src=0,1 push_prev").errors,
                  "(dst): out of range: index reaches 2100");
  expect_contains(changed("dst=0,1 src=0,1 push_prev", "dst=0,1 src=0,700 push_prev").errors,
                  "(src): out of range");
  expect_contains(changed("src=0,1 push_prev", "src=0,1 wgt=0,700 push_prev").errors,
                  "(wgt): out of range: index reaches 2100 of a scratchpad of 1024");
  expect_contains(changed("uops=0..1 loop=1,4 dst=0,1 src=0,1 push_prev", "uops=0..9000 push_prev").errors,
                  "(uop_end): out of range: index reaches 8999");
  expect_contains(changed("alu.shr use_imm imm=8", "alu.shr").errors +
                      changed("alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1",
                              "alu.add uops=0..1 loop=1,4 dst=0,1 src=0,700")
                          .errors,
                  "(src): out of range: index reaches 2100");
  expect_contains(
      changed("loop=1,4 dst=0,1 src=0,1 push_next", "loop=1,4 dst=0,700 src=0,700 push_next").errors,
      "(dst): out of range");
}

TEST(Checker, MicroOps) {
  expect_contains(changed("dram=1024 rows=1 columns=3", "dram=1025 rows=1 columns=3").errors,
                  "loads micro-ops from outside of the micro-op image");
  expect_contains(changed("gemm uops=0..1 loop=1,4", "gemm uops=0..6 loop=1,4").errors,
                  "uses micro-ops that were never loaded: micro-op 3");
  expect_contains(changed("gemm uops=0..1 loop=1,4", "gemm uops=1..1 loop=1,4").errors,
                  "(uop_end): empty GEMM");
  expect_contains(changed("imm=8 uops=0..1 loop=1,4", "imm=8 uops=0..1 loop=0,4").errors,
                  "(iter_out, iter_in): empty ALU");
}

TEST(Checker, MemoryTypes) {
  expect_contains(changed("store.out dram=640", "store.acc dram=640").errors, "cannot be stored: acc");
  expect_contains(changed("load.inp rows=1 columns=12", "load.out rows=1 columns=12").errors,
                  "cannot be loaded: out");
  // The public runtime's no-operation of the store queue; where nothing is moved the type means nothing.
  EXPECT_EQ(changed("store.out dram=640", "store.uop pad=1,2,3,4\nstore.out dram=640").errors, "");
  EXPECT_EQ(changed("load.inp rows=1 columns=12", "load.wgt dram=9\nload.inp rows=1 columns=12").errors, "");
}

TEST(Checker, Tokens) {
  expect_contains(changed("push_next\ngemm", "\ngemm").errors,
                  "deadlock: the compute queue waits for a token on load->compute that nothing will push");
  expect_contains(changed("load.inp pop_next\n", "").errors, "tokens are left at FINISH: 1 on compute->load");
  expect_contains(
      changed("columns=2 stride=2 push_next", "columns=2 stride=2 push_next push_prev pop_prev").warnings,
      "(pop_prev): the load module has no neighbour for pop_prev");
  expect_contains(changed("pop_prev push_prev", "pop_prev push_prev push_next").warnings,
                  "the store module has no neighbour for push_next");
  expect_contains(changed("stride=4 pop_prev push_prev\nload.inp pop_next\nload.uop pop_next\n",
                          "stride=4 pop_prev\nload.inp pop_next\n")
                      .errors,
                  "FINISH does not wait for all stores: instruction 6 may still be running");
  std::string many, pops;
  for (int i = 0; i < 256; ++i) many += "load.inp push_next\n", pops += "load.uop pop_prev\n";
  expect_contains(changed("load.inp pop_next\n", "load.inp pop_next\n" + many + pops).errors,
                  "(push): more than 255 tokens are outstanding: on load->compute");
}

TEST(Checker, FullCommandQueuesDeadlock) {
  // 600 loads wait for a token that compute pushes after them in the stream.
  std::string loads;
  for (int i = 0; i < 600; ++i) loads += i == 0 ? "load.inp pop_next\n" : "load.inp\n";
  const Found found = check(".instructions\n" + loads + "load.uop push_prev\nfinish\n");
  expect_contains(found.errors, "deadlock with command queues of 512");
  EXPECT_EQ(check(".instructions\nload.uop push_prev\n" + loads + "finish\n").errors, "");
}

TEST(Checker, ShorterCommandQueuesDeadlockEarlier) {
  const std::string text =
      ".instructions\nload.inp\nload.inp pop_next\nload.inp\nload.inp\nload.uop push_prev\nfinish\n";
  EXPECT_EQ(check(text).errors, "");
  OverlayHardware hardware;
  hardware.command_queue_depth = 1;
  const AssembledProgram program = assemble(hardware, text);
  Diagnostics diagnostics;
  check_program(hardware, {program.instructions, program.uops, 4096, 1 << 16}, diagnostics);
  ASSERT_FALSE(diagnostics.ok());
  expect_contains(to_string(diagnostics.errors().at(0)), "deadlock with command queues of 1");
}

// Against running: nothing but tokens moves.
TEST(CheckerClass, DeadlocksAreThoseOfTheCycleSimulator) {
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t deadlocks = 0;
  for (int64_t n = 0; n < cases; ++n) {
    OverlayHardware hardware;
    hardware.name = "short queues";
    hardware.command_queue_depth = 1 << random.between(0, 2);
    std::vector<std::byte> code;
    const int64_t count = random.between(1, 14);
    for (int64_t k = 0; k < count; ++k) {
      MemoryInstruction nothing;
      nothing.memory_type = random.chance(0.5) ? MemoryType::kInput : MemoryType::kUop;
      nothing.is_store = random.chance(0.3);
      nothing.dependencies = {random.chance(0.3), random.chance(0.3), random.chance(0.5), random.chance(0.5)};
      encode(hardware, nothing, code);
    }
    encode(hardware, FinishInstruction{}, code);
    Diagnostics diagnostics;
    check_program(hardware, {code, {}, 0, 1 << 16}, diagnostics);
    bool expected = false, found = false;
    for (const Diagnostic& problem : diagnostics.errors()) {
      found = found || problem.message.starts_with("deadlock");
    }
    std::vector<std::byte> memory(1 << 16);
    std::copy(code.begin(), code.end(), memory.begin() + 4096);
    try {
      CycleSimulator(hardware, MemoryModel{}).run(memory, 4096, uint64_t(count) + 1);
    } catch (const Error& error) {
      expected = std::string(error.what()).find("deadlock") != std::string::npos;
      EXPECT_TRUE(expected) << error.what();
    }
    ASSERT_EQ(found, expected) << "case " << n;
    deadlocks += expected;
  }
  EXPECT_GT(deadlocks, cases / 10);
  EXPECT_LT(deadlocks, cases * 9 / 10);
}

TEST(Checker, Races) {
  expect_contains(
      changed("stride=2 push_next\n", "stride=2\nload.inp push_next\n").errors +
          changed("dst=0,1 pop_prev", "dst=0,1").errors,
      "race on inp: reads element 0, which load instruction 1 writes, and no token orders the two");
  expect_contains(changed("dst=0,1 pop_prev", "dst=0,1").errors, "race on wgt: reads element 0");
  expect_contains(changed("stride=4 pop_prev push_prev", "stride=4 push_prev").errors,
                  "race on acc: reads element 0, which compute instruction 5 writes");
  expect_contains(changed("load.inp pop_next\n", "load.inp rows=1 columns=1\nload.inp pop_next\n").errors,
                  "instruction 4 'gemm uops=0..1 loop=1,4 dst=0,1 src=0,1 push_prev': race on inp: reads "
                  "element 0, which load instruction 7 writes");
  expect_contains(changed("load.uop pop_next\n", "load.acc rows=1 columns=1\nload.uop pop_next\n").errors,
                  "instruction 6 'store.out dram=640 rows=1 columns=4 stride=4 pop_prev push_prev': race on "
                  "acc: reads element 0, which compute instruction 8 writes");
  expect_contains(
      changed("load.uop pop_next\n", "load.acc sram=100 dram=160 rows=1 columns=1\nload.uop pop_next\n")
          .errors,
      "race on DRAM: writes bytes that compute instruction 8 reads, and no token orders the two");
  EXPECT_EQ(changed("load.uop pop_next\n", "load.uop pop_next\nload.acc sram=100 dram=160 rows=1 columns=1\n")
                .errors,
            "");
}

TEST(Checker, Warnings) {
  expect_contains(changed("store.out dram=640", "store.out sram=20 dram=640").warnings,
                  "stores accumulators that nothing wrote");
  for (const std::string pad : {"1,0,0,0", "0,1,0,0", "0,0,1,0", "0,0,0,1"}) {
    expect_contains(changed("store.out dram=640", "store.out pad=" + pad + " dram=640").warnings,
                    "a STORE has no padding");
  }
  expect_contains(changed("load.inp rows=1 columns=12", "load.inp rows=1 columns=3").warnings,
                  "reads inputs or weights that nothing wrote");
  expect_contains(
      changed("gemm reset uops=0..1 loop=1,4 dst=0,1 pop_prev\ngemm uops=0..1 loop=1,4 dst=0,1 src=0,1",
              "load.uop pop_prev\nload.uop")
          .warnings,
      "reads accumulators that nothing wrote");
  expect_contains(
      changed("gemm reset uops=0..1 loop=1,4 dst=0,1 pop_prev", "load.uop pop_prev").warnings,
      "instruction 4 'gemm uops=0..1 loop=1,4 dst=0,1 src=0,1 push_prev' (dst): reads accumulators "
      "that nothing wrote; reset them first");
  const std::string huge =
      changed("gemm uops=0..1 loop=1,4 dst=0,1 src=0,1", "gemm uops=0..3 loop=16383,16383").warnings;
  expect_contains(huge, "too many iterations to follow element by element: 805208067");
}

TEST(Checker, NotPortable) {
  const auto warns = [](const char* from, const char* to, const char* text) {
    const Found found = changed(from, to);
    EXPECT_EQ(found.errors, "") << to;
    expect_contains(found.warnings, std::string("not portable: ") + text);
  };
  warns("imm=8", "imm=16", "a shift by an amount outside of -16..15");
  warns("imm=8", "imm=-17", "a shift by an amount outside of -16..15");
  warns("alu.shr use_imm imm=8", "alu.mul use_imm imm=8", "mul is missing");
  warns("alu.shr", "load.acc8 sram=64 rows=1 columns=1\nalu.shr", "ACC_8BIT loads");
  warns("columns=2 stride=2", "columns=2 stride=2 pad=0,0,0,1", "padding of wgt loads is ignored");
  warns("columns=3 stride=3", "columns=3 stride=3 pad=0,0,0,1", "padding of uop loads is ignored");
  warns("rows=1 columns=3 stride=3", "rows=3 columns=1 stride=1", "UOP loads have one row");
  warns("load.inp pop_next", "load.inp pad=1,1,1,1 pop_next", "a LOAD of no columns with padding");
  warns("load.inp pop_next", "load.inp columns=1 pop_next", "a LOAD of no rows");
  warns("dst=0,1 src=0,1 push_next", "dst=0,1 push_next", "an immediate ALU step reads src");
  warns("loop=1,4 dst=0,1 src=0,1 push_prev", "loop=1,4 src=0,1 push_prev",
        "a GEMM dst is used again within 2 micro-ops");
  warns("imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1", "imm=8 uops=0..1 loop=1,4",
        "an ALU step reads what the step before");
  warns("alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1", "load.acc rows=1 columns=4",
        "stores accumulators that no GEMM or ALU wrote");
  warns("gemm uops=0..1 loop=1,4 dst=0,1 src=0,1 push_prev\nalu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1",
        "load.uop push_prev\ngemm reset uops=0..1 loop=1,4 dst=0,1",
        "stores accumulators that no GEMM or ALU wrote since they were loaded or reset");
  EXPECT_EQ(changed("imm=8", "imm=16", IsaVersion::kWide).warnings, "");
}

TEST(Checker, WideOnly) {
  EXPECT_EQ(changed("imm=8", "imm=8", IsaVersion::kWide).errors, "");
  expect_contains(changed("alu.shr use_imm imm=8", "alu.clip clip=5,-5", IsaVersion::kWide).errors,
                  "clip_low is above clip_high: 5 > -5");
  expect_contains(changed("alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1",
                          "alu.requantize uops=0..1 loop=1,4 dst=0,1 src=0,682", IsaVersion::kWide)
                      .errors,
                  "(src): out of range: index reaches 2048");
}

TEST(Checker, ARequantisingStepReadsThreeParameters) {
  for (int columns = 1; columns <= 4; ++columns) {
    const Found found = changed("alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1",
                                "load.acc sram=4 dram=100 rows=1 columns=" + std::to_string(columns) +
                                    "\nalu.requantize uops=1..2 loop=1,1",
                                IsaVersion::kWide);
    EXPECT_EQ(found.warnings.find("reads accumulators that nothing wrote") == std::string::npos, columns >= 3)
        << columns << "\n"
        << found.errors << found.warnings;
  }
}

// A micro-op that overwrites reads no accumulator.
TEST(Checker, OverwrittenAccumulatorsNeedNoReset) {
  const auto warnings = [](const std::string& mark) {
    return check(".uops\ndst=0" + mark +
                     "\n.instructions\nload.uop dram=512 rows=1 columns=1\nload.inp rows=1 columns=1\n"
                     "load.wgt rows=1 columns=1 push_next\ngemm uops=0..1 loop=1,1 pop_prev\nfinish\n",
                 IsaVersion::kWide)
        .warnings;
  };
  expect_contains(warnings(""), "(dst): reads accumulators that nothing wrote");
  EXPECT_EQ(warnings(" overwrite"), "");
}

TEST(Checker, BipolarNeedsOneBitInputs) {
  expect_contains(changed("src=0,1 push_prev", "src=0,1 bipolar push_prev", IsaVersion::kWide).warnings,
                  "(bipolar): bipolar has no meaning with inputs of 8 bits");
}

// What the checker says to `gemm` after an ALU instruction on the lower half of ACC.
std::string beside_alu(const std::string& gemm, bool field = true) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.gemm_beside_alu = field;
  const std::string text =
      ".uops\ndst=0\ndst=1024\n.instructions\nload.uop dram=512 rows=1 columns=2 stride=2\n"
      "load.inp rows=1 columns=1\nload.wgt rows=1 columns=1 push_next\n"
      "gemm reset uops=0..2 loop=1,4 dst=0,1 pop_prev\n"
      "alu.shr use_imm imm=8 uops=0..1 loop=1,4 dst=0,1 src=0,1\n" +
      gemm + "\nfinish\n";
  const AssembledProgram program = assemble(hardware, text);
  Diagnostics diagnostics;
  check_program(hardware, {program.instructions, program.uops, 4096, 1 << 16}, diagnostics);
  std::string errors;
  for (const Diagnostic& d : diagnostics.errors()) errors += to_string(d) + "\n";
  return errors;
}

TEST(Checker, GemmBesideAluNeedsItsOwnHalf) {
  EXPECT_EQ(beside_alu("gemm uops=1..2 loop=1,4 dst=0,1 beside_alu"), "");
  expect_contains(beside_alu("gemm uops=0..1 loop=1,1 dst=0,1 beside_alu"), "uses that one's half of ACC");
  expect_contains(beside_alu("gemm uops=0..2 loop=1,1 dst=0,1 beside_alu"), "uses that one's half of ACC");
  expect_contains(beside_alu("gemm uops=1..2 loop=1,4 dst=0,1 beside_alu\n"
                             "gemm uops=0..1 loop=1,4 dst=0,1 beside_alu"),
                  "instruction 6");
  // Nothing overlaps: no bit, something in between, or hardware that ignores it.
  EXPECT_EQ(beside_alu("gemm uops=0..1 loop=1,1 dst=0,1"), "");
  EXPECT_EQ(beside_alu("load.uop\ngemm uops=0..1 loop=1,1 dst=0,1 beside_alu"), "");
  EXPECT_EQ(beside_alu("gemm uops=0..1 loop=1,1 dst=0,1 beside_alu", false), "");
}

TEST(Checker, GemmBesideAluMustNotPushToStore) {
  const std::string tail = "\nstore.out dram=640 pop_prev push_prev\nload.uop pop_next";
  expect_contains(beside_alu("gemm uops=1..2 loop=1,4 dst=0,1 beside_alu push_next" + tail),
                  "a GEMM beside an ALU instruction pushes to store");
  EXPECT_EQ(beside_alu("gemm uops=1..2 loop=1,4 dst=0,1 push_next" + tail), "");
}

TEST(Checker, ManyOfAKindAreCounted) {
  std::string loads;
  for (int i = 0; i < 30; ++i) loads += "load.inp sram=2048 rows=1 columns=1\n";
  const Found found = check(".instructions\n" + loads + "finish\n");
  EXPECT_EQ(found.error_count, 11u);
  expect_contains(found.errors, ": 20 more like this: out of range");
}

// Anything may come in; the checker must say something or nothing, and return.
TEST(Checker, SurvivesMutatedPrograms) {
  const uint64_t seed = 11;
  Random random(seed);
  const std::vector<OverlayHardware> overlays = varied_overlays();
  for (int trial = 0; trial < 200; ++trial) {
    const OverlayHardware& hardware = overlays[size_t(trial) % overlays.size()];
    RandomProgram program = random_program(hardware, random, 10);
    for (int64_t edit = random.between(0, 4); edit > 0; --edit) {
      program.dram[size_t(random.between(int64_t(program.address), int64_t(program.dram.size()) - 1))] ^=
          std::byte(1 << random.between(0, 7));
    }
    const std::span<const std::byte> memory = program.dram;
    Diagnostics diagnostics;
    check_program(hardware, {memory.subspan(program.address), memory, 0, memory.size()}, diagnostics);
  }
}

TEST(Checker, ChecksRawPrograms) {
  RawProgram program;
  const AssembledProgram code = assemble(program.hardware, kClean);
  program.memory_bytes = 1 << 16;
  program.load = {{"uops.bin", 4096, code.uops}, {"code.bin", 32768, code.instructions}};
  program.instruction_address = 32768;
  program.instruction_count = code.instructions.size() / 16;
  Diagnostics diagnostics;
  check_program(program, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << to_string(diagnostics.errors().at(0));
  program.memory_bytes = 32768;
  check_program(program, diagnostics);
  ASSERT_FALSE(diagnostics.ok());
  expect_contains(to_string(diagnostics.errors()[0]), "do not fit in a memory of 32768");
}

}  // namespace
}  // namespace tilewright::overlay
