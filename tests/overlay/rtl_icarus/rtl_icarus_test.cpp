// A second simulator reads the same RTL: a few programs under Icarus, with a fixed-latency memory, leave the
// memory and take the cycles of the cycle simulator.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "equality.h"
#include "parameter_sets.h"
#include "small_program.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBytes = 1 << 16;  // of the bench's memory
constexpr int kLatency = 9;

std::string to_hex(const std::vector<std::byte>& memory) {
  std::string text;
  for (const std::byte byte : memory) text += fmt::format("{:02x}\n", uint8_t(byte));
  return text;
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> memory;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word.starts_with("//")) {
      in.ignore(1 << 20, '\n');
    } else {
      // x: a bit that the RTL left undefined; no byte is equal to it.
      memory.push_back(word.find('x') == std::string::npos ? std::byte(std::stoul(word, nullptr, 16))
                                                           : std::byte(0));
      EXPECT_EQ(word.find('x'), std::string::npos) << "byte " << memory.size() - 1 << " is undefined";
    }
  }
  return memory;
}

class RtlIcarus : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"iverilog"});
    if (!missing.empty()) GTEST_SKIP() << missing;
    hardware_ = parameter_sets()[size_t(GetParam())];
    root_ = fs::path(testing::TempDir()) / fmt::format("rtl_icarus_{}_{}", ::getpid(), GetParam());
    const fs::path source = TILEWRIGHT_SOURCE_DIR;
    synthesis::ToolCommand compile{
        "iverilog", {"-g2012", "-o", (root_ / "bench.vvp").string(), "-s", "overlay_bench"}, {}, 300};
    for (const fs::path& file : write_rtl(hardware_, root_ / "rtl", source / "rtl")) {
      compile.arguments.push_back(file.string());
    }
    compile.arguments.push_back((source / "tests" / "overlay" / "rtl_icarus" / "overlay_bench.sv").string());
    synthesis::run_tool_checked(compile);
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }

  void expect_equal(EqualityProgram program) {
    ASSERT_LE(program.memory.size(), kBytes);
    program.memory.resize(kBytes);
    write_text_file(root_ / "memory.hex", to_hex(program.memory));
    const synthesis::ToolResult result = synthesis::run_tool_checked(
        {"vvp",
         {(root_ / "bench.vvp").string(), "+memory=memory.hex", "+result=result.hex",
          fmt::format("+address={}", program.address), fmt::format("+count={}", program.count),
          fmt::format("+latency={}", kLatency)},
         root_,
         300});
    std::vector<std::byte> expected = program.memory;
    const MemoryModel memory = find_memory_model(fmt::format("fixed:{}", kLatency));
    const TimedRun run = CycleSimulator(hardware_, memory).run(expected, program.address, program.count);
    EXPECT_NE(result.output.find(fmt::format("status 1 cycles {}\n", run.cycles.cycles)), std::string::npos)
        << program.name << ": " << run.cycles.cycles << " cycles expected, Icarus: " << result.output;
    EXPECT_EQ(result.output.find("ERROR"), std::string::npos)
        << program.name << ", an assertion: " << result.output;
    EXPECT_TRUE(from_hex(read_text_file(root_ / "result.hex")) == expected) << program.name;
  }

  OverlayHardware hardware_;
  fs::path root_;
};

TEST_P(RtlIcarus, SameMemoryAndCycles) {
  const SmallProgram small(hardware_);
  expect_equal({"small program", small.memory(), SmallProgram::kAddress, small.instructions.size()});
  int layers = 0;
  for (uint64_t seed = 1; seed < 100 && layers < 3; ++seed) {
    EqualityProgram layer = layer_program(hardware_, seed);
    if (layer.memory.empty() || layer.memory.size() > kBytes || layer.count > 300) continue;
    expect_equal(std::move(layer));
    ++layers;
  }
  EXPECT_EQ(layers, 3);
}

INSTANTIATE_TEST_SUITE_P(Sets, RtlIcarus, testing::Range(0, 2));

}  // namespace
}  // namespace tilewright::overlay
