// Emitted folders with the tools that their users have: the testbench under Icarus and Verilator, lint, the
// host program for a board and in simulation.
#include "tilewright/pipeline/emit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/allocation_testing.h"
#include "tilewright/pipeline/cycle_simulator.h"
#include "tilewright/pipeline/design_wrappers.h"
#include "tilewright/pipeline/host_program.h"
#include "tilewright/pipeline/network_testing.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;
using synthesis::run_tool_checked;

// An emitted design that is removed again.
class EmittedDesign {
 public:
  explicit EmittedDesign(bool streaming, uint64_t seed = 1) : network(random_network(seed)) {
    design = build(network, streaming ? random_stages(network, seed) : random_processors(network, seed));
    folder = fs::temp_directory_path() / fmt::format("tilewright-emit-{}-{}", ::getpid(), streaming);
    fs::create_directories(folder);
    options.rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl";
    Device device = find_device("xc7z020", TILEWRIGHT_SOURCE_DIR "/hardware/devices");
    emit(design, network, &device, folder, options);
  }
  ~EmittedDesign() { fs::remove_all(folder); }
  std::vector<std::string> sources(std::initializer_list<const char*> folders) const {
    std::vector<std::string> list;
    for (const char* name : folders) {
      for (const auto& entry : fs::directory_iterator(folder / name)) {
        if (entry.path().extension() == ".sv") list.push_back(entry.path().string());
      }
    }
    std::sort(list.begin(), list.end());
    return list;
  }
  std::string expected_line() const {
    SimulationOptions simulation;
    simulation.images = options.testbench_images;
    const int64_t words = design.output.bytes * options.testbench_images / design.port_bytes;
    return fmt::format("PASS: {} words equal, {} cycles", words, simulate(design, simulation).cycles);
  }

  Network network;
  Design design;
  EmitOptions options;
  fs::path folder;
};

class Emit : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Emit, testing::Bool(), [](const testing::TestParamInfo<bool>& shape) {
  return shape.param ? "Streaming" : "Processors";
});

TEST_P(Emit, TestbenchPassesInIcarus) {
  if (const std::string missing = synthesis::missing_tools({"iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  std::vector<std::string> arguments = {"-g2012", "-s", "testbench", "-o", "run"};
  for (const std::string& source : own.sources({"rtl", "testbench"})) arguments.push_back(source);
  run_tool_checked({"iverilog", arguments, own.folder, 300});
  const std::string output = run_tool_checked({"vvp", {"run"}, own.folder, 600}).output;
  EXPECT_NE(output.find(own.expected_line()), std::string::npos) << output << own.expected_line();
  // A result other than the expected one is noticed.
  std::string expected = read_text_file(own.folder / "testbench/expected.hex");
  for (char& digit : expected) digit = digit == '\n' ? digit : digit == '0' ? '5' : '0';
  write_text_file(own.folder / "testbench/expected.hex", expected);
  EXPECT_NE(run_tool_checked({"vvp", {"run"}, own.folder, 600}).output.find("FAIL"), std::string::npos);
}

TEST_P(Emit, LintsClean) {
  if (const std::string missing = synthesis::missing_tools({"verilator"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  std::vector<fs::path> sources;
  for (const std::string& source : own.sources({"rtl"})) sources.push_back(source);
  EXPECT_EQ(synthesis::lint("tilewright_axi", sources), "");
}

TEST_P(Emit, HostProgramRunsTheDesign) {
  if (const std::string missing = synthesis::missing_tools({"verilator", "g++"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  run_tool_checked({"g++",
                    {"-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "host/host.cpp"},
                    own.folder,
                    120});
  std::vector<std::string> arguments = {
      "--cc", "--exe", "--build",      "-Wno-fatal",         "-CFLAGS", "-DTILEWRIGHT_SIMULATION",
      "-o",   "run",   "--top-module", "tilewright_pipeline"};
  for (const std::string& source : own.sources({"rtl"})) arguments.push_back(source);
  arguments.push_back("host/host.cpp");
  run_tool_checked({"verilator", arguments, own.folder, 600});
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

TEST_P(Emit, WrappersAreRightNetlists) {
  const EmittedDesign own(GetParam());
  for (const netlist::Design& wrapper :
       {axi_wrapper(own.design), bench(own.design, {"m", "s", "e", "k", 1, 1, 0, 1})}) {
    Diagnostics diagnostics;
    netlist::verify(wrapper, WrapperLibrary(own.design), diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.errors()) ADD_FAILURE() << to_string(diagnostic);
  }
  EXPECT_TRUE(fs::exists(own.folder / "build.tcl"));
  EXPECT_TRUE(fs::exists(own.folder / "clock.xdc"));
}

TEST(HostProgram, RefusesATextWithoutMark) { EXPECT_THROW(host_program({}, "int main() {}"), Error); }

}  // namespace
}  // namespace tilewright::pipeline
