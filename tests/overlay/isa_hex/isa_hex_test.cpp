// The hex here was computed by hand from the field tables of the public instruction set (bit numbers in
// docs/reference/isa.md), never by encode(). It decodes to the stated fields, encodes back, and runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/overlay/isa/isa.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/referee/raw_program.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

struct Example {
  uint64_t word_0, word_1;
  Instruction instruction;
};

constexpr bool kStore = true, kLoad = false, kReset = true, kImmediate = true;
using Memory = MemoryInstruction;
using Gemm = GemmInstruction;
using Alu = AluInstruction;

// {pop_prev, pop_next, push_prev, push_next}; memory: sram, dram, rows, columns, stride, pads; loops: uops,
// iterations, factors of dst, src and wgt (outer, inner).
const Example kExamples[] = {
    {0x0000001000000000, 0x0000000100010001, Memory{kLoad, {}, MemoryType::kUop, 0, 0x400, 1, 1, 1}},
    {0x03fffffffc7ffc00, 0x0000000100010001, Memory{kLoad, {}, MemoryType::kUop, 8191, 0xffffffff, 1, 1, 1}},
    {0x0000048d140800d0, 0x0000009000240008,
     Memory{kLoad, {0, 1, 0, 1}, MemoryType::kWeight, 512, 0x12345, 8, 36, 144}},
    {0x000002af34100110, 0x1101003800380006,
     Memory{kLoad, {0, 1, 0, 0}, MemoryType::kInput, 1024, 0xabcd, 6, 56, 56, 1, 0, 1, 1}},
    {0x000000001c000d00, 0xcdefffff0001ffff,
     Memory{kLoad, {}, MemoryType::kInput, 3, 7, 65535, 1, 65535, 15, 14, 13, 12}},
    {0x00000002000e0180, 0x0000000400040001, Memory{kLoad, {}, MemoryType::kAccumulator, 896, 0x80, 1, 4, 4}},
    {0x00000000041ffe80, 0x0000000500030002, Memory{kLoad, {}, MemoryType::kAccumulator8, 2047, 1, 2, 3, 5}},
    {0x0000000000000150, 0x0000000000000000, Memory{kLoad, {0, 1, 0, 1}, MemoryType::kInput}},
    {0x0000000000000078, 0x0000000000000000, Memory{kLoad, {1, 1, 1, 1}, MemoryType::kUop}},
    {0x0000000c00000229, 0x00000c4000e00004,
     Memory{kStore, {1, 0, 1, 0}, MemoryType::kOutput, 0, 0x300, 4, 224, 3136}},
    {0x0200000000100201, 0x0000000100010001,
     Memory{kStore, {}, MemoryType::kOutput, 1024, 0x80000000, 1, 1, 1}},
    {0x0000000000000209, 0x0000000000000000, Memory{kStore, {1, 0, 0, 0}, MemoryType::kOutput}},
    {0x0002000800200002, 0x0000000000000000, Gemm{{}, !kReset, {0, 1, 1, 1}}},
    {0x0070002001200592, 0x0000000000000838, Gemm{{0, 1, 0, 0}, kReset, {5, 9, 4, 56, 56, 1}}},
    {0x007000200500042a, 0x000000020e800838, Gemm{{1, 0, 1, 0}, !kReset, {4, 40, 4, 56, 56, 1, 58, 1}}},
    {0x000e003830806402, 0x0000000407800807, Gemm{{}, !kReset, {100, 388, 7, 7, 7, 1, 30, 2}}},
    {0x0002020001000002, 0x0040800000000001, Gemm{{}, !kReset, {0, 8, 64, 1, 1, 0, 0, 0, 8, 1}}},
    {0x7ffffffc001fff02, 0xffffffffffffffff,
     Gemm{{}, !kReset, {8191, 8192, 16383, 16383, 2047, 2047, 2047, 2047, 1023, 1023}}},
    {0x000800180040017a, 0x0280901001c03005, Gemm{{1, 1, 1, 1}, !kReset, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
    {0x0070002000800004, 0x007f80020e000838,
     Alu{{}, !kReset, {0, 4, 4, 56, 56, 1, 56, 1}, AluOpcode::kMin, kImmediate, 127}},
    {0x0070002000800044, 0x000090020e000838,
     Alu{{0, 0, 0, 1}, !kReset, {0, 4, 4, 56, 56, 1, 56, 1}, AluOpcode::kMax, kImmediate, 0}},
    {0x0070002005802804, 0x0000200000000838,
     Alu{{}, !kReset, {40, 44, 4, 56, 56, 1}, AluOpcode::kAdd, !kImmediate, 0}},
    {0x0070002000800004, 0x0008b0020e000838,
     Alu{{}, !kReset, {0, 4, 4, 56, 56, 1, 56, 1}, AluOpcode::kShr, kImmediate, 8}},
    {0x0002000800200004, 0xfff0b00000000000,
     Alu{{}, !kReset, {0, 1, 1, 1}, AluOpcode::kShr, kImmediate, -16}},
    {0x000a001000600104, 0x0000400602c0100a,
     Alu{{}, !kReset, {1, 3, 2, 5, 10, 2, 11, 3}, AluOpcode::kMul, !kImmediate, 0}},
    {0x0002000800200004, 0x8000a00000000000,
     Alu{{}, !kReset, {0, 1, 1, 1}, AluOpcode::kAdd, kImmediate, -32768}},
    {0x7ffffffc001ffffc, 0x7fff9fffffffffff,
     Alu{{1, 1, 1, 1},
         kReset,
         {8191, 8192, 16383, 16383, 2047, 2047, 2047, 2047},
         AluOpcode::kMax,
         kImmediate,
         32767}},
    {0x0002000800600214, 0x0000300000000000,
     Alu{{0, 1, 0, 0}, !kReset, {2, 3, 1, 1}, AluOpcode::kShr, !kImmediate, 0}},
    {0x0000000000000003, 0x0000000000000000, FinishInstruction{}},
    {0x0000000000000023, 0x0000000000000000, FinishInstruction{{0, 0, 1, 0}}},
};

struct WideExample {
  uint64_t words[4];
  Instruction instruction;
};

// The same for the wide form with scratchpads of 2^12 micro-ops, 2^11 ACC, 2^11 INP and 2^10 WGT elements.
const WideExample kWideExamples[] = {
    // type INP 2<<11, sram 0x12345<<14 | dram, rows<<32, columns<<48 | stride, pads at 32, 40, 48, 56 | value
    {{0x0000000048d150c0, 0x0123000689abcdef, 0x0102030400010000, 0x00000000ffffff80},
     Memory{
         kLoad, {0, 0, 0, 1}, MemoryType::kInput, 0x12345, 0x89abcdef, 6, 0x123, 0x10000, 4, 3, 2, 1, -128}},
    // uops 5<<12 to 9<<24, iter_out 4<<37 | iter_in 56, 16: 56, 27: 1, 38: 58, 49: 2 | 0: 3, 10: 7
    {{0x0000008009005082, 0x00040e8008380038, 0x0000000000001c03, 0},
     Gemm{{}, !kReset, {5, 9, 4, 56, 56, 1, 58, 2, 3, 7}}},
    // move 6<<60 | use_imm 1, imm -2 << 1
    {{0x0000002001000084, 0x6000000000000001, 0x00000001fffffffd, 0},
     Alu{{}, !kReset, {0, 1, 1, 1}, AluOpcode::kMove, kImmediate, -2}},
    // requantize 7<<60 | imm 3 << 1 | clip -128, 127<<32
    {{0x0000002001000084, 0x7000000000000001, 0x0000000000000006, 0x0000007fffffff80},
     Alu{{}, !kReset, {0, 1, 1, 1}, AluOpcode::kRequantize, !kImmediate, 3, -128, 127}},
};

std::vector<std::byte> little_endian(std::span<const uint64_t> words) {
  std::vector<std::byte> bytes;
  for (const uint64_t word : words) append_little_endian(bytes, word, 8);
  return bytes;
}

TEST(IsaHex, ThirtyInstructions) {
  const OverlayHardware hardware;
  ASSERT_EQ(std::size(kExamples), 30u);
  for (size_t i = 0; i < std::size(kExamples); ++i) {
    const Example& example = kExamples[i];
    const std::vector<std::byte> bytes = little_endian(std::array{example.word_0, example.word_1});
    EXPECT_TRUE(decode_instruction(hardware, bytes) == example.instruction) << "example " << i;
    std::vector<std::byte> encoded;
    encode(hardware, example.instruction, encoded);
    EXPECT_TRUE(encoded == bytes) << "example " << i;
  }
}

TEST(IsaHex, WideInstructions) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  for (const WideExample& example : kWideExamples) {
    const ptrdiff_t i = &example - kWideExamples;
    const std::vector<std::byte> bytes = little_endian(example.words);
    EXPECT_TRUE(decode_instruction(hardware, bytes) == example.instruction) << "example " << i;
    std::vector<std::byte> encoded;
    encode(hardware, example.instruction, encoded);
    EXPECT_TRUE(encoded == bytes) << "example " << i;
  }
}

// Hex text: 0x and 2n digits are n bytes of a little-endian number, N*0x.. repeats it, # starts a comment.
std::vector<std::byte> read_hex(const fs::path& path) {
  std::vector<std::byte> bytes;
  std::istringstream lines(read_text_file(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream tokens(line.substr(0, line.find('#')));
    for (std::string token; tokens >> token;) {
      const size_t star = token.find('*');
      const int repeat = star == std::string::npos ? 1 : std::stoi(token.substr(0, star));
      const std::string digits = token.substr(star == std::string::npos ? 2 : star + 3);
      for (int r = 0; r < repeat; ++r)
        append_little_endian(bytes, std::stoull(digits, nullptr, 16), int(digits.size() / 2));
    }
  }
  return bytes;
}

class IsaHexProgram : public testing::TestWithParam<const char*> {};

TEST_P(IsaHexProgram, RunsAndEncodesBack) {
  const fs::path source = fs::path(TILEWRIGHT_SOURCE_DIR) / "tests/overlay/isa_hex" / GetParam();
  const fs::path folder = fs::path(testing::TempDir()) / (std::string("isa_hex_") + GetParam());
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
    if (entry.path().extension() != ".hex") continue;
    write_file(folder / entry.path().filename().replace_extension(".bin"), read_hex(entry.path()));
  }
  fs::copy_file(source / "program.yaml", folder / "program.yaml");
  fs::copy_file(fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware/vta-default.yaml", folder / "vta-default.yaml");

  const RawProgram program = read_raw_program(folder / "program.yaml");
  const std::vector<std::byte> expected = read_hex(source / "expected.hex");
  for (const SimulatorKernel kernel : {SimulatorKernel::kAuto, SimulatorKernel::kScalar}) {
    const RawResult result = execute(program, kernel);
    ASSERT_EQ(result.dump.size(), 1u);
    EXPECT_EQ(result.dump[0], expected);
  }
  Diagnostics diagnostics;
  check_program(program, diagnostics);
  for (const Diagnostic& problem : diagnostics.errors()) ADD_FAILURE() << to_string(problem);

  const std::vector<std::byte> code = read_hex(source / "instructions.hex"),
                               uops = read_hex(source / "uops.hex");
  ASSERT_EQ(code.size(), program.instruction_count * 16);
  std::vector<std::byte> code_again, uops_again;
  for (size_t at = 0; at < code.size(); at += 16) {
    encode(program.hardware, decode_instruction(program.hardware, std::span(code).subspan(at, 16)),
           code_again);
  }
  for (size_t at = 0; at < uops.size(); at += 4) {
    encode(program.hardware, decode_uop(program.hardware, std::span(uops).subspan(at, 4)), uops_again);
  }
  EXPECT_TRUE(code_again == code);
  EXPECT_TRUE(uops_again == uops);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Programs, IsaHexProgram,
                         testing::Values("add_immediate", "convolve_row", "two_threads"));

}  // namespace
}  // namespace tilewright::overlay
