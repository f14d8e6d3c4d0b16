#include "tilewright/overlay/isa/isa.h"

#include <gtest/gtest.h>

#include "support/error_text_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/hardware/encoding_fit.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

// Position as a bit number from the start of the instruction, and the width.
void expect_at(const BitField& field, int first, int last, const char* name) {
  EXPECT_EQ(field.word * 64 + field.shift, first) << name;
  EXPECT_EQ(field.word * 64 + field.shift + field.width - 1, last) << name;
}

TEST(IsaLayout, DefaultPositionsAreTheDocumentedOnes) {
  const IsaLayout layout{OverlayHardware{}};
  expect_at(layout.opcode, 0, 2, "op");
  expect_at(layout.pop_prev, 3, 3, "pop_prev");
  expect_at(layout.pop_next, 4, 4, "pop_next");
  expect_at(layout.push_prev, 5, 5, "push_prev");
  expect_at(layout.push_next, 6, 6, "push_next");
  expect_at(layout.memory.memory_type, 7, 9, "memory_type");
  expect_at(layout.memory.sram_base, 10, 25, "sram_base");
  expect_at(layout.memory.dram_base, 26, 57, "dram_base");
  expect_at(layout.memory.y_size, 64, 79, "y_size");
  expect_at(layout.memory.x_size, 80, 95, "x_size");
  expect_at(layout.memory.x_stride, 96, 111, "x_stride");
  expect_at(layout.memory.y_pad_0, 112, 115, "y_pad_0");
  expect_at(layout.memory.y_pad_1, 116, 119, "y_pad_1");
  expect_at(layout.memory.x_pad_0, 120, 123, "x_pad_0");
  expect_at(layout.memory.x_pad_1, 124, 127, "x_pad_1");
  expect_at(layout.gemm.reset, 7, 7, "reset");
  expect_at(layout.gemm.uop_begin, 8, 20, "uop_begin");
  expect_at(layout.gemm.uop_end, 21, 34, "uop_end");
  expect_at(layout.gemm.iter_out, 35, 48, "iter_out");
  expect_at(layout.gemm.iter_in, 49, 62, "iter_in");
  expect_at(layout.gemm.dst_factor_out, 64, 74, "dst_factor_out");
  expect_at(layout.gemm.dst_factor_in, 75, 85, "dst_factor_in");
  expect_at(layout.gemm.src_factor_out, 86, 96, "src_factor_out");
  expect_at(layout.gemm.src_factor_in, 97, 107, "src_factor_in");
  expect_at(layout.gemm.wgt_factor_out, 108, 117, "wgt_factor_out");
  expect_at(layout.gemm.wgt_factor_in, 118, 127, "wgt_factor_in");
  expect_at(layout.alu.dst_factor_out, 64, 74, "dst_factor_out");
  expect_at(layout.alu.dst_factor_in, 75, 85, "dst_factor_in");
  expect_at(layout.alu.src_factor_out, 86, 96, "src_factor_out");
  expect_at(layout.alu.src_factor_in, 97, 107, "src_factor_in");
  expect_at(layout.alu_opcode, 108, 110, "alu_opcode");
  expect_at(layout.use_imm, 111, 111, "use_imm");
  expect_at(layout.imm, 112, 127, "imm");
  expect_at(layout.uop.dst, 0, 10, "dst");
  expect_at(layout.uop.src, 11, 21, "src");
  expect_at(layout.uop.wgt, 22, 31, "wgt");
}

TEST(IsaLayout, SmallDepthsMoveDstFactorOutIntoWordZero) {
  OverlayHardware hardware;
  hardware.uop_buffer_bytes = 1 << 12;
  hardware.accumulator_buffer_bytes = 1 << 13;  // 7 bits of ACC index, 10 of micro-op index
  const IsaLayout layout(hardware);
  expect_at(layout.gemm.iter_in, 43, 56, "iter_in");
  expect_at(layout.gemm.dst_factor_out, 57, 63, "dst_factor_out");
  expect_at(layout.gemm.dst_factor_in, 64, 70, "dst_factor_in");
  expect_at(layout.alu.dst_factor_out, 57, 63, "dst_factor_out");
}

