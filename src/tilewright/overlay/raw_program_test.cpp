#include "tilewright/overlay/raw_program.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/isa.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

class RawProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("raw_program_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string error_of(const std::string& yaml) {
    write_text_file(folder_ / "program.yaml", yaml);
    try {
      read_raw_program(folder_ / "program.yaml");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

// Loads two accumulators, adds 5, stores them.
RawProgram small_program() {
  RawProgram program;
  program.hardware.name = "default";
  program.memory_bytes = 1 << 16;
  RawImage data{"data.bin", 4096, std::vector<std::byte>(128)};
  for (int lane = 0; lane < 32; ++lane) {
    const int32_t value = lane * 3 - 40;
    std::memcpy(&data.bytes[size_t(lane) * 4], &value, 4);
  }
  RawImage uops{"uops.bin", 8192, {}}, code{"instructions.bin", 12288, {}};
  encode(program.hardware, MicroOp{}, uops.bytes);
  const auto add = [&](const Instruction& instruction) {
    encode(program.hardware, instruction, code.bytes);
    ++program.instruction_count;
  };
  MemoryInstruction memory;
  memory.memory_type = MemoryType::kUop;
  memory.dram_base = 8192 / 4;
  memory.y_size = memory.x_size = memory.x_stride = 1;
  add(memory);
  memory.memory_type = MemoryType::kAccumulator;
  memory.dram_base = 4096 / 64;
  memory.x_size = memory.x_stride = 2;
  add(memory);
  AluInstruction alu;
  alu.opcode = AluOpcode::kAdd;
  alu.use_imm = true;
  alu.imm = 5;
  alu.loop.uop_end = 1;
  alu.loop.iter_in = 2;
  alu.loop.dst_factor_in = alu.loop.src_factor_in = 1;
  alu.dependencies.push_next = true;
  add(alu);
  memory.is_store = true;
  memory.memory_type = MemoryType::kOutput;
  memory.dram_base = 16384 / 16;
  memory.dependencies.pop_prev = memory.dependencies.push_prev = true;
  add(memory);
  memory = MemoryInstruction{};
  memory.memory_type = MemoryType::kUop;
  memory.dependencies.pop_next = true;
  add(memory);
  add(FinishInstruction{});
  program.instruction_address = 12288;
  program.load = {data, uops, code};
  program.dump.push_back({"out/result.bin", 16384, 32});
  return program;
}

TEST_F(RawProgramTest, WritesReadsAndRuns) {
  const RawProgram program = small_program();
  write_raw_program(folder_, program);
  const RawProgram read = read_raw_program(folder_ / "program.yaml");
  EXPECT_TRUE(read.hardware == program.hardware);
  EXPECT_EQ(read.memory_bytes, program.memory_bytes);
  EXPECT_EQ(read.instruction_count, 6u);
  ASSERT_EQ(read.load.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(read.load[i].bytes, program.load[i].bytes);
  const RawResult result = execute(read);
  ASSERT_EQ(result.dump.size(), 1u);
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(int8_t(result.dump[0][size_t(lane)]), lane * 3 - 35);
  write_dumps(folder_, read, result);
  EXPECT_EQ(read_file(folder_ / "out/result.bin"), result.dump[0]);
}

TEST_F(RawProgramTest, ReportsEveryProblemAtOnce) {
  write_text_file(folder_ / "hardware.yaml", print_overlay_hardware(OverlayHardware{.name = "default"}));
  write_text_file(folder_ / "four.bin", "1234");
  const std::string error = error_of(
      "hardware: hardware.yaml\n"
      "memory_bytes: 4096\n"
      "load:\n"
      "  - {file: missing.bin, address: 0}\n"
      "  - {file: four.bin, address: 4093}\n"
      "  - {file: four.bin, address: 0, bytes: 5}\n"
      "  - {file: four.bin}\n"
      "instructions: {address: 4000, count: 100}\n"
      "dump:\n"
      "  - {file: out.bin, address: 0, bytes: 5000}\n"
      "speed: 3\n");
  for (const char* part :
       {"load[0]", "missing.bin",
        "load[1] 'four.bin' (address): 4 bytes at 4093 do not fit in a memory of 4096",
        "the file has only 4 of 5 bytes", "load[3]:7 (address): missing field",
        "instructions (address): 1600 bytes at 4000 do not fit",
        "dump[0] 'out.bin' (address): 5000 bytes at 0 do not fit", "(speed): unknown field"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\nnot in\n" << error;
  }
}

TEST_F(RawProgramTest, MissingParts) {
  const std::string error = error_of("load: 7\n");
  for (const char* part :
       {"(hardware): missing field", "(memory_bytes): missing field", "(load): must be a sequence",
        "instructions: a map of 'field: value' lines is expected"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\nnot in\n" << error;
  }
  EXPECT_NE(error_of("hardware: nowhere.yaml\nmemory_bytes: 64\ninstructions: {address: 0, count: 1}\n")
                .find("program.yaml: hardware"),
            std::string::npos);
  EXPECT_NE(error_of("a: [").find("program.yaml:"), std::string::npos);
}

TEST_F(RawProgramTest, SurvivesMutations) {
  write_raw_program(folder_, small_program());
  const std::string text = read_text_file(folder_ / "program.yaml");
  const uint64_t seed = 7;
  Random random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    std::string mutated = text;
    for (int64_t edit = random.between(1, 4); edit > 0; --edit) {
      mutated[size_t(random.between(0, int64_t(mutated.size()) - 1))] = char(random.between(32, 126));
    }
    write_text_file(folder_ / "program.yaml", mutated);
    try {
      RawProgram program = read_raw_program(folder_ / "program.yaml");
      if (program.memory_bytes < (1u << 24)) execute(program);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what() << "\nseed " << seed;
    }
  }
}

}  // namespace
}  // namespace tilewright::overlay
