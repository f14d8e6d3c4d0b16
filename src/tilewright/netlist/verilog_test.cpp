// Names and texts of printed modules.
#include "tilewright/netlist/verilog.h"

#include <gtest/gtest.h>

#include "tilewright/netlist/names.h"
#include "tilewright/netlist/netlist_testing.h"
#include "tilewright/netlist/usage.h"

namespace tilewright::netlist {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Names, KeepsLegalNamesAndChangesOthersStably) {
  const std::vector<std::string> names =
      legal_names({"a b", "a_b", "wire", "3x", "", "a-b", "wire_", "Wire"});
  EXPECT_EQ(names,
            (std::vector<std::string>{"a_b_2", "a_b", "wire__2", "n_3x", "n_", "a_b_3", "wire_", "Wire"}));
}

TEST(Names, TheFirstOfEqualNamesKeepsIt) {
  EXPECT_EQ(legal_names({"x", "x", "y", "x"}, {}), (std::vector<std::string>{"x", "x_2", "y", "x_3"}));
}

TEST(Names, StepsAsideForTakenOnes) {
  EXPECT_EQ(legal_names({"clk", "clk_2"}, {"clk"}), (std::vector<std::string>{"clk_3", "clk_2"}));
}

TEST(Verilog, RenamesKeywordsAndCollisions) {
  Module inner("module");
  inner.connect(inner.add_port("out", Direction::kOutput, 2), inner.add_port("input", Direction::kInput, 2));
  Module top("top");
  const NetId a = top.add_port("reg", Direction::kInput, 2);
  const NetId y = top.add_port("layer/1:0", Direction::kOutput, 2);
  top.add_net("rst", 2);
  top.connect(top.net("rst"), a);
  top.add_instance("begin", "module", {}, {{"input", top.net("rst")}, {"out", y}});
  const std::string text = to_verilog({"top", {inner, top}}, BoxLibrary());
  EXPECT_TRUE(contains(text, "module module_ (")) << text;
  EXPECT_TRUE(contains(text, "input logic [1:0] input_"));
  EXPECT_TRUE(contains(text, "input logic [1:0] reg_"));
  EXPECT_TRUE(contains(text, "output logic [1:0] layer_1_0"));
  EXPECT_TRUE(contains(text, "assign rst_2 = reg_;"));
  EXPECT_TRUE(contains(text, "module_ begin_ ("));
  EXPECT_TRUE(contains(text, ".input_(rst_2)"));
  EXPECT_EQ(printed_ports(top), (std::vector<std::string>{"reg_", "layer_1_0"}));
}

// Lint is told of nets that nothing reads: what goes into an instance is read, what comes out of it is not.
TEST(Verilog, KnowsWhichBitsAreRead) {
  Module top("top");
  const NetId a = top.add_port("a", Direction::kInput, 4);
  const NetId into = top.add_assign(Operation::kNot, {a}, 4, 0, "into");
  const NetId out = top.add_net("out", 4), part = top.add_net("part", 4);
  top.connect(part, a);
  const NetId low = top.add_assign(Operation::kSlice, {part}, 3, 0, "low");
  top.add_instance("one", "box", {{"WIDTH", int64_t{4}}}, {{"in", into}, {"out", out}});
  const BitUsage usage(top, {"top", {top}}, BoxLibrary());
  EXPECT_TRUE(usage.all_read(a));
  EXPECT_TRUE(usage.all_read(into));
  EXPECT_FALSE(usage.all_read(out));
  EXPECT_FALSE(usage.all_read(part));  // its highest bit is not
  EXPECT_FALSE(usage.all_read(low));
}

TEST(Verilog, PrintsParametersAndOpenOutputs) {
  Module top("top");
  const NetId a = top.add_port("a", Direction::kInput, 3);
  const NetId go = top.add_port("go", Direction::kInput, 1);
  top.add_instance("one", "box",
                   {{"WIDTH", int64_t{3}},
                    {"FILE", std::string("a\"b.hex")},
                    {"LOW", int64_t{-5}},
                    {"LARGE", int64_t{1} << 40}},
                   {{"in", a}, {"ready_in", go}});
  const std::string text = to_verilog({"top", {top}}, BoxLibrary());
  EXPECT_TRUE(contains(text, ".WIDTH(3)")) << text;
  EXPECT_TRUE(contains(text, ".FILE(\"a\\\"b.hex\")"));
  EXPECT_TRUE(contains(text, ".LOW(-5)"));
  EXPECT_TRUE(contains(text, ".LARGE(64'h10000000000)"));
  EXPECT_TRUE(contains(text, "logic [2:0] unused_one_out;"));
  EXPECT_TRUE(contains(text, ".out(unused_one_out)"));
}

TEST(Verilog, PrintsItsOwnParametersAndHandsThemOn) {
  Module inner("inner"), top("top");
  inner.text_parameters["FOLDER"] = ".";
  top.text_parameters["FOLDER"] = "a\"b";
  const NetId a = top.add_port("FOLDER", Direction::kInput, 3), go = top.add_port("go", Direction::kInput, 1);
  top.add_instance("below", "inner", {{"FOLDER", ParameterText{"FOLDER", ""}}}, {});
  top.add_instance("one", "box", {{"WIDTH", int64_t{3}}, {"FILE", ParameterText{"FOLDER", "/c.hex"}}},
                   {{"in", a}, {"ready_in", go}});
  const std::string text = to_verilog({"top", {inner, top}}, BoxLibrary());
  EXPECT_TRUE(contains(text, "module top #(\n    parameter FOLDER = \"a\\\"b\"\n) (")) << text;
  EXPECT_TRUE(contains(text, ".FOLDER(FOLDER)"));
  EXPECT_TRUE(contains(text, ".FILE({FOLDER, \"/c.hex\"})"));
  EXPECT_EQ(printed_ports(top)[0], "FOLDER_2");
}

// A section's nets, operators and instances stand together under its heading; an empty one is left out, and
// no heading ends its comment.
TEST(Verilog, PrintsSections) {
  Module top("top");
  const NetId a = top.add_port("a", Direction::kInput, 3), go = top.add_port("go", Direction::kInput, 1);
  top.begin_section({"nothing"});
  top.begin_section({"first\n`define", "and more"});
  const NetId b = top.add_assign(Operation::kNot, {a}, 3, 0, "b");
  top.begin_section({"second"});
  top.add_instance("one", "box", {{"WIDTH", int64_t{3}}}, {{"in", b}, {"ready_in", go}});
  const std::string text = to_verilog({"top", {top}}, BoxLibrary());
  EXPECT_FALSE(contains(text, "nothing")) << text;
  EXPECT_TRUE(
      contains(text, "\n  // ---- first?`define\n  //      and more\n  logic [2:0] b;\n  assign b = ~a;\n"));
  EXPECT_LT(text.find("assign b"), text.find("// ---- second"));
  EXPECT_LT(text.find("// ---- second"), text.find("box #("));
}

TEST(Names, PartsOfIdentifiers) {
  EXPECT_EQ(identifier_part("/features/0//Conv_2D", 40), "features_0_Conv_2D");
  EXPECT_EQ(identifier_part("__a__", 40), "a");
  EXPECT_EQ(identifier_part("a_bc", 2), "a");
  EXPECT_EQ(identifier_part("\xc3\xa4", 40), "");
}

}  // namespace
}  // namespace tilewright::netlist