TEST(IsaLayout, WidePositions) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  const IsaLayout layout(hardware);
  expect_at(layout.version, 7, 10, "version");
  expect_at(layout.memory.memory_type, 11, 13, "memory_type");
  expect_at(layout.memory.sram_base, 14, 45, "sram_base");
  expect_at(layout.memory.dram_base, 64, 95, "dram_base");
  expect_at(layout.memory.y_size, 96, 111, "y_size");
  expect_at(layout.memory.x_size, 112, 127, "x_size");
  expect_at(layout.memory.x_stride, 128, 159, "x_stride");
  expect_at(layout.memory.y_pad_0, 160, 167, "y_pad_0");
  expect_at(layout.memory.x_pad_1, 184, 191, "x_pad_1");
  expect_at(layout.memory.pad_value, 192, 223, "pad_value");
  // 12 bits of micro-op index: 11 + 1 + 12 + 13 + 16 = 53, so iter_in opens word 1.
  expect_at(layout.gemm.iter_out, 37, 52, "iter_out");
  expect_at(layout.gemm.iter_in, 64, 79, "iter_in");
  // iter_in 16, dst and src factors 4 x 11: 60 bits, so the weight factors open word 2.
  expect_at(layout.gemm.wgt_factor_in, 138, 147, "wgt_factor_in");
  expect_at(layout.bipolar, 148, 148, "bipolar");
  expect_at(layout.beside_alu, 149, 149, "beside_alu");
  expect_at(layout.uop.overwrite, 32, 32, "overwrite");
}

