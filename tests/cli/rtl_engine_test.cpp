// The hardware itself, through the command: the public default overlay on the same raw program as the
// simulators.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "engines.h"
#include "tilewright/base/file.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright {
namespace {

TEST(RtlEngine, LeavesTheSameMemoryInTheSameCyclesAsTheSimulators) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const auto folder = raw_program_folder(128);
  const std::string cache = " --rtl-cache " + fresh_folder("rtl_cache").string();
  const EngineRun functional = run_on(folder, "functional");
  for (const char* memory : {"fixed", "ddr"}) {
    const std::string model = std::string("--memory ") + memory;
    const EngineRun cycle = run_on(folder, "cycle", model), rtl = run_on(folder, "rtl", model + cache);
    EXPECT_EQ(functional.memory, cycle.memory);
    EXPECT_EQ(functional.memory, rtl.memory);
    EXPECT_EQ(nlohmann::json::parse(cycle.json)["counters"], nlohmann::json::parse(rtl.json)["counters"]);
  }
}

// The README's command: the numbers, and no folder to name.
TEST(CliSynth, WithoutAFolderTheNumbersArePrinted) {
  const std::string missing = synthesis::missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const auto temporary = fresh_folder("synth_numbers");
  const CommandResult result =
      command("synth overlay-tiny --device xc7z020 --json", "TMPDIR=" + temporary.string() + " ");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(nlohmann::json::parse(result.output)["device"], "xc7z020") << result.output;
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST(RtlEngine, WritesWaves) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const auto folder = fresh_folder("waves");
  write_text_file(folder / "hardware.yaml",
                  "isa: vta\nblock_in: 4\nblock_out: 4\nmemory_width_bits: 64\nuop_buffer_bytes: 256\n"
                  "input_buffer_bytes: 64\nweight_buffer_bytes: 256\naccumulator_buffer_bytes: 256\n");
  // One FINISH.
  std::vector<std::byte> finish(16);
  finish[0] = std::byte{3};
  write_file(folder / "finish.bin", finish);
  write_text_file(folder / "program.yaml",
                  "hardware: hardware.yaml\nmemory_bytes: 4096\nload:\n  - {file: finish.bin, address: 0}\n"
                  "instructions: {address: 0, count: 1}\n");
  const CommandResult result =
      command("exec " + (folder / "program.yaml").string() + " --engine rtl --rtl-cache " +
              (folder / "cache").string() + " --wave " + (folder / "w.fst").string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_GT(std::filesystem::file_size(folder / "w.fst"), 500u);
}

}  // namespace
}  // namespace tilewright
