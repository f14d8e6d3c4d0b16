// Emitted folders: nothing for lint to say, right wrappers. The tools that their users have run them in
// tests/pipeline/pipeline_emit.
#include "tilewright/pipeline/emit/emit.h"

#include <gtest/gtest.h>

#include "support/pipeline/emit_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/emit/design_wrappers.h"
#include "tilewright/pipeline/emit/host_program.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

class Emit : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Emit, testing::Bool(), [](const testing::TestParamInfo<bool>& shape) {
  return shape.param ? "Streaming" : "Processors";
});

TEST_P(Emit, LintsClean) {
  if (const std::string missing = synthesis::missing_tools({"verilator"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam());
  std::vector<fs::path> sources;
  for (const std::string& source : own.sources({"rtl"})) sources.push_back(source);
  EXPECT_EQ(synthesis::lint("tilewright_axi", sources), "");
}

TEST_P(Emit, WrappersAreRightNetlists) {
  const EmittedDesign own(GetParam());
  for (const netlist::Netlist& wrapper :
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