TEST(IsaLayout, TooDeepForTheEncodingIsRejected) {
  OverlayHardware hardware;
  hardware.accumulator_buffer_bytes = 1 << 18;
  try {
    IsaLayout layout(hardware);
    FAIL() << "2^18 bytes of ACC have no 128-bit encoding";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    EXPECT_NE(std::string(error.what()).find("GEMM does not fit its encoding"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("4096 accumulators"), std::string::npos) << error.what();
  }
  hardware.isa = IsaVersion::kWide;
  EXPECT_NO_THROW(IsaLayout{hardware});
}

uint32_t random_bits(Random& random, const BitField& field) { return uint32_t(random.next() & field.mask()); }
int32_t random_signed(Random& random, const BitField& field) {
  const uint64_t word[5] = {random.next(), random.next(), random.next(), random.next(), random.next()};
  return int32_t(field.get_signed(word));
}

LoopNest random_loop(Random& random, const IsaLayout::Loop& f) {
  return {random_bits(random, f.uop_begin),      random_bits(random, f.uop_end),
          random_bits(random, f.iter_out),       random_bits(random, f.iter_in),
          random_bits(random, f.dst_factor_out), random_bits(random, f.dst_factor_in),
          random_bits(random, f.src_factor_out), random_bits(random, f.src_factor_in),
          random_bits(random, f.wgt_factor_out), random_bits(random, f.wgt_factor_in)};
}

Instruction random_instruction(Random& random, const IsaLayout& layout) {
  const Dependencies dependencies{random.chance(0.5), random.chance(0.5), random.chance(0.5),
                                  random.chance(0.5)};
  switch (random.between(0, 3)) {
    case 0: {
      const auto& m = layout.memory;
      return MemoryInstruction{random.chance(0.5),
                               dependencies,
                               MemoryType(random.between(0, 5)),
                               random_bits(random, m.sram_base),
                               random_bits(random, m.dram_base),
                               random_bits(random, m.y_size),
                               random_bits(random, m.x_size),
                               random_bits(random, m.x_stride),
                               random_bits(random, m.y_pad_0),
                               random_bits(random, m.y_pad_1),
                               random_bits(random, m.x_pad_0),
                               random_bits(random, m.x_pad_1),
                               random_signed(random, m.pad_value)};
    }
    case 1:
      return GemmInstruction{dependencies, random.chance(0.5), random_loop(random, layout.gemm),
                             random_bits(random, layout.bipolar) != 0,
                             random_bits(random, layout.beside_alu) != 0};
    case 2:
      return AluInstruction{dependencies,
                            random.chance(0.5),
                            random_loop(random, layout.alu),
                            AluOpcode(random.between(0, layout.wide ? 7 : 4)),
                            random.chance(0.5),
                            random_signed(random, layout.imm),
                            random_signed(random, layout.clip_low),
                            random_signed(random, layout.clip_high)};
    default:
      return FinishInstruction{dependencies};
  }
}

OverlayHardware random_hardware(Random& random) {
  OverlayHardware hardware;
  hardware.isa = random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide;
  hardware.batch = 1 << random.between(0, 2);
  hardware.block_in = 1 << random.between(3, 6);
  hardware.block_out = 1 << random.between(3, 6);
  hardware.input_bits = 1 << random.between(1, 3);
  hardware.weight_bits = 1 << random.between(hardware.isa == IsaVersion::kWide ? 0 : 1, 3);
  hardware.output_bits = hardware.input_bits;
  hardware.uop_buffer_bytes = 1 << random.between(8, 16);
  hardware.input_buffer_bytes = hardware.input_bytes() << random.between(4, 12);
  hardware.weight_buffer_bytes = hardware.weight_bytes() << random.between(4, 12);
  hardware.accumulator_buffer_bytes = hardware.accumulator_bytes() << random.between(4, 12);
  return hardware;
}

TEST(Isa, RandomRoundTrips) {
  const uint64_t seed = 20;
  Random random(seed);
  int configurations = 0, moved = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const OverlayHardware hardware = random_hardware(random);
    try {
      const IsaLayout layout(hardware);
      ++configurations;
      if (!layout.wide && layout.gemm.dst_factor_out.word == 0) ++moved;
      for (int i = 0; i < 40; ++i) {
        const Instruction instruction = random_instruction(random, layout);
        std::vector<std::byte> bytes;
        encode(hardware, instruction, bytes);
        ASSERT_EQ(int64_t(bytes.size()), hardware.instruction_bytes());
        ASSERT_TRUE(decode_instruction(hardware, bytes) == instruction)
            << "seed " << seed << " trial " << trial;
        const MicroOp uop{random_bits(random, layout.uop.dst), random_bits(random, layout.uop.src),
                          random_bits(random, layout.uop.wgt),
                          random_bits(random, layout.uop.overwrite) != 0};
        bytes.clear();
        encode(hardware, uop, bytes);
        ASSERT_EQ(int64_t(bytes.size()), hardware.uop_bytes());
        ASSERT_TRUE(decode_uop(hardware, bytes) == uop) << "seed " << seed << " trial " << trial;
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
    }
  }
  EXPECT_GT(configurations, 300);
  EXPECT_GT(moved, 10);
}

// The hardware reader promises exactly what the layout can encode.
TEST(Isa, LayoutsExistWhereTheHardwareDescriptionFits) {
  const uint64_t seed = 21;
  Random random(seed);
  int fits = 0, too_narrow = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const OverlayHardware hardware = random_hardware(random);
    const bool expected = formats_too_narrow(hardware.isa, index_widths(hardware)).empty();
    bool constructed = true;
    try {
      IsaLayout layout(hardware);
    } catch (const Error&) {
      constructed = false;
    }
    ASSERT_EQ(constructed, expected) << "seed " << seed << " trial " << trial;
    ++(expected ? fits : too_narrow);
  }
  EXPECT_GT(fits, 100);
  EXPECT_GT(too_narrow, 20);
}

