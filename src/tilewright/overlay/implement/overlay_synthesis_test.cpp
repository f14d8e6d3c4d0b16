#include "tilewright/overlay/implement/overlay_synthesis.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"

namespace tilewright::overlay {
namespace {

const std::filesystem::path kRoot = TILEWRIGHT_SOURCE_DIR;

SynthesisReport small_report() {
  SynthesisReport report;
  report.hardware.name = "small";
  report.device = find_device("ice40-hx8k", kRoot / "hardware" / "devices");
  report.top = "overlay_board";
  report.sources = {"rtl/overlay_config.sv", "rtl/fetch.sv"};
  report.yosys.cells = {{"SB_LUT4", 100}, {"SB_DFF", 40}};
  report.yosys.count.resources = {.lut = 100, .ff = 40, .bram = 33};
  report.yosys.seconds = 2;
  report.fit = fit(report.device, report.yosys.count.resources);
  report.clock_mhz = 12;
  return report;
}

TEST(OverlaySynthesis, BufferBitsCountBothReadPortsAndTheMirror) {
  OverlayHardware h = find_overlay_hardware("overlay-tiny", kRoot / "hardware");
  // UOP 1024, INP 512, WGT 1024, ACC 2048 twice, OUT 128 elements of 4 bytes.
  EXPECT_EQ(buffer_bits(h), 8 * (1024 + 512 + 1024 + 2 * 2048 + 128 * 4));
}

TEST(OverlaySynthesis, BuffersBeyondThePartAreRefusedBeforeAnyToolRuns) {
  const std::filesystem::path output = std::filesystem::path(testing::TempDir()) / "synthesis_refused";
  std::filesystem::remove_all(output);
  const OverlayHardware h = find_overlay_hardware("vta-default", kRoot / "hardware");
  try {
    synthesize(h, find_device("ice40-hx8k", kRoot / "hardware" / "devices"), {kRoot / "rtl", output});
    FAIL() << "half a megabyte fitted 16 KiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    const std::string text = error.what();
    EXPECT_NE(text.find("device 'ice40-hx8k' (BRAM): the buffers of 'vta-default' need 4864 Kb"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("has 128 Kb"), std::string::npos) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(OverlaySynthesis, BoardSourcesComeBehindThePackageAndTheOverlay) {
  const std::filesystem::path output = std::filesystem::path(testing::TempDir()) / "synthesis_sources";
  std::filesystem::remove_all(output);
  const OverlayHardware h = find_overlay_hardware("overlay-ice40", kRoot / "hardware");
  const auto sources = write_board_rtl(h, {kRoot / "rtl", output}, true);
  ASSERT_GT(sources.size(), 5u);
  EXPECT_EQ(sources.front().filename(), "overlay_config.sv");
  EXPECT_EQ(sources.back().filename(), "tw_board_serial_transmitter.sv");
  for (const auto& source : sources) EXPECT_TRUE(std::filesystem::exists(source)) << source;
  EXPECT_LT(write_board_rtl(h, {kRoot / "rtl", output}, false).size(), sources.size());
  std::filesystem::remove_all(output);
}

TEST(OverlaySynthesis, ReportStatesNeedHaveAndWhatIsMissing) {
  SynthesisReport report = small_report();
  EXPECT_FALSE(report.fits());
  EXPECT_FALSE(report.fmax_mhz().has_value());
  nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["resources"]["lut"], 100);
  EXPECT_EQ(json["fit"]["BRAM"]["need"], 33);
  EXPECT_EQ(json["fit"]["BRAM"]["have"], 32);
  EXPECT_FALSE(json["fit"]["BRAM"]["fits"].get<bool>());
  EXPECT_TRUE(json["fit"]["LUT"]["fits"].get<bool>());
  EXPECT_FALSE(json.contains("placed"));
  EXPECT_EQ(json["sources"][0], "overlay_config.sv");
  EXPECT_NE(to_string(report).find("33          32   103.1%  does not fit"), std::string::npos)
      << to_string(report);
  EXPECT_NE(to_string(report).find("not placed"), std::string::npos);
}

TEST(OverlaySynthesis, ReportOfAPlacedDesignJudgesTheSlowestClock) {
  SynthesisReport report = small_report();
  report.placed.emplace();
  report.placed->fmax_mhz = {{"clk", 25.5}, {"other", 11.5}};
  report.placed->seconds = 3;
  EXPECT_FALSE(report.timing_met());
  EXPECT_NE(to_string(report).find("11.50 MHz: 12 MHz MISSED"), std::string::npos) << to_string(report);
  report.placed->fmax_mhz.erase("other");
  EXPECT_TRUE(report.timing_met());
  EXPECT_EQ(report.seconds(), 5);
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["placed"]["fmax_mhz"], 25.5);
  EXPECT_TRUE(json["placed"]["timing_met"].get<bool>());
}

}  // namespace
}  // namespace tilewright::overlay
