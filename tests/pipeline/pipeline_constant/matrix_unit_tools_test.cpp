// Matrix units in Verilator and as the cells that Yosys makes of them: the product in every cycle, nothing to
// complain about, and the tables that their graphs count; folders of whole networks in Icarus.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/pipeline/dense_network_testing.h"
#include "support/pipeline/matrix_unit_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/pipeline/constant/constant_network.h"
#include "tilewright/pipeline/constant/solve.h"
#include "tilewright/pipeline/emit/constant_folder.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

class MatrixUnitTools : public testing::Test {
 protected:
  const TemporaryFolder folder_{std::filesystem::temp_directory_path(), "tilewright-unit"};
};

TEST_F(MatrixUnitTools, VerilatorAgreesAndHasNothingToSay) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  Random random(test_seed());
  for (const int levels : {0, 1, 3}) {
    const MatrixCase one = random_matrix_case(12, random);
    MatrixUnitOptions options;
    options.levels = levels;
    const MatrixUnit unit = make_matrix_unit(solve_matrix(one.matrix, one.ranges).graph, options);
    const netlist::Netlist design = unit_design(unit);
    EXPECT_EQ(synthesis::lint(unit.module.name,
                              write_sources(design, {}, folder_.path(), rtl_options().rtl_folder)),
              "");
    RtlModel model(design, {}, rtl_options());
    EXPECT_EQ(unit_mismatches(model, one, unit.latency, 500, levels > 0, random), 0)
        << "seed " << test_seed();
  }
}

TEST_F(MatrixUnitTools, CellsAreThoseThatTheGraphCountsAndGiveTheProduct) {
  if (const std::string missing = synthesis::missing_tools({"yosys", "iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Random random(test_seed());
  const MatrixCase one{uniform_matrix(12, 12, 6, random), std::vector<NumberRange>(12, full_range(8, true))};
  const AdderGraph graph = solve_matrix(one.matrix, one.ranges).graph;
  const MatrixUnit unit = make_matrix_unit(graph);
  const SynthesisedUnit made = synthesise_unit(unit, folder_.path(), true);
  EXPECT_EQ(made.dsp, 0);
  EXPECT_NEAR(double(made.lut), double(graph.luts()), 0.02 * double(graph.luts())) << "seed " << test_seed();
  for (const std::filesystem::path& netlist : {std::filesystem::path(), made.netlist}) {
    EXPECT_EQ(icarus_mismatches(unit, one, 300, netlist, folder_.path() / "icarus", random), 0)
        << "seed " << test_seed() << ", " << netlist;
  }
}

TEST_F(MatrixUnitTools, FoldersPassTheirTestbench) {
  if (const std::string missing = synthesis::missing_tools({"iverilog"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Random random(test_seed());
  int passed = 0;
  for (int i = 0; i < 6; ++i) {
    const Network network = random_dense_network(random, 10);
    ConstantNetwork made;
    try {
      made = build_constant_network(network);
    } catch (const Error&) {  // a scale that is too fine
      continue;
    }
    write_constant_folder(made, network, folder_.path());
    synthesis::run_tool_checked({"iverilog",
                                 {"-g2012", "-o", "testbench", "testbench.sv", "constant_network.sv"},
                                 folder_.path(),
                                 600,
                                 {}});
    const std::string said =
        synthesis::run_tool_checked({"vvp", {"testbench"}, folder_.path(), 600, {}}).output;
    EXPECT_NE(said.find("PASS: 64 results"), std::string::npos)
        << fmt::format("seed {}, network {}: {}", test_seed(), i, said);
    EXPECT_EQ(synthesis::lint(made.design.top, {folder_.path() / "constant_network.sv"}), "");
    ++passed;
  }
  EXPECT_GT(passed, 2);
}

}  // namespace
}  // namespace tilewright::pipeline
