// Generated designs in the tools, through the command: Verilator gives bit for bit what the integer reference
// gives, in as many cycles as the cycle engine says, and finds nothing to complain of; Yosys counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "small_model.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

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
    // A slow build says in between how long it has taken.
    const auto answer = [&](const std::string& engine) {
      const std::string output = expect_success(run + engine).output;
      return nlohmann::json::parse(output.substr(output.find('{')));
    };
    const nlohmann::json rtl = answer("rtl --verify" + cache), cycle = answer("cycle");
    EXPECT_EQ(rtl["mismatches"], 0);
    EXPECT_EQ(rtl["cycles"], cycle["cycles"]);
  }
}

// Every bit stands with a layer, or what belongs to none, and with a module; all layers switch, and what
// crosses to DRAM is at the ports.
TEST(GenerateRtl, EnergyIsSharedOutWithoutRest) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::string cache = " --rtl-cache " + fresh_folder("rtl_energy").string();
  for (const char* form : {"streaming", "processors"}) {
    SCOPED_TRACE(form);
    const std::string design = small_design("energy", calibrated() + " --form " + form).string();
    const std::string run =
        "run " + design + " --input " + small_model().images.string() + " --input-count 2";
    const std::string output =
        expect_success(run + " --engine rtl --energy --energy-costs dram=4 --json" + cache).output;
    const nlohmann::json energy = nlohmann::json::parse(output.substr(output.find('{')))["energy"];
    EXPECT_EQ(energy["inputs"], 2);
    EXPECT_EQ(energy["pj_per_bit"]["dram"], 4);
    const auto sum = [&](const char* rows, const char* key) {
      double total = 0;
      for (const nlohmann::json& row : energy[rows]) total += double(row[key]);
      return total;
    };
    for (const char* key : {"toggled_bits", "memory_bits", "dram_bits", "pj"}) {
      EXPECT_DOUBLE_EQ(sum("layers", key), sum("modules", key)) << key;
      EXPECT_GT(sum("layers", key), 0) << key;
    }
    EXPECT_DOUBLE_EQ(sum("layers", "pj") / 2, double(energy["pj_per_input"]));
    int layers = 0;
    for (const nlohmann::json& row : energy["layers"]) {
      const std::string name = row["name"];
      if (name.starts_with("layer ")) {
        ++layers;
        EXPECT_GT(row["toggled_bits"], 100) << name;
      }
      EXPECT_EQ(row["dram_bits"] > 0, name == "memory ports") << name;
      if (name == "wires between parts") {
        EXPECT_LT(double(row["toggled_bits"]), 0.01 * sum("layers", "toggled_bits"));
      }
    }
    EXPECT_EQ(layers, 3);
    const CommandResult refused = command(run + " --engine cycle --energy");
    EXPECT_NE(refused.output.find("choose --engine rtl"), std::string::npos) << refused.output;
  }
}

TEST(GenerateRtl, VerilogIsCleanWhateverTheLayersAreCalled) {
  const std::string missing = synthesis::missing_tools({"verilator"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::filesystem::path folder = small_design("lint", calibrated());
  std::vector<std::filesystem::path> sources;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "rtl"))
    sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  EXPECT_EQ(synthesis::lint("tilewright_pipeline", sources), "");
}

TEST(SynthDesign, CountsBesideEstimates) {
  const std::string missing = synthesis::missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::filesystem::path folder =
      small_design("synth", calibrated() + " --form streaming --budget multipliers=8");
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
