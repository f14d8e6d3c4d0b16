// Emitted folders with the tools that their users have: the testbench under Icarus and Verilator, the host
// program for a board and in simulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/emit_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

using synthesis::run_tool_checked;

// Runs the command that a line of an emitted file holds, from `start` on, as its user would.
std::string run_command(const EmittedDesign& own, const std::string& file, const std::string& start,
                        const std::string& options = "") {
  const std::string text = read_text_file(own.folder / file);
  const size_t from = text.find("  " + start);
  if (from == std::string::npos) throw Error(ErrorKind::kInternal, file + " has no command " + start);
  const std::string command = text.substr(from, text.find('\n', from) - from);
  return run_tool_checked({"sh", {"-c", command + options}, own.folder, 600}).output;
}

class Emit : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Emit, testing::Bool(), [](const testing::TestParamInfo<bool>& shape) {
  return shape.param ? "Streaming" : "Processors";
});

TEST_P(Emit, TestbenchPassesInIcarus) {
  if (const std::string missing = synthesis::missing_tools({"iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  const std::string output = run_command(own, "README.md", "iverilog ");
  EXPECT_NE(output.find(own.expected_line()), std::string::npos) << output << own.expected_line();
  EXPECT_EQ(output.find("ERROR"), std::string::npos) << "an assertion: " << output;
  // A result other than the expected one is noticed.
  std::string expected = read_text_file(own.folder / "testbench/expected.hex");
  for (char& digit : expected) digit = digit == '\n' ? digit : digit == '0' ? '5' : '0';
  write_text_file(own.folder / "testbench/expected.hex", expected);
  EXPECT_NE(run_tool_checked({"vvp", {"bench"}, own.folder, 600}).output.find("FAIL"), std::string::npos);
}

TEST_P(Emit, TestbenchPassesInVerilator) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  run_command(own, "README.md", "verilator --lint-only ");
  const std::string output = run_command(own, "README.md", "verilator --binary ");
  EXPECT_NE(output.find(own.expected_line()), std::string::npos) << output << own.expected_line();
}

TEST_P(Emit, HostProgramRunsTheDesign) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  run_command(own, "host/host.cpp", "g++ ", " -Wall -Wextra -Werror");
  run_command(own, "host/host.cpp", "verilator ");
  Random random(7);
  std::vector<std::vector<int32_t>> images(3);
  std::string input, expected;
  for (std::vector<int32_t>& image : images) {
    image.resize(size_t(own.design.input.source.elements()));
    for (int32_t& value : image) input += char(value = int32_t(random.between(-128, 127)));
    const std::vector<std::vector<int32_t>> tensors = evaluate(own.network, image);
    for (const int32_t value : tensors[size_t(own.network.output)]) expected += char(value);
  }
  write_text_file(own.folder / "images.bin", input);
  const std::string output =
      run_tool_checked(
          {(own.folder / "obj_dir/run").string(), {"images.bin", "results.bin"}, own.folder, 300})
          .output;
  EXPECT_EQ(read_text_file(own.folder / "results.bin"), expected);
  SimulationOptions simulation;
  simulation.images = 3;
  EXPECT_EQ(output, fmt::format("3 images, {} cycles\n", simulate(own.design, simulation).cycles));
}

}  // namespace
}  // namespace tilewright::pipeline
