// Counts of small arrays whose products are known.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/pipeline/multiplier_count_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;
using netlist::Parameters;

class MultiplierCountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = synthesis::missing_tools({"yosys"}); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    folder_ = fs::temp_directory_path() / ("tilewright-multipliers-" + std::to_string(::getpid()));
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Components side by side, all of their ports in the top.
  MultiplierCount count(const std::vector<std::pair<std::string, Parameters>>& components) const {
    netlist::Netlist design;
    design.top = "top";
    netlist::Module top("top");
    for (size_t i = 0; i < components.size(); ++i) {
      const auto& [name, parameters] = components[i];
      std::map<std::string, netlist::NetId> connections;
      for (const ComponentPort& port : component_type(name)->ports(parameters)) {
        connections[port.port.name] = top.add_port("c" + std::to_string(i) + "_" + port.port.name,
                                                   port.port.direction, port.port.width);
      }
      top.add_instance("u" + std::to_string(i), name, parameters, connections);
    }
    design.modules.push_back(top);
    return count_multipliers(design, {}, {TILEWRIGHT_SOURCE_DIR "/rtl", folder_, 100});
  }

  static Parameters array(int64_t bits, int64_t pi, int64_t po, const char* multiply) {
    return {{"AW", bits}, {"WW", bits},         {"PI", pi},
            {"PO", po},   {"ACC", int64_t{64}}, {"MULTIPLY", std::string(multiply)}};
  }

  fs::path folder_;
};

TEST_F(MultiplierCountTest, OneOperatorPerProduct) {
  const MultiplierCount result = count({{"mac_array", array(8, 5, 3, "dsp")}});
  ASSERT_EQ(result.classes.size(), 1u);
  EXPECT_EQ(result.classes[0].a_bits, 8);
  EXPECT_EQ(result.classes[0].b_bits, 8);
  EXPECT_TRUE(result.classes[0].in_array);
  EXPECT_EQ(result.array_products(), 15);
  EXPECT_EQ(result.operators(), 15);
  EXPECT_EQ(result.wide_array_products(), 0);
}

TEST_F(MultiplierCountTest, PairsWideAndLutProducts) {
  const MultiplierCount pair = count({{"mac_array", array(8, 6, 4, "pair")}});
  EXPECT_EQ(pair.array_products(), 24);
  EXPECT_EQ(pair.operators(), 12);
  const MultiplierCount packed = count({{"mac_array", array(4, 6, 7, "packed3")}});
  EXPECT_EQ(packed.array_products(), 6 * 9);
  EXPECT_EQ(packed.operators(), 6 * 3);
  const MultiplierCount wide = count({{"mac_array", array(32, 3, 2, "dsp")}});
  EXPECT_EQ(wide.array_products(), 6);
  EXPECT_EQ(wide.wide_array_products(), 6);
  EXPECT_EQ(wide.operators(), 24);
  const MultiplierCount lut = count({{"mac_array", array(4, 3, 2, "lut")}});
  EXPECT_EQ(lut.array_products(), 6);
  EXPECT_EQ(lut.operators(), 0);
}

TEST_F(MultiplierCountTest, ArraysAndTheRestApart) {
  const Parameters lanes = {
      {"AW", int64_t{8}}, {"WW", int64_t{8}}, {"P", int64_t{2}}, {"TAPS", int64_t{9}}, {"ACC", int64_t{32}}};
  const Parameters finish = {{"AW", int64_t{8}},
                             {"ACC", int64_t{25}},
                             {"PO", int64_t{4}},
                             {"PF", int64_t{2}},
                             {"SUM_BITS", int64_t{25}}};
  const MultiplierCount result =
      count({{"mac_array", array(8, 4, 4, "dsp")}, {"lane_array", lanes}, {"finish", finish}});
  EXPECT_EQ(result.array_products(), 16 + 18);
  ASSERT_EQ(result.classes.size(), 2u);
  EXPECT_FALSE(result.classes[1].in_array);
  EXPECT_EQ(result.classes[1].a_bits, 32);  // the multiplier of each lane
  EXPECT_EQ(result.classes[1].b_bits, 25);
  EXPECT_EQ(result.classes[1].products, 2);
  EXPECT_EQ(result.classes[1].operators, 4);
}

