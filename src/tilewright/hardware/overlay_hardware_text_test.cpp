#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {
namespace {

std::string message(const std::string& text, const std::string& source = "x.yaml") {
  try {
    parse_overlay_hardware(text, source);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

TEST(OverlayYaml, AbsentFieldsTakeTheDefaults) {
  OverlayHardware expected;
  expected.name = "board";
  expected.input_bits = expected.output_bits = 4;
  expected.input_buffer_bytes = 1 << 14;
  EXPECT_EQ(parse_overlay_hardware("input_bits: 4\ninput_buffer_bytes: 16384\n", "some/board.yaml"),
            expected);
}

TEST(OverlayYaml, EveryProblemWithItsLine) {
  EXPECT_EQ(message("name: a\nisa: wider\nbatch: 3\ninput_bits: eight\nblock: 16\nclock_mhz: 0\n"),
            "5 problems\n"
            "  x.yaml:2 (isa): 'wider' is not an instruction set; vta or wide\n"
            "  x.yaml:4 (input_bits): 'eight' is not an integer in -2147483647..2147483647\n"
            "  x.yaml:5 (block): unknown field; did you mean 'block_in'? known fields: accumulator_bits, "
            "accumulator_buffer_bytes, "
            "alu_lanes, "
            "batch, block_in, block_out, clock_mhz, command_queue_depth, dram_bytes, gemm_beside_alu, "
            "input_bits, input_buffer_bytes, isa, lookup_table, max_burst_beats, memory_partition, "
            "memory_width_bits, name, "
            "output_bits, "
            "read_queue_beats, row_functions, "
            "uop_buffer_bytes, weight_bits, weight_buffer_bytes\n"
            "  x.yaml:3 (batch): 3 is not a power of two in 1..64; 2 would fit\n"
            "  x.yaml:6 (clock_mhz): 0 is not above 0 and at most 10000; 100 would fit");
}

TEST(OverlayYaml, BufferTooLargeForTheEncodingHasItsLine) {
  EXPECT_EQ(
      message("name: a\nweight_buffer_bytes: 1048576\n"),
      "x.yaml:2 (weight_buffer_bytes): 1048576 bytes are 4096 WGT elements, whose 12-bit index does not "
      "fit the 128-bit GEMM instruction, the 32-bit micro-op; at most 262144 bytes fit; or "
      "accumulator_buffer_bytes 32768; isa 'wide' has room for more");
}

TEST(OverlayYaml, NoMap) {
  EXPECT_EQ(message("- 1\n- 2\n"), "x.yaml:1: a map of 'field: value' lines is expected");
  EXPECT_EQ(message("just text"), "x.yaml:1: a map of 'field: value' lines is expected");
}

TEST(OverlayYaml, RandomDescriptionsRoundTrip) {
  int legal = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    OverlayHardware h;
    h.name = random.chance(0.2) ? "with: \"quotes\" # and \\ more\n" : "plain";
    h.isa = random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide;
    h.batch = 1 << random.between(0, 3);
    h.block_in = 1 << random.between(2, 6);
    h.block_out = 1 << random.between(2, 6);
    h.input_bits = 1 << random.between(0, 3);
    h.weight_bits = 1 << random.between(0, 3);
    h.output_bits = 1 << random.between(0, 3);
    h.uop_buffer_bytes = int64_t{1} << random.between(6, 20);
    h.input_buffer_bytes = int64_t{1} << random.between(6, 20);
    h.weight_buffer_bytes = int64_t{1} << random.between(8, 20);
    h.accumulator_buffer_bytes = int64_t{1} << random.between(8, 20);
    h.dram_bytes = random.between(1 << 16, int64_t{1} << 30);
    h.memory_width_bits = 1 << random.between(3, 10);
    h.alu_lanes = random.chance(0.5) ? 0 : 1 << random.between(0, 4);
    h.command_queue_depth = 1 << random.between(1, 10);
    h.read_queue_beats = 1 << random.between(2, 10);
    h.max_burst_beats = 1 << random.between(0, 6);
    h.gemm_beside_alu = random.chance(0.5);
    h.lookup_table = random.chance(0.5);
    h.row_functions = h.lookup_table && h.batch == 1 && h.block_in == h.block_out && h.input_bits == 8 &&
                      h.weight_bits == 8;
    h.memory_partition.kind = MemoryPartition::Kind(random.between(0, 1));
    h.memory_partition.dimension = MemoryPartition::Dimension(random.between(0, 1));
    h.memory_partition.factor = 1 << random.between(0, 5);
    h.clock_mhz = random.uniform() * 1000 + 0.001;
    Diagnostics diagnostics;
    h.verify(diagnostics);
    if (!diagnostics.ok()) continue;
    ++legal;
    EXPECT_EQ(parse_overlay_hardware(print_overlay_hardware(h), "printed.yaml"), h);
  }
  EXPECT_GT(legal, 100);
}

constexpr const char* kPublicDefault = R"({
  "TARGET" : "sim",
  "HW_VER" : "0.0.2",
  "LOG_INP_WIDTH" : 3,
  "LOG_WGT_WIDTH" : 3,
  "LOG_ACC_WIDTH" : 5,
  "LOG_BATCH" : 0,
  "LOG_BLOCK" : 4,
  "LOG_UOP_BUFF_SIZE" : 15,
  "LOG_INP_BUFF_SIZE" : 15,
  "LOG_WGT_BUFF_SIZE" : 18,
  "LOG_ACC_BUFF_SIZE" : 17
}
)";

