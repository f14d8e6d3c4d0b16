// The tools on a design of a few lines: scripts, parsed results, failures.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/synthesis/nextpnr.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/vivado.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::synthesis {
namespace {

// Multiplies, accumulates, and keeps 512 sums of 16 bits: two block memories of an iCE40.
constexpr const char* kDesign = R"(
module keeper (input logic clk, input logic [3:0] a, input logic [8:0] index, output logic [7:0] y);
  logic [15:0] sums [0:511];
  logic [15:0] sum, old;
  always_ff @(posedge clk) begin
    old <= sums[index];
    sum <= old + 16'(a * a);
    sums[index] <= sum;
    y <= old[15:8];
  end
endmodule
)";

class FpgaTools : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    create_folder(folder_);
    write_text_file(folder_ / "keeper.sv", kDesign);
    job_.top = "keeper";
    job_.sources = {folder_ / "keeper.sv"};
    job_.folder = folder_ / "out";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  YosysJob job_;
};

TEST_F(FpgaTools, ScriptsNameFamilyBlocksAndPads) {
  job_.family = DeviceFamily::kXcup;
  job_.use_uram = true;
  EXPECT_NE(
      yosys_script(job_).find("synth_xilinx -family xcup -flatten -noiopad -noclkbuf -uram -top keeper"),
      std::string::npos);
  job_.family = DeviceFamily::kIce40;
  job_.use_uram = job_.use_dsp = false;
  EXPECT_NE(yosys_script(job_).find("synth_ice40 -abc9 -top keeper"), std::string::npos);
  EXPECT_EQ(yosys_script(job_).find("setattr"), std::string::npos);
  job_.any_memory = true;
  EXPECT_NE(yosys_script(job_).find("hierarchy -top keeper\nsetattr -set ram_style \"block\" "
                                    "a:ram_style=ultra\nsetattr -unset ram_style a:ram_style=distributed\n"
                                    "synth_ice40"),
            std::string::npos);
  job_.any_memory = false;
  EXPECT_EQ(yosys_script(job_).find("keep_hierarchy"), std::string::npos);
  EXPECT_NE(yosys_script(job_).find("write_json"), std::string::npos);
  job_.kept_modules = {"leaf"};
  job_.write_netlist = false;
  EXPECT_NE(yosys_script(job_).find("hierarchy -top keeper\nsetattr -mod -set keep_hierarchy 1 *\\leaf\n"),
            std::string::npos);
  EXPECT_EQ(yosys_script(job_).find("write_json"), std::string::npos);
  job_.sources = {"a \"quote\".sv"};
  EXPECT_THROW(yosys_script(job_), Error);
}

TEST_F(FpgaTools, OptionsBecomeFlags) {
  job_.family = DeviceFamily::kIce40;
  job_.use_dsp = false;
  job_.options.mapper = LutMapper::kAbc;
  job_.options.flatten = job_.options.clock_enables = false;
  job_.options.map_registers = true;
  EXPECT_NE(yosys_script(job_).find("synth_ice40 -noflatten -dff -nodffe -top keeper"), std::string::npos);
  job_.options = {};
  job_.options.mapper = LutMapper::kAbc9;
  job_.options.synthesis_mhz = 40;
  EXPECT_NE(yosys_script(job_).find("scratchpad -set abc9.D 25000\nsynth_ice40 -abc9 -top keeper"),
            std::string::npos);
  job_.family = DeviceFamily::kEcp5;
  job_.options = {};
  job_.options.carry_chains = job_.options.table_memory = job_.options.dsp = false;
  job_.use_dsp = true;
  EXPECT_NE(yosys_script(job_).find("synth_ecp5 -nodsp -noccu2 -nolutram -top keeper"), std::string::npos);
}

TEST_F(FpgaTools, SynthesisPlacementAndBitstreamOfASmallDesign) {
  const std::string missing = missing_tools({"yosys", "nextpnr-ice40", "icepack"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  job_.use_dsp = false;
  job_.with_pads = true;
  const YosysResult yosys = run_yosys(job_);
  EXPECT_EQ(yosys.count.resources.bram, 2);
  EXPECT_EQ(yosys.count.resources.dsp, 0);
  EXPECT_GE(yosys.count.resources.ff, 16);
  EXPECT_TRUE(yosys.count.other.empty());
  EXPECT_NE(read_text_file(yosys.verilog).find("SB_RAM40_4K"), std::string::npos);

  NextpnrJob place{DeviceFamily::kIce40, {"--hx8k", "--package", "ct256"}, yosys.netlist, {}, job_.folder};
  const NextpnrResult routed = run_nextpnr(place);
  EXPECT_GT(routed.slowest_mhz(), 20);
  EXPECT_EQ(routed.utilisation.at("ICESTORM_RAM"), (std::pair<int64_t, int64_t>{2, 32}));
  ASSERT_FALSE(routed.critical.empty());
  EXPECT_GT(routed.critical.front().routing_ns, 0);
  EXPECT_GT(pack_ice40(routed.routed, job_.folder / "keeper.bin"), 100000);  // 8k parts: 135 KB

  place.device_arguments = {"--lp384", "--package", "qn32"};  // has no block memory
  try {
    run_nextpnr(place);
    FAIL() << "a design with block memories was placed on a part without";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
  }
  EXPECT_FALSE(std::filesystem::exists(routed.routed));
  EXPECT_THROW(pack_ice40(routed.routed, job_.folder / "none.bin"), Error);
  EXPECT_FALSE(std::filesystem::exists(job_.folder / "none.bin"));
}

// Nobody's home folder gets a history of what no one typed.
TEST_F(FpgaTools, YosysLeavesNothingInTheHomeFolder) {
  const std::string missing = missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  create_folder(folder_ / "home");
  const char* const before = std::getenv("HOME");
  const std::string home = before == nullptr ? "" : before;
  ::setenv("HOME", (folder_ / "home").c_str(), 1);
  EXPECT_EQ(run_tool({"sh", {"-c", "echo $HOME"}}).output, (folder_ / "home").string() + "\n");
  run_yosys(job_);
  tool_version("yosys");
  before == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "home"));
}

