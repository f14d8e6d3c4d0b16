#include "tilewright/overlay/referee/raw_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa.h"

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
        "instructions (address): 100 instructions at byte 4000 do not fit",
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

TEST_F(RawProgramTest, ReadsNoMoreOfAFileThanItLoads) {
  write_raw_program(folder_, small_program());
  const std::string head =
      "hardware: hardware.yaml\nmemory_bytes: 4096\ninstructions: {address: 0, count: 1}\n";
  fs::resize_file(folder_ / "data.bin", uintmax_t{1} << 42);  // a file with holes, larger than any memory
  EXPECT_EQ(error_of(head + "load: [{file: data.bin, address: 0, bytes: 64}]\n"), "no error");
  EXPECT_NE(error_of(head + "load: [{file: data.bin, address: 0}]\n")
                .find("is larger than the 4096 bytes read here"),
            std::string::npos);
}

TEST_F(RawProgramTest, RefusesDevicesPipesAndFilesOutsideOfItsFolder) {
  write_raw_program(folder_ / "home", small_program());
  write_text_file(folder_ / "secret", "x");
  ASSERT_EQ(::mkfifo((folder_ / "home/pipe").c_str(), 0600), 0);
  fs::create_symlink("../secret", folder_ / "home/link");
  fs::create_symlink("/dev/zero", folder_ / "home/zeros");
  const auto error = [&](const std::string& yaml,
                         Confinement confinement = Confinement::kInside) -> std::string {
    write_text_file(
        folder_ / "home/program.yaml",
        "hardware: hardware.yaml\nmemory_bytes: 65536\ninstructions: {address: 0, count: 1}\n" + yaml);
    try {
      read_raw_program(folder_ / "home/program.yaml", confinement);
    } catch (const Error& problem) {
      return problem.what();
    }
    return "no error";
  };
  for (const char* name :
       {"../secret", "../../../../../../etc/passwd", "/etc/passwd", "link", "zeros", "new/../../x"}) {
    const std::string load = std::string("load: [{file: ") + name + ", address: 0, bytes: 1}]\n";
    const std::string dump = std::string("dump: [{file: ") + name + ", address: 0, bytes: 1}]\n";
    EXPECT_NE(error(load).find(std::string("load[0]: '") + name + "' leads outside"), std::string::npos)
        << error(load);
    EXPECT_NE(error(dump).find(std::string("dump[0]: '") + name + "' leads outside"), std::string::npos)
        << error(dump);
  }
  EXPECT_EQ(error("load: [{file: ../secret, address: 0}]\n", Confinement::kNone), "no error");
  EXPECT_NE(error("load: [{file: pipe, address: 0, bytes: 1}]\n").find("it is not a regular file"),
            std::string::npos);
  EXPECT_NE(
      error("dump: [{file: pipe, address: 0, bytes: 1}]\n").find("'pipe' exists and is not a regular file"),
      std::string::npos);
  EXPECT_NE(error("load: [{file: /dev/zero, address: 0, bytes: 1}]\n", Confinement::kNone)
                .find("it is not a regular file"),
            std::string::npos);
  write_text_file(
      folder_ / "home/program.yaml",
      "hardware: ../home/hardware.yaml\nmemory_bytes: 65536\ninstructions: {address: 0, count: 1}\n");
  EXPECT_NO_THROW(read_raw_program(folder_ / "home/program.yaml"));
}

TEST_F(RawProgramTest, DumpsOverwriteNothingThatWasRead) {
  write_raw_program(folder_, small_program());
  fs::create_symlink("data.bin", folder_ / "link");
  const std::string yaml = read_text_file(folder_ / "program.yaml");
  for (const auto& [name, what] : {std::pair{"program.yaml", "the program itself"},
                                   {"hardware.yaml", "program.yaml: hardware"},
                                   {"data.bin", "program.yaml: load[0]"},
                                   {"new/../code/../uops.bin", "program.yaml: load[1]"},
                                   {"link", "program.yaml: load[0]"},
                                   {"out/result.bin", "program.yaml: dump[0]"}}) {
    EXPECT_NE(error_of(yaml + "  - {file: " + name + ", address: 0, bytes: 1}\n")
                  .find(std::string("dump[1]: '") + name + "' would overwrite " + what),
              std::string::npos)
        << error_of(yaml + "  - {file: " + name + ", address: 0, bytes: 1}\n");
  }
}

}  // namespace
}  // namespace tilewright::overlay
