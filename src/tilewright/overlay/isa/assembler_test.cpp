#include "tilewright/overlay/isa/assembler.h"

#include <gtest/gtest.h>

#include "support/overlay/random_program_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

std::string error_of(const std::string& text, IsaVersion isa = IsaVersion::kVta) {
  OverlayHardware hardware;
  hardware.isa = isa;
  try {
    assemble(hardware, text, "a.s");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Assembler, ReadsWhatTheHeaderShows) {
  const OverlayHardware hardware;
  const AssembledProgram program =
      assemble(hardware,
               ".uops ; micro-ops\n"
               "  dst=0 src=16 wgt=3\n"
               ".instructions\n"
               "  load.inp sram=1 dram=0x40 rows=6 columns=56 stride=57 pad=1,2,3,4 pop_next push_next\n"
               "  gemm uops=0..36 loop=4,56 dst=56,1 src=58,2 wgt=7,8 pop_prev\n"
               "  alu.shr use_imm imm=-8 uops=36..40\n"
               "  finish\n");
  EXPECT_TRUE(decode_uop(hardware, program.uops) == (MicroOp{0, 16, 3, false}));
  const std::span<const std::byte> bytes = program.instructions;
  ASSERT_EQ(bytes.size(), 64u);
  MemoryInstruction load{false, {false, true, false, true}, MemoryType::kInput, 1, 64, 6, 56, 57, 1, 2, 3, 4,
                         0};
  EXPECT_TRUE(decode_instruction(hardware, bytes) == Instruction(load));
  GemmInstruction gemm{{true, false, false, false}, false, {0, 36, 4, 56, 56, 1, 58, 2, 7, 8}};
  EXPECT_TRUE(decode_instruction(hardware, bytes.subspan(16)) == Instruction(gemm));
  AluInstruction alu;
  alu.opcode = AluOpcode::kShr;
  alu.use_imm = true;
  alu.imm = -8;
  alu.loop.uop_begin = 36;
  alu.loop.uop_end = 40;
  EXPECT_TRUE(decode_instruction(hardware, bytes.subspan(32)) == Instruction(alu));
  EXPECT_EQ(disassemble(hardware, program.instructions, program.uops),
            ".uops\n  src=16 wgt=3  ; 0\n.instructions\n"
            "  load.inp sram=1 dram=64 rows=6 columns=56 stride=57 pad=1,2,3,4 pop_next push_next  ; 0\n"
            "  gemm uops=0..36 loop=4,56 dst=56,1 src=58,2 wgt=7,8 pop_prev  ; 1\n"
            "  alu.shr imm=-8 uops=36..40 use_imm  ; 2\n"
            "  finish  ; 3\n");
}

TEST(Assembler, RowFunctionsNeedTheirHardware) {
  const std::string text =
      ".instructions\n  load.wgt_rows sram=1 dram=2 rows=16 columns=4 stride=8  ; 0\n"
      "  load.wgt_columns dram=2 rows=16 columns=4 stride=8  ; 1\n"
      "  load.tbl32 rows=1 columns=256 stride=256  ; 2\n"
      "  alu.lookup_wide clip=-255,0 uops=0..1  ; 3\n"
      "  alu.row_max imm=16 uops=0..1  ; 4\n"
      "  alu.row_divide imm=2883600 clip=7,9 uops=0..1  ; 5\n"
      "  alu.row_norm imm=1048592 uops=0..1  ; 6\n";
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.lookup_table = hardware.row_functions = true;
  const AssembledProgram program = assemble(hardware, text, "a.s");
  EXPECT_EQ(disassemble(hardware, program.instructions, {}), text);
  const std::string problems = error_of(text, IsaVersion::kWide);
  for (const char* name : {"load.wgt_rows", "load.wgt_columns", "load.tbl32", "alu.lookup_wide",
                           "alu.row_max", "alu.row_divide", "alu.row_norm"}) {
    expect_contains(problems, std::string("(") + name + "): unknown instruction");
  }
}

TEST(Assembler, RandomProgramsRoundTrip) {
  const uint64_t seed = 3;
  Random random(seed);
  for (const OverlayHardware& hardware : varied_overlays()) {
    const RandomProgram program = random_program(hardware, random, 200);
    const std::span<const std::byte> memory = program.dram;
    const auto code = memory.subspan(program.address, program.count * size_t(hardware.instruction_bytes()));
    const auto uops = memory.first(size_t(64 * hardware.uop_bytes()));
    const std::string text = disassemble(hardware, code, uops);
    EXPECT_EQ(text.find("raw"), std::string::npos) << "seed " << seed;
    const AssembledProgram back = assemble(hardware, text);
    EXPECT_TRUE(std::equal(code.begin(), code.end(), back.instructions.begin(), back.instructions.end()))
        << text;
    EXPECT_TRUE(std::equal(uops.begin(), uops.end(), back.uops.begin(), back.uops.end())) << text;
  }
}

TEST(Assembler, AnyBytesRoundTrip) {
  const uint64_t seed = 4;
  Random random(seed);
  for (const OverlayHardware& hardware : varied_overlays()) {
    std::vector<std::byte> code(size_t(100 * hardware.instruction_bytes())),
        uops(size_t(100 * hardware.uop_bytes()));
    for (std::byte& byte : code) byte = std::byte(random.next());
    for (std::byte& byte : uops) byte = std::byte(random.next());
    const AssembledProgram back = assemble(hardware, disassemble(hardware, code, uops));
    EXPECT_TRUE(back.instructions == code) << "seed " << seed;
    EXPECT_TRUE(back.uops == uops) << "seed " << seed;
  }
}

TEST(Assembler, ProblemsAreNamedWithTheirLines) {
  const std::string error = error_of(
      "finish\n"
      ".data\n"
      ".uops\n"
      "dst=2048 src=x\n"
      "raw 0x100000000\n"
      ".instructions\n"
      "jump\n"
      "load.inp sram=65536 speed=3 fast\n"
      "gemm uops=1,2 loop=4\n"
      "alu.add imm=40000 imm=1\n"
      "raw 0x1\n"
      "raw 1 zz\n");
  for (const char* part :
       {"a.s:1 (finish): stands before the first section", "a.s:2 (.data): unknown section",
        "a.s:4 (dst): 2048 is outside of 0..2047", "a.s:4 (src): 'x' is not a number",
        "a.s:5 (raw): '0x100000000' is not a word", "a.s:7 (jump): unknown instruction",
        "a.s:8 (sram): 65536 is outside of 0..65535", "a.s:8 (speed): unknown field; known here: sram, dram",
        "a.s:8 (fast): unknown field", "a.s:9 (uops): has 1 values, 2 separated by '..' are needed",
        "a.s:9 (loop): has 1 values, 2", "a.s:10 (imm): 40000 is outside of -32768..32767",
        "a.s:10 (imm): is given twice", "a.s:11 (raw): 1 words are given, 2 are needed",
        "a.s:12 (raw): 'zz' is not a word"}) {
    expect_contains(error, part);
  }
  expect_contains(error_of(".instructions\nalu.clip clip=1,2"), "a.s:2 (alu.clip): unknown instruction");
  EXPECT_EQ(error_of(".instructions\nalu.clip clip=1,2\nload.acc pad_value=-5", IsaVersion::kWide),
            "no error");
  const std::vector<std::byte> odd(17);
  EXPECT_THROW(disassemble(OverlayHardware{}, odd, {}), Error);
}

TEST(Assembler, SurvivesMutations) {
  const uint64_t seed = 5;
  Random random(seed);
  const OverlayHardware hardware = varied_overlays()[2];
  const RandomProgram program = random_program(hardware, random, 20);
  const std::span<const std::byte> memory = program.dram;
  const std::string text = disassemble(hardware, memory.subspan(program.address, 20 * 32), memory.first(64));
  int rejected = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::string mutated = text;
    for (int64_t edit = random.between(1, 5); edit > 0; --edit) {
      mutated[size_t(random.between(0, int64_t(mutated.size()) - 1))] = char(random.next());
    }
    try {
      assemble(hardware, mutated);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 500);
}

}  // namespace
}  // namespace tilewright::overlay
