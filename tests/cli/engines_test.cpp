// Engines by name: the same memory afterwards, cycles and traces from the timed ones.
#include "engines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

TEST(Engines, RawProgramsLeaveTheSameMemoryWithAndWithoutTime) {
  const auto folder = raw_program_folder(64);
  const EngineRun functional = run_on(folder, "functional"), cycle = run_on(folder, "cycle");
  EXPECT_EQ(functional.memory, cycle.memory);
  const auto untimed = nlohmann::json::parse(functional.json), timed = nlohmann::json::parse(cycle.json);
  EXPECT_FALSE(untimed.contains("counters"));
  EXPECT_EQ(untimed["gemm_uops"], timed["gemm_uops"]);
  const auto& c = timed["counters"];
  const auto number = [&](const char* name) { return c[name].get<uint64_t>(); };
  EXPECT_EQ(number("compute_gemm") + number("compute_alu") + number("compute_load") +
                number("compute_token_load") + number("compute_token_store") + number("compute_starved"),
            number("cycles"));
  EXPECT_EQ(number("load_busy") + number("load_token") + number("load_starved"), number("cycles"));
  // A slower memory takes longer.
  const auto slow = nlohmann::json::parse(run_on(folder, "cycle", "--memory fixed:200").json);
  EXPECT_GT(slow["counters"]["cycles"].get<uint64_t>(), number("cycles"));
}

TEST(Engines, ABundleRunsInTimeWithTheSameBitsAndATrace) {
  const auto folder = fresh_folder("timed");
  const std::string trace = (folder / "t.json").string();
  const CommandResult result =
      command("run " + demo_files().bundle.string() + " --input " + demo_files().images.string() +
              " --engine cycle --counters --verify --trace " + trace);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "all 8 outputs are bit-identical")) << result.output;
  EXPECT_TRUE(contains(result, " cycles on the overlay, ")) << result.output;
  EXPECT_TRUE(contains(result, "\ncompute GEMM ")) << result.output;
  const auto events = nlohmann::json::parse(read_text_file(trace))["traceEvents"];
  size_t slices = 0, tokens = 0, layers = 0;
  for (const auto& event : events) {
    slices += event["ph"] == "X" && event["tid"] != 4;
    layers += event["ph"] == "X" && event["tid"] == 4;
    tokens += event["ph"] == "f";
  }
  EXPECT_GT(slices, 1000u);
  EXPECT_GT(tokens, 100u);
  EXPECT_EQ(layers % 8, 0u);  // of eight inputs
  EXPECT_GE(layers, 8u * 4);
}

TEST(Engines, OptionsThatMeanNothingAreRefused) {
  const std::string base = "run " + demo_files().bundle.string() + " --input " + demo_files().images.string();
  const auto refused = [&](const std::string& more, const std::string& text) {
    const CommandResult result = command(base + " " + more);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_TRUE(contains(result, text)) << result.output;
  };
  refused("--memory ddr", "--memory does not apply to the functional engine");
  refused("--engine host --trace t.json", "--trace does not apply to the host engine");
  refused("--engine cycle --wave w.fst", "--wave does not apply to the cycle engine");
  refused("--engine cycle --memory dram", "dram");
  refused("--engine cycle --trace /no/such/folder/t.json", "/no/such/folder/t.json");
}

}  // namespace
}  // namespace tilewright