TEST_F(MultiplierCountTest, MissingSourcesAreNamed) {
  netlist::Netlist design;
  design.top = "top";
  netlist::Module top("top");
  top.add_instance("u", "mac_array", array(8, 1, 1, "dsp"), {});
  design.modules.push_back(top);
  EXPECT_THROW(count_multipliers(design, {}, {folder_ / "nowhere", folder_, 100}), Error);
}

// A cell that multiplies, as Yosys writes it: parameters are binary digits.
std::string product(const std::string& a, const std::string& b, const std::string& y) {
  return R"({"type": "$mul", "parameters": {"A_WIDTH": ")" + a + R"(", "B_WIDTH": ")" + b +
         R"(", "Y_WIDTH": ")" + y + R"("}})";
}
std::string module(const std::string& name, const std::string& cells) {
  return "\"" + name + R"(": {"attributes": {}, "cells": {)" + cells + "}}";
}
std::string netlist_of(const std::string& modules) { return R"({"modules": {)" + modules + "}}"; }

TEST(MultiplierNetlist, InstancesMultiply) {
  const MultiplierCount result = parse_multipliers(
      netlist_of(module("top", R"("u": {"type": "half"}, "v": {"type": "half"}, "w": {"type": "$add"})") +
                 ", " +
                 module("half", "\"m\": " + product("00000101", "1000", "1101") +
                                    ", \"n\": " + product("10", "11", "101"))),
      "x.json", "top");
  ASSERT_EQ(result.classes.size(), 2u);
  EXPECT_EQ(result.classes[0].a_bits, 8);
  EXPECT_EQ(result.classes[0].b_bits, 5);
  EXPECT_EQ(result.classes[0].products, 2);
  EXPECT_EQ(result.classes[0].operators, 2);
  EXPECT_EQ(result.classes[1].operators, 0);  // the result is too narrow for a block
}

TEST(MultiplierNetlist, DamageNamesFileAndTool) {
  const auto failure = [](const std::string& text) -> std::string {
    try {
      parse_multipliers(text, "x.json", "top");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      return error.what();
    }
    return "accepted";
  };
  const auto top = [](const std::string& cells) { return netlist_of(module("top", cells)); };
  ASSERT_EQ(failure(top("\"m\": " + product("1000", "1000", "10000"))), "accepted");
  for (const std::string& text : {std::string(),
                                  std::string("{"),
                                  std::string("[]"),
                                  std::string("{}"),
                                  netlist_of(""),
                                  std::string(R"({"modules": []})"),
                                  netlist_of(R"("top": 3)"),
                                  netlist_of(R"("top": {"cells": {}})"),
                                  netlist_of(R"("top": {"attributes": {}})"),
                                  netlist_of(R"("top": {"attributes": {"hdlname": 3}, "cells": {}})"),
                                  netlist_of(module("other", "")),
                                  top(R"("m": {})"),
                                  top(R"("m": 3)"),
                                  top(R"("m": {"type": 3})"),
                                  top(R"("m": {"type": "$mul"})"),
                                  top("\"m\": " + product("", "1000", "10000")),
                                  top("\"m\": " + product("x", "1000", "10000")),
                                  top("\"m\": " + product("-1", "1000", "10000")),
                                  top("\"m\": " + product(std::string(32, '1'), "1000", "10000")),
                                  top("\"m\": " + product(std::string(70, '1'), "1000", "10000")),
                                  top(R"("u": {"type": "top"})")}) {
    const std::string message = failure(text);
    EXPECT_TRUE(message.starts_with("x.json: not a Yosys netlist: ")) << text << "\n" << message;
    EXPECT_TRUE(message.ends_with("; Yosys 0.23 is known to work")) << message;
  }
  EXPECT_NE(failure(top(R"("u": {"type": "top"})")).find("the module top contains itself"),
            std::string::npos);
  EXPECT_NE(failure(top("\"m\": " + product("-1", "1000", "10000"))).find("'-1' is not a width"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright::pipeline