TEST_F(FpgaTools, RefusedSourceShowsWhatYosysSaid) {
  const std::string missing = missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  write_text_file(folder_ / "keeper.sv", "module keeper (input clk;\nendmodule\n");
  try {
    run_yosys(job_);
    FAIL() << "a syntax error passed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("keeper.sv:1"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(job_.folder / "netlist.json"));
}

TEST(FpgaReports, ReadAndRefused) {
  EXPECT_EQ(parse_cell_counts(R"({"design": {"num_cells_by_type": {"LUT6": 12, "FDRE": 3}}})", "cells.json"),
            (std::map<std::string, int64_t>{{"LUT6", 12}, {"FDRE", 3}}));
  EXPECT_THROW(parse_cell_counts("{}", "cells.json"), Error);
  EXPECT_THROW(parse_cell_counts("Number of cells: 3", "cells.json"), Error);
  const auto modules = parse_module_cells(R"({"modules": {
    "\\top": {"num_cells_by_type": {"part": 2, "LUT6": 1}},
    "\\part": {"num_cells_by_type": {"LUT6": 3, "$paramod$1\\leaf": 2}},
    "$paramod$1\\leaf": {"num_cells_by_type": {"FDRE": 5}}},
       $paramod$1\leaf      2
       \part      2
       leaf_of_the_source      1
    "design": {}})",
                                          "cells.json");
  EXPECT_EQ(modules.at("top"), (std::map<std::string, int64_t>{{"LUT6", 7}, {"FDRE", 20}}));
  EXPECT_EQ(modules.at("part"), (std::map<std::string, int64_t>{{"LUT6", 3}, {"FDRE", 10}}));
  EXPECT_THROW(parse_module_cells("{}", "cells.json"), Error);
  // More cells than any device has, in one line or in all: no count that a report could overflow.
  const auto cells = [](const std::string& first, const std::string& second) {
    return parse_module_cells(
        R"({"modules": {"\\top": {"num_cells_by_type": {"part": )" + first + R"(, "LUT6": )" + second + R"(}},
                                   "\\part": {"num_cells_by_type": {"LUT6": 1}}}})",
        "cells.json");
  };
  EXPECT_EQ(cells("1099511627775", "1").at("top").at("LUT6"), int64_t{1} << 40);
  EXPECT_THROW(cells("1099511627776", "1"), Error);

  NextpnrResult result;
  parse_nextpnr_report(R"({"fmax": {"clk": {"achieved": 31.5, "constraint": 12.0},
                                    "uart": {"achieved": 28.25, "constraint": 12.0}},
    "utilization": {"ICESTORM_LC": {"used": 5, "available": 7680}},
    "critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [
      {"delay": 1.5, "type": "clk-to-q", "from": {"cell": "a"}, "to": {"cell": "a"}},
      {"delay": 2.25, "type": "routing", "from": {"cell": "a"}, "to": {"cell": "b"}},
      {"delay": 0.5, "type": "setup", "from": {"cell": "b"}, "to": {"cell": "b"}}]}]})",
                       "nextpnr.json", result);
  EXPECT_EQ(result.slowest_mhz(), 28.25);
  EXPECT_EQ(result.utilisation.at("ICESTORM_LC").second, 7680);
  EXPECT_EQ(result.critical.front().first_cell, "a");
  EXPECT_EQ(result.critical.front().last_cell, "b");
  EXPECT_EQ(result.critical.front().logic_ns, 2.0);
  EXPECT_EQ(result.critical.front().routing_ns, 2.25);
  EXPECT_THROW(parse_nextpnr_report(R"({"fmax": {}})", "nextpnr.json", result), Error);
  EXPECT_EQ(NextpnrResult{}.slowest_mhz(), 0);
}

