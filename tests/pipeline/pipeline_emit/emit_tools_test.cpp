// Emitted folders with the tools that their users have: the testbench under Icarus and Verilator, the host
// program for a board and in simulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/emit_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/pipeline/network/borders.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

using synthesis::run_tool;
using synthesis::run_tool_checked;

std::string run_command(const EmittedDesign& own, const std::string& file, const std::string& start,
                        const std::string& options = "") {
  return run_folder_command(own.folder, file, start, options);
}

class Emit : public testing::TestWithParam<EmitCase> {};
INSTANTIATE_TEST_SUITE_P(Forms, Emit, testing::ValuesIn(emit_cases()), emit_case_name);

std::string bench_output(const EmittedDesign& own, const std::string& options = "") {
  return run_tool_checked({"sh", {"-c", "vvp bench " + options}, own.folder, 600}).output;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_P(Emit, TestbenchSpeaksTheTruthInIcarus) {
  if (const std::string missing = synthesis::missing_tools({"iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed());
  const std::string output = run_command(own, "README.md", "iverilog ");
  EXPECT_TRUE(contains(output, own.expected_line(1))) << output << own.expected_line(1);
  for (const char* const complaint : {"ERROR", "rror", "sorry", "arning"}) {
    EXPECT_FALSE(contains(output, complaint)) << output;
  }
  const std::string both = bench_output(own, "+images=2");
  EXPECT_TRUE(contains(both, own.expected_line(2))) << both << own.expected_line(2);
  EXPECT_TRUE(contains(bench_output(own, "+images=3"), "FAIL: the folder has 2 images, not 3"));
  EXPECT_TRUE(contains(bench_output(own, "+limit=50"), "FAIL: no end after 50 cycles"));
  // A result other than the expected one is noticed.
  std::string expected = read_text_file(own.folder / "testbench/expected.hex");
  for (char& digit : expected) digit = digit == '\n' ? digit : digit == '0' ? '5' : '0';
  write_text_file(own.folder / "testbench/expected.hex", expected);
  EXPECT_TRUE(contains(bench_output(own), "FAIL"));
}

// The parameter FOLDER leads to the memories from anywhere.
TEST_P(Emit, WorksFromAnotherFolder) {
  if (const std::string missing = synthesis::missing_tools({"iverilog", "yosys"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed() + 1);
  const TemporaryFolder away(fs::temp_directory_path(), "tilewright-away");
  const std::string folder = own.folder.string();
  const std::string output =
      run_tool_checked(
          {"sh",
           {"-c", fmt::format("iverilog -g2012 -s testbench -Ptestbench.FOLDER='\"{0}\"' -o bench "
                              "{0}/rtl/*.sv {0}/testbench/*.sv && vvp bench",
                              folder)},
           away.path(),
           600})
          .output;
  EXPECT_TRUE(contains(output, own.expected_line(1))) << output;
  const auto yosys = [&](const std::string& parameter) {
    return run_tool(
        {"yosys",
         {"-q", "-p",
          fmt::format("read_verilog -defer -sv -DSYNTHESIS {0}/rtl/*.sv; {1}; hierarchy -check -top "
                      "tilewright_axi; proc",
                      folder, parameter)},
         away.path(),
         600});
  };
  const auto found = yosys(fmt::format("chparam -set FOLDER \"{}\" $abstract\\tilewright_axi", folder));
  EXPECT_EQ(found.exit_code, 0) << found.output;
  EXPECT_NE(yosys("log").exit_code, 0) << "memories that are nowhere";
}

TEST_P(Emit, TestbenchPassesInVerilator) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed() + 2);
  run_command(own, "README.md", "verilator --lint-only ");
  const std::string output = run_command(own, "README.md", "verilator --binary ");
  EXPECT_TRUE(contains(output, own.expected_line(2))) << output << own.expected_line(2);
}

// As files of numbers hold it.
void add_number(std::string& bytes, const DramLayout& layout, int32_t value) {
  for (int i = 0; i < (layout.element_bits > 8 ? 4 : 1); ++i) bytes += char(value >> (8 * i));
}

TEST_P(Emit, HostProgramRunsTheDesign) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed() + 3);
  run_command(own, "host/host.cpp", "g++ ", " -Wall -Wextra -Werror");
  run_command(own, "host/host.cpp", "verilator ");
  Random random(7);
  std::vector<std::vector<int32_t>> images(3);
  std::string input, expected;
  for (std::vector<int32_t>& image : images) {
    image.resize(size_t(own.design.input.source.elements()));
    const int bits = own.design.input.element_bits > 8 ? 20 : own.design.input.element_bits;
    const int64_t half = int64_t{1} << (bits - 1);
    const bool signs = own.design.input.bipolar;
    for (int32_t& value : image) {
      value = signs ? (random.chance(0.5) ? 1 : -1) : int32_t(random.between(-half, half - 1));
      add_number(input, own.design.input, value);
    }
    const std::vector<std::vector<int32_t>> tensors = evaluate(own.network, image);
    for (const int32_t value : tensors[size_t(own.network.output)])
      add_number(expected, own.design.output, value);
  }
  write_text_file(own.folder / "images.bin", input);
  const std::string output = run_tool_checked({(own.folder / "obj_dir/run").string(),
                                               {"--integers", "images.bin", "results.bin"},
                                               own.folder,
                                               300})
                                 .output;
  const std::string results = read_text_file(own.folder / "results.bin");
  ASSERT_EQ(results.size(), expected.size());
  const size_t size = own.design.output.element_bits > 8 ? 4 : 1, each = results.size() / images.size();
  for (const int tensor : own.network.output_tensors()) {
    for (const int64_t place : border_places(own.network, tensor)) {
      for (size_t at = size_t(place) * size; at < results.size(); at += each) {
        ASSERT_EQ(results.substr(at, size), expected.substr(at, size)) << "byte " << at;
      }
    }
  }
  SimulationOptions simulation;
  simulation.images = 3;
  EXPECT_EQ(output, fmt::format("3 images, {} cycles\n", simulate(own.design, simulation).cycles));
}

}  // namespace
}  // namespace tilewright::pipeline
