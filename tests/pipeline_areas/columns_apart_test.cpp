// Large arrays are synthesised column by column (design_synthesis.h). That has to give what the array as a
// whole gives: arrays small enough for both ways, on UltraScale+, where registers are shared between columns.
#include <gtest/gtest.h>

#include <filesystem>

#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {
namespace {

netlist::Instance array(const char* multiply, int64_t inputs, int64_t outputs) {
  netlist::Instance instance;
  instance.name = "array";
  instance.module = "mac_array";
  instance.parameters = {{"AW", int64_t{8}},   {"A_BIPOLAR", int64_t{0}},
                         {"WW", int64_t{8}},   {"W_BIPOLAR", int64_t{0}},
                         {"PI", inputs},       {"PO", outputs},
                         {"ACC", int64_t{22}}, {"MULTIPLY", std::string(multiply)}};
  return instance;
}

TEST(ColumnsApart, CountAsTheWholeArray) {
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  const std::vector<netlist::Instance> arrays = {array("dsp", 4, 6), array("pair", 4, 4), array("lut", 2, 4)};
  std::vector<const netlist::Instance*> list;
  for (const netlist::Instance& one : arrays) list.push_back(&one);
  DesignSynthesisOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.folder = std::filesystem::path(testing::TempDir()) / "columns_apart";
  options.family = synthesis::DeviceFamily::kXcup;
  const std::vector<ComponentCount> whole = count_components(list, {}, options);
  options.most_products = 1;
  const std::vector<ComponentCount> apart = count_components(list, {}, options);
  std::filesystem::remove_all(options.folder);
  for (size_t i = 0; i < arrays.size(); ++i) {
    SCOPED_TRACE(netlist::text_or(arrays[i].parameters, "MULTIPLY", ""));
    EXPECT_FALSE(whole[i].columns_apart);
    EXPECT_TRUE(apart[i].columns_apart);
    const synthesis::Resources &w = whole[i].count.resources, &a = apart[i].count.resources;
    EXPECT_GT(w.lut, 0);
    EXPECT_EQ(a.dsp, w.dsp);
    EXPECT_NEAR(double(a.ff), double(w.ff), 0.01 * double(w.ff));
    EXPECT_NEAR(double(a.lut), double(w.lut), 0.05 * double(w.lut));
  }
}

}  // namespace
}  // namespace tilewright::pipeline
