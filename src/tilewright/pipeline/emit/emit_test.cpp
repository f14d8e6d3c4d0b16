// Emitted folders: nothing for lint to say, right wrappers. The tools that their users have run them in
// tests/pipeline/pipeline_emit.
#include "tilewright/pipeline/emit/emit.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/pipeline/emit_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/emit/design_wrappers.h"
#include "tilewright/pipeline/emit/host_program.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

class Emit : public testing::TestWithParam<EmitCase> {};
INSTANTIATE_TEST_SUITE_P(Forms, Emit, testing::ValuesIn(emit_cases()), emit_case_name);

TEST_P(Emit, LintsClean) {
  if (const std::string missing = synthesis::missing_tools({"verilator"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const EmittedDesign own(GetParam().form, test_seed());
  std::vector<fs::path> sources;
  for (const std::string& source : own.sources({"rtl"})) sources.push_back(source);
  EXPECT_EQ(synthesis::lint("tilewright_axi", sources), "");
}

TEST_P(Emit, WrappersAreRightNetlists) {
  const EmittedDesign own(GetParam().form, test_seed());
  for (const netlist::Netlist& wrapper :
       {axi_wrapper(own.design), bench(own.design, {"m", "s", "e", "k", 1, 1, 0, 2, 2, 1})}) {
    Diagnostics diagnostics;
    netlist::verify(wrapper, WrapperLibrary(own.design), diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.errors()) ADD_FAILURE() << to_string(diagnostic);
  }
  EXPECT_TRUE(fs::exists(own.folder / "build.tcl"));
  EXPECT_TRUE(fs::exists(own.folder / "clock.xdc"));
}

// What build.tcl reads is what the folder holds; no source is silenced as a whole, or names a place.
TEST_P(Emit, SourcesAreAllReadAndNoneIsSilenced) {
  const EmittedDesign own(GetParam().form, test_seed());
  const std::string script = read_text_file(own.folder / "build.tcl");
  for (const std::string& source : own.sources({"rtl"})) {
    const std::string name = fs::path(source).filename().string(), text = read_text_file(source);
    EXPECT_NE(script.find("read_verilog -sv {rtl/" + name + "}\n"), std::string::npos) << name;
    EXPECT_EQ(text.find(own.folder.string()), std::string::npos) << name;
    std::istringstream lines(text);
    int silenced = 0;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      silenced += line.find("lint_off") != std::string::npos ? 1 : 0;
      silenced -= line.find("lint_on") != std::string::npos ? 1 : 0;
      const bool module = line.starts_with("module ") || line.starts_with("package ");
      EXPECT_TRUE(silenced == 0 || !module)
          << name << ':' << number << " opens a module while lint is silent";
    }
    EXPECT_EQ(silenced, 0) << name;
  }
}

// Every layer has its name in a heading, and every instance stands under one.
TEST_P(Emit, TheTopIsReadable) {
  const EmittedDesign own(GetParam().form, test_seed());
  const std::string top = read_text_file(own.folder / "rtl/tilewright_pipeline.sv");
  EXPECT_TRUE(top.starts_with("// The network "));
  for (const Layer& layer : own.network.layers) {
    EXPECT_NE(top.find(netlist::comment_text(", " + layer.name + ": " + kind_name(layer.kind))),
              std::string::npos)
        << layer.name;
  }
  for (const char* const heading : {"// ---- images from memory", "// ---- results to memory",
                                    "// ---- memory ports", "// ---- registers"}) {
    EXPECT_NE(top.find(heading), std::string::npos) << heading;
  }
  EXPECT_LT(top.find("// ----"), top.find("  tw_stream_"));
}

TEST(HostProgram, RefusesATextWithoutMark) {
  EXPECT_THROW(with_constants("int main() {}", "// @design@", "", "host.cpp"), Error);
}

}  // namespace
}  // namespace tilewright::pipeline
