#include "tilewright/pipeline/emit/component_parts.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"

namespace tilewright::pipeline {
namespace {

netlist::Instance walker(const char* kind, int64_t width, int64_t words) {
  netlist::Instance instance;
  instance.name = "weights";
  instance.module = "rom_walker";
  instance.parameters = {
      {"WIDTH", width}, {"WORDS", words}, {"FILE", std::string("contents")}, {"KIND", std::string(kind)}};
  return instance;
}

// Column 1 is column 0 again, column 2 always 1.
MemoryImage contents(int width, int64_t words) {
  Random random(5);
  MemoryImage image(width);
  for (int64_t word = 0; word < words; ++word) {
    image.add_word();
    for (int bit = 0; bit < width; ++bit) image.set(word, bit, 1, int64_t(random.next() >> 63));
    image.set(word, 1, 1, int64_t(image.get(word, 0, 1)));
    image.set(word, 2, 1, 1);
  }
  return image;
}

PartLimits few() {
  PartLimits limits;
  limits.rom_bits = 30;
  return limits;
}

TEST(ComponentParts, LeaveOutColumnsThatSynthesisLeavesOut) {
  MemoryImages images = {{"contents", contents(40, 30)}};
  const std::vector<ComponentPart> block = component_parts(walker("block", 40, 30), few(), images);
  const std::vector<ComponentPart> logic = component_parts(walker("lutram", 40, 30), few(), images);
  ASSERT_EQ(block.size(), 1u);
  ASSERT_EQ(logic.size(), 1u);
  EXPECT_EQ(block[0].weight, 1);
  EXPECT_EQ(netlist::integer(block[0].instance.parameters, "WIDTH"), 39);
  EXPECT_EQ(netlist::integer(logic[0].instance.parameters, "WIDTH"), 38);
  const MemoryImage& kept = images.at(netlist::text_or(block[0].instance.parameters, "FILE", ""));
  EXPECT_EQ(kept.words(), 30);
  EXPECT_EQ(kept.get(7, 2, 1), images.at("contents").get(7, 3, 1));
}

TEST(ComponentParts, OfWideMemoriesGiveALine) {
  const int64_t width = 40 * kRomColumns + 1;  // without the column that is always 1
  MemoryImages images = {{"contents", contents(int(width), 90)}};
  const std::vector<ComponentPart> parts = component_parts(walker("block", width, 90), few(), images);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(netlist::integer(parts[0].instance.parameters, "WIDTH"), kRomColumns);
  EXPECT_EQ(netlist::integer(parts[1].instance.parameters, "WIDTH"), 2 * kRomColumns);
  // Something constant and something per column come out as they should.
  EXPECT_DOUBLE_EQ(parts[0].weight + parts[1].weight, 1);
  EXPECT_DOUBLE_EQ(parts[0].weight * 1 + parts[1].weight * 2, 40);
}

TEST(ComponentParts, KeepAColumnOfAMemoryThatAlwaysSaysTheSame) {
  MemoryImage image(1000);
  image.add_word();
  MemoryImages images = {{"contents", image}};
  const std::vector<ComponentPart> parts = component_parts(walker("lutram", 1000, 1), few(), images);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(netlist::integer(parts[0].instance.parameters, "WIDTH"), 1);
}

}  // namespace
}  // namespace tilewright::pipeline
