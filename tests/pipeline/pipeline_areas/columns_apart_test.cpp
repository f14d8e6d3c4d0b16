// Large arrays are synthesised column by column (design_synthesis.h). That has to give what the array as a
// whole gives: arrays small enough for both ways, on UltraScale+, where registers are shared between columns.
// Of wide memories of constants some columns stand for all: of such as both ways can count, too.
#include <gtest/gtest.h>

#include <filesystem>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/component/rom_walker.h"
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

DesignSynthesisOptions counting(const char* folder) {
  DesignSynthesisOptions options;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.folder = std::filesystem::path(testing::TempDir()) / folder;
  options.family = synthesis::DeviceFamily::kXcup;
  return options;
}

TEST(ColumnsApart, CountAsTheWholeArray) {
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  const std::vector<netlist::Instance> arrays = {array("dsp", 4, 6), array("pair", 4, 4), array("lut", 2, 4)};
  std::vector<const netlist::Instance*> list;
  for (const netlist::Instance& one : arrays) list.push_back(&one);
  DesignSynthesisOptions options = counting("columns_apart");
  const std::vector<ComponentCount> whole = count_components(list, {}, options);
  options.parts.product_bits = 1;
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

// Some columns are equal to others, or always the same.
netlist::Instance rom(const std::string& name, const char* kind, int64_t width, int64_t words,
                      MemoryImages& images) {
  Random random(uint64_t(width * words));
  MemoryImage image{int(width)};
  for (int64_t word = 0; word < words; ++word) {
    image.add_word();
    for (int64_t bit = 0; bit < width; ++bit) image.set(word, bit, 1, int64_t(random.next() >> 63));
    for (int64_t bit = 8; bit < width; bit += 16)
      image.set(word, bit, 1, int64_t(image.get(word, bit - 8, 1)));
    for (int64_t bit = 5; bit < width; bit += 16) image.set(word, bit, 1, 0);
  }
  netlist::Instance instance;
  instance.name = name;
  instance.module = "rom_walker";
  instance.parameters = {{"WIDTH", width},      {"WORDS", words},           {"FILE", name},
                         {"TASKS", int64_t{1}}, {"TABLE", name + "_tasks"}, {"KIND", std::string(kind)}};
  images[name] = std::move(image);
  images[name + "_tasks"] = encode({RomWalkerRow{0, 1, 1, words}});
  return instance;
}

TEST(ColumnsApart, CountAsTheWholeMemoryOfConstants) {
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  MemoryImages images;
  const std::vector<netlist::Instance> roms = {
      rom("deep", "block", 640, 1300, images), rom("shallow", "block", 720, 100, images),
      rom("gates", "lutram", 600, 24, images), rom("few", "lutram", 700, 4, images)};
  std::vector<const netlist::Instance*> list;
  for (const netlist::Instance& one : roms) list.push_back(&one);
  DesignSynthesisOptions options = counting("rom_columns");
  options.parts.rom_bits = INT64_MAX;
  const std::vector<ComponentCount> whole = count_components(list, images, options);
  options.parts.rom_bits = 1;
  const std::vector<ComponentCount> apart = count_components(list, images, options);
  std::filesystem::remove_all(options.folder);
  for (size_t i = 0; i < roms.size(); ++i) {
    SCOPED_TRACE(roms[i].name);
    EXPECT_FALSE(whole[i].columns_apart);
    EXPECT_EQ(apart[i].columns_apart, roms[i].name != "few");  // 14 columns differ
    const synthesis::Resources &w = whole[i].count.resources, &a = apart[i].count.resources;
    EXPECT_NEAR(double(a.bram), double(w.bram), 1);
    EXPECT_NEAR(double(a.ff), double(w.ff), 0.02 * double(w.ff));
    EXPECT_NEAR(double(a.lut), double(w.lut), 0.05 * double(w.lut));
  }
}

}  // namespace
}  // namespace tilewright::pipeline