// What a tool left of its report, or what stands there instead, and the parser that must name file and tool.
struct Report {
  std::string tool, text;
  std::function<void(const std::string&)> parse;
};

std::vector<Report> reports() {
  return {{"Yosys",
           R"({"creator": "Yosys 0.23", "modules": {"\\top": {"num_cells_by_type": {"part": 2, "LUT6": 1}},
"\\part": {"num_cells_by_type": {"LUT6": 3}}},
"design": {"num_cells": 7, "num_cells_by_type": {"LUT6": 7}}})",
           [](const std::string& text) {
             parse_cell_counts(text, "x.json");
             parse_module_cells(text, "x.json");
           }},
          {"nextpnr",
           R"({"fmax": {"clk": {"achieved": 31.5}}, "utilization": {"LC": {"used": 5, "available": 7680}},
"critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [
{"delay": 1.5, "type": "routing", "from": {"cell": "a"}, "to": {"cell": "b"}}]}]})",
           [](const std::string& text) {
             NextpnrResult result;
             parse_nextpnr_report(text, "x.json", result);
           }}};
}

// Reports that were cut off, overwritten, or hold other values: an error about the file, or a report.
TEST(FpgaReportsClass, DamagedReportsAreErrorsAboutTheFile) {
  Random random(test_seed());
  const int64_t cases = test_cases(4000);
  RecordProperty("cases", int(cases));
  const std::vector<Report> all = reports();
  const std::vector<std::string> values = {"null",
                                           "[]",
                                           "{}",
                                           "-1",
                                           "1e300",
                                           "1e999",
                                           "18446744073709551615",
                                           "\"x\"",
                                           "\"top\"",
                                           "\"part\"",
                                           "{\"part\": 1099511627776}",
                                           "\xff"};
  int64_t refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const Report& report = all[size_t(i) % all.size()];
    std::string text = report.text;
    for (int64_t edits = random.between(1, 3); edits > 0; --edits) {
      const auto at = size_t(random.between(0, int64_t(text.size()) - 1));
      switch (random.between(0, 4)) {
        case 0:
          text.resize(at + 1);
          break;
        case 1:
          text[at] = char(random.between(0, 255));
          break;
        case 2:
          text.erase(at, size_t(random.between(1, 12)));
          break;
        case 3:
          text.insert(at, std::string(size_t(random.between(1, 200)), random.chance(0.5) ? '[' : '{'));
          break;
        default: {  // another value in place of one
          const size_t colon = text.find(':', at);
          if (colon == std::string::npos) break;
          const size_t end = text.find_first_of(",}]", colon);
          text.replace(colon + 1, end == std::string::npos ? end : end - colon - 1,
                       values[size_t(random.between(0, int64_t(values.size()) - 1))]);
        }
      }
      if (text.empty()) text = "x";
    }
    try {
      report.parse(text);
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput) << "seed " << test_seed() << ", case " << i << "\n"
                                                        << text;
      ASSERT_NE(std::string(error.what()).find("x.json"), std::string::npos) << error.what();
    } catch (const std::exception& error) {
      FAIL() << "seed " << test_seed() << ", case " << i << ": " << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, cases / 3);
}

TEST(FpgaReports, DamageNamesFileAndTool) {
  const auto error_of = [](const auto& parse) {
    try {
      parse();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      error_of(
          [] { parse_module_cells(R"({"modules": {"\\a": {"num_cells_by_type": {"a": 1}}}})", "x.json"); }),
      "x.json: not a Yosys statistics file: modules contain each other endlessly; Yosys 0.23 is known to "
      "work; see its log next to the file");
  EXPECT_EQ(
      error_of([] { parse_cell_counts(R"({"design": {"num_cells_by_type": {"LUT": "3"}}})", "x.json"); }),
      "x.json: not a Yosys statistics file: 'LUT' has no count of cells; Yosys 0.23 is known to work; see "
      "its log next to the file");
  NextpnrResult result;
  EXPECT_EQ(error_of([&] {
              parse_nextpnr_report(R"({"fmax": {}, "utilization": {"LC": {"used": 1e300, "available": 2}}})",
                                   "x.json", result);
            }),
            "x.json: not a nextpnr report: 'LC' has no counts of cells; nextpnr 0.4 is known to work; see "
            "its log next to the file");
}

TEST(Vivado, ScriptReadsSourcesInOrderAndConstrainsTheClock) {
  const VivadoJob job{
      "xc7z020clg400-1", "tilewright_overlay", {"overlay_config.sv", "tw_overlay_fetch.sv"}, 125};
  const std::string script = vivado_script(job);
  EXPECT_LT(script.find("{overlay_config.sv}"), script.find("{tw_overlay_fetch.sv}"));
  EXPECT_NE(script.find("-top tilewright_overlay -part xc7z020clg400-1"), std::string::npos);
  EXPECT_EQ(vivado_constraints(job), "create_clock -name clk -period 8.000 [get_ports clk]\n");
}

}  // namespace
}  // namespace tilewright::synthesis