TEST(PublicConfig, DefaultIsReadAsItIs) {
  OverlayHardware expected;
  expected.name = "vta_config";
  EXPECT_EQ(parse_overlay_hardware(kPublicDefault, "config/vta_config.json"), expected);
}

TEST(PublicConfig, EveryProblemWithItsLine) {
  std::string text = kPublicDefault;
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"LOG_BLOCK\" : 4", "\"LOG_BLOCK\" : 9");
  replace("\"LOG_WGT_WIDTH\" : 3", "\"LOG_WGT_WIDTH\" : -1");
  replace("  \"LOG_INP_BUFF_SIZE\" : 15,\n", "  \"LOG_OTHER\" : 15,\n");
  replace("0.0.2", "0.0.1");
  EXPECT_EQ(
      message(text, "v.json"),
      "5 problems\n"
      "  v.json:5 (LOG_WGT_WIDTH): '-1' is not an integer in 0..10\n"
      "  v.json:1 (LOG_INP_BUFF_SIZE): missing field; give an integer in 0..40\n"
      "  v.json:3 (HW_VER): version 0.0.1 has a 2-bit memory type, which Tilewright does not encode; 0.0.2 "
      "is the encoding of the public compiler since 2020\n"
      "  v.json:10 (LOG_OTHER): unknown field; known fields: HW_VER, LOG_ACC_BUFF_SIZE, LOG_ACC_WIDTH, "
      "LOG_BATCH, LOG_BLOCK, LOG_INP_BUFF_SIZE, LOG_INP_WIDTH, LOG_UOP_BUFF_SIZE, LOG_WGT_BUFF_SIZE, "
      "LOG_WGT_WIDTH, TARGET\n"
      "  v.json:8 (block_in): 512 is not a power of two in 1..256; 256 would fit");
}

TEST(PublicConfig, BufferTooLarge) {
  std::string text = kPublicDefault;
  text.replace(text.find(": 17"), 4, ": 18");
  EXPECT_EQ(
      message(text, "v.json"),
      "v.json:12 (accumulator_buffer_bytes): 262144 bytes are 4096 ACC elements, whose 12-bit index does "
      "not fit the 128-bit GEMM instruction, the 128-bit ALU instruction, the 32-bit micro-op; at most "
      "131072 bytes fit; isa 'wide' has room for more");
}

TEST(ShortForm, RoundTrips) {
  for (const char* text :
       {"1x16_i8w8a32_15_15_18_17", "2x16_i8w8a32_15_16_18_18", "1x8_i4w4a32_14_13_15_16"}) {
    const OverlayHardware h = parse_overlay_hardware(text, "command line");
    EXPECT_EQ(h.name, text);
    EXPECT_EQ(overlay_short_form(h), text);
    EXPECT_EQ(find_overlay_hardware(text, "absent"), h);
  }
}

TEST(ShortForm, IsVerified) {
  EXPECT_EQ(message("3x16_i8w8a32_15_15_18_17"),
            "overlay '3x16_i8w8a32_15_15_18_17' (batch): 3 is not a power of two in 1..64; 2 would fit");
  EXPECT_EQ(message("1x16_i8w8a32_15_15_18_17_3"), "x.yaml:1: a map of 'field: value' lines is expected");
}

TEST(ShortForm, NeedsOneBlockSize) {
  OverlayHardware h;
  h.name = "a";
  h.block_out = 32;
  try {
    overlay_short_form(h);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "overlay 'a' has no short form: it has two block sizes or two activation widths; use the YAML "
              "form");
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(OverlayText, MemoryPartitions) {
  OverlayHardware h = parse_overlay_hardware("memory_partition: cyclic width 8\n", "x.yaml");
  EXPECT_EQ(h.memory_partition.kind, MemoryPartition::Kind::kCyclic);
  EXPECT_EQ(h.memory_partition.dimension, MemoryPartition::Dimension::kWidth);
  EXPECT_EQ(h.memory_partition.factor, 8);
  EXPECT_EQ(parse_overlay_hardware("memory_partition: none\n", "x.yaml").memory_partition, MemoryPartition{});
  for (const char* wrong : {"cyclic", "cyclic depth", "round depth 2", "block height 2", "block depth 2 x"}) {
    EXPECT_THROW(parse_overlay_hardware(std::string("memory_partition: ") + wrong + "\n", "x.yaml"), Error)
        << wrong;
  }
  try {
    parse_overlay_hardware("memory_partition: block depth 3\n", "x.yaml");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("(memory_partition): 3 is not a power of two in 1..32; 2 would fit"),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tilewright
