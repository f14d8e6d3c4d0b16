// Generated designs in Verilator, through the command: bit for bit what the integer reference gives, in as
// many cycles as the cycle engine says.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "small_model.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright {
namespace {

TEST(GenerateRtl, TheHardwareComputesTheModel) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::string cache = " --rtl-cache " + fresh_folder("rtl_cache").string();
  for (const std::string& form : small_model_forms()) {
    SCOPED_TRACE(form);
    const std::string run = "run " + small_design("hardware", form).string() + " --input " +
                            small_model().images.string() + " --input-count 3 --json --engine ";
    const nlohmann::json rtl = nlohmann::json::parse(expect_success(run + "rtl --verify" + cache).output);
    const nlohmann::json cycle = nlohmann::json::parse(expect_success(run + "cycle").output);
    EXPECT_EQ(rtl["mismatches"], 0);
    EXPECT_EQ(rtl["cycles"], cycle["cycles"]);
  }
}

TEST(SynthDesign, CountsBesideEstimates) {
  const std::string missing = synthesis::missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const fs::path folder = small_design("synth", calibrated() + " --form streaming --budget multipliers=8");
  const nlohmann::json json = nlohmann::json::parse(
      expect_success("synth " + folder.string() + " --json -o " + fresh_folder("synth_out").string()).output);
  EXPECT_EQ(json["device"], "xc7z020");
  EXPECT_FALSE(json["by_module"]);
  ASSERT_EQ(json["resources"].size(), 5u);
  EXPECT_GT(json["resources"][0]["yosys"], 100);
  EXPECT_GT(json["resources"][0]["estimate"], 100);
}

}  // namespace
}  // namespace tilewright