// Fields never overlap: setting one field to all ones leaves every other field zero.
TEST(Isa, FieldsAreDisjoint) {
  for (const IsaVersion isa : {IsaVersion::kVta, IsaVersion::kWide}) {
    OverlayHardware hardware;
    hardware.isa = isa;
    const IsaLayout l(hardware);
    const BitField alu[] = {l.opcode,
                            l.pop_prev,
                            l.pop_next,
                            l.push_prev,
                            l.push_next,
                            l.version,
                            l.alu.reset,
                            l.alu.uop_begin,
                            l.alu.uop_end,
                            l.alu.iter_out,
                            l.alu.iter_in,
                            l.alu.dst_factor_out,
                            l.alu.dst_factor_in,
                            l.alu.src_factor_out,
                            l.alu.src_factor_in,
                            l.alu_opcode,
                            l.use_imm,
                            l.imm,
                            l.clip_low,
                            l.clip_high};
    uint64_t sum[4] = {};
    for (const BitField& field : alu) {
      uint64_t words[4] = {};
      field.put(words, field.mask());
      for (int w = 0; w < 4; ++w) {
        EXPECT_EQ(sum[w] & words[w], 0u);
        sum[w] |= words[w];
      }
    }
  }
}

TEST(Isa, ValuesThatDoNotFitAreNamed) {
  const OverlayHardware hardware;
  std::vector<std::byte> bytes;
  MemoryInstruction load;
  load.x_pad_0 = 16;
  EXPECT_NE(error_text([&] { encode(hardware, load, bytes); }).find("x_pad_0 cannot hold 16 in 4 bits"),
            std::string::npos);
  load.x_pad_0 = 0;
  load.pad_value = 1;
  EXPECT_NE(
      error_text([&] { encode(hardware, load, bytes); }).find("pad_value cannot hold 1 in 0 signed bits"),
      std::string::npos);
  AluInstruction alu;
  alu.imm = 40000;
  EXPECT_NE(error_text([&] { encode(hardware, alu, bytes); }).find("imm cannot hold 40000 in 16 signed bits"),
            std::string::npos);
  GemmInstruction gemm;
  gemm.bipolar = true;
  EXPECT_NE(error_text([&] { encode(hardware, gemm, bytes); }).find("bipolar cannot hold 1 in 0 bits"),
            std::string::npos);
  alu.imm = 0;
  alu.opcode = AluOpcode::kMove;
  EXPECT_NE(error_text([&] { encode(hardware, alu, bytes); }).find("alu_opcode"), std::string::npos);
  EXPECT_NE(error_text([&] {
              encode(hardware, MicroOp{0, 0, 1024}, bytes);
            }).find("wgt cannot hold 1024"),
            std::string::npos);
}

TEST(Isa, UnknownCodesAreRejected) {
  OverlayHardware hardware;
  std::vector<std::byte> bytes(16);
  bytes[0] = std::byte{7};
  EXPECT_NE(error_text([&] { decode_instruction(hardware, bytes); }).find("unknown opcode 7"),
            std::string::npos);
  bytes[0] = std::byte{0};
  bytes[1] = std::byte{3};  // memory type 6
  EXPECT_EQ(uint32_t(std::get<MemoryInstruction>(decode_instruction(hardware, bytes)).memory_type), 6u);
  bytes[10] = std::byte{1};  // x_size: something is moved
  EXPECT_NE(error_text([&] { decode_instruction(hardware, bytes); }).find("unknown memory type 6"),
            std::string::npos);
  bytes[0] = std::byte{4};
  bytes[13] = std::byte{0x70};  // alu_opcode 7
  EXPECT_NE(error_text([&] { decode_instruction(hardware, bytes); }).find("unknown ALU operation 7"),
            std::string::npos);
  EXPECT_NE(error_text([&] {
              decode_instruction(hardware, {bytes.data(), 15});
            }).find("cut off"),
            std::string::npos);
  EXPECT_NE(error_text([&] { decode_uop(hardware, {bytes.data(), 3}); }).find("cut off"), std::string::npos);
  hardware.isa = IsaVersion::kWide;
  const std::vector<std::byte> zeros(32);
  EXPECT_NE(error_text([&] { decode_instruction(hardware, zeros); }).find("unknown instruction version 0"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright::overlay
