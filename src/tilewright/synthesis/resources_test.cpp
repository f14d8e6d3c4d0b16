#include "tilewright/synthesis/resources.h"

#include <gtest/gtest.h>

namespace tilewright::synthesis {
namespace {

TEST(Resources, CountsXilinxCells) {
  const CellCount count = count_cells(DeviceFamily::kXc7, {{"LUT2", 3},
                                                           {"LUT6", 4},
                                                           {"FDRE", 5},
                                                           {"FDSE", 1},
                                                           {"CARRY4", 2},
                                                           {"DSP48E1", 6},
                                                           {"RAMB36E1", 7},
                                                           {"RAMB18E1", 1},
                                                           {"RAM64M", 2},
                                                           {"MUXF7", 9},
                                                           {"BUFG", 1}});
  EXPECT_EQ(count.resources,
            (Resources{.lut = 3 + 4 + 2 * 4, .ff = 6, .carry = 2, .dsp = 6, .bram = 15, .uram = 0}));
  EXPECT_TRUE(count.other.empty());
}

TEST(Resources, CountsTheTablesOfCarryCellsOnEcp5) {
  const CellCount count = count_cells(DeviceFamily::kEcp5, {{"LUT4", 10},
                                                            {"CCU2C", 3},
                                                            {"TRELLIS_FF", 4},
                                                            {"DP16KD", 2},
                                                            {"MULT18X18D", 5},
                                                            {"TRELLIS_DPR16X4", 1},
                                                            {"PFUMX", 8}});
  EXPECT_EQ(count.resources,
            (Resources{.lut = 10 + 6 + 6, .ff = 4, .carry = 3, .dsp = 5, .bram = 2, .uram = 0}));
}

// By the vendors' documents: tables that a memory of the slice takes, memories of 18 Kb, free cells.
TEST(Resources, EveryCellOfEveryFamily) {
  struct Expected {
    DeviceFamily family;
    const char* cell;
    Resources each;
  };
  const auto lut = [](int64_t n) { return Resources{.lut = n}; };
  constexpr auto kXc7 = DeviceFamily::kXc7, kXcup = DeviceFamily::kXcup, kEcp5 = DeviceFamily::kEcp5,
                 kIce40 = DeviceFamily::kIce40;
  std::vector<Expected> cells;
  for (const DeviceFamily family : {kXc7, kXcup}) {
    for (const char* cell : {"LUT1", "LUT6", "SRL16E", "SRLC16E", "SRLC32E", "RAM32X1S", "RAM64X1S"}) {
      cells.push_back({family, cell, lut(1)});
    }
    for (const char* cell : {"RAM128X1S", "RAM32X1D", "RAM64X1D"}) cells.push_back({family, cell, lut(2)});
    for (const char* cell : {"RAM256X1S", "RAM128X1D", "RAM32M", "RAM64M"}) {
      cells.push_back({family, cell, lut(4)});
    }
    for (const char* cell : {"RAM32M16", "RAM64M8"}) cells.push_back({family, cell, lut(8)});
    for (const char* cell : {"FDRE", "FDCE", "LDCE"}) cells.push_back({family, cell, {.ff = 1}});
    for (const char* cell : {"CARRY4", "CARRY8"}) cells.push_back({family, cell, {.carry = 1}});
    for (const char* cell : {"DSP48E1", "DSP48E2"}) cells.push_back({family, cell, {.dsp = 1}});
    for (const char* cell : {"RAMB36E1", "RAMB36E2"}) cells.push_back({family, cell, {.bram = 2}});
    for (const char* cell : {"RAMB18E1", "RAMB18E2"}) cells.push_back({family, cell, {.bram = 1}});
    cells.push_back({family, "URAM288", {.uram = 1}});
    for (const char* cell : {"MUXF7", "MUXF8", "INV", "IBUF", "OBUF", "BUFG", "GND", "VCC"}) {
      cells.push_back({family, cell, {}});
    }
  }
  cells.insert(cells.end(), {{kEcp5, "LUT4", lut(1)},
                             {kEcp5, "CCU2C", {.lut = 2, .carry = 1}},
                             {kEcp5, "TRELLIS_DPR16X4", lut(6)},
                             {kEcp5, "TRELLIS_FF", {.ff = 1}},
                             {kEcp5, "MULT18X18D", {.dsp = 1}},
                             {kEcp5, "DP16KD", {.bram = 1}},
                             {kEcp5, "PDPW16KD", {.bram = 1}},
                             {kIce40, "SB_LUT4", lut(1)},
                             {kIce40, "SB_CARRY", {.carry = 1}},
                             {kIce40, "SB_DFFESR", {.ff = 1}},
                             {kIce40, "SB_RAM40_4KNR", {.bram = 1}},
                             {kIce40, "SB_MAC16", {.dsp = 1}},
                             {kIce40, "SB_SPRAM256KA", {.uram = 1}}});
  for (const char* cell : {"ALU54B", "PFUMX", "L6MUX21", "TRELLIS_IO", "GSR"})
    cells.push_back({kEcp5, cell, {}});
  for (const char* cell : {"SB_IO", "SB_GB", "SB_PLL40_CORE"}) cells.push_back({kIce40, cell, {}});
  for (const Expected& expected : cells) {
    SCOPED_TRACE(std::string(family_name(expected.family)) + " " + expected.cell);
    const CellCount count = count_cells(expected.family, {{expected.cell, 3}});
    const Resources& e = expected.each;
    EXPECT_EQ(count.resources, (Resources{.lut = 3 * e.lut,
                                          .ff = 3 * e.ff,
                                          .carry = 3 * e.carry,
                                          .dsp = 3 * e.dsp,
                                          .bram = 3 * e.bram,
                                          .uram = 3 * e.uram}));
    EXPECT_TRUE(count.other.empty());
  }
}

TEST(Resources, NamesCellsItDoesNotKnow) {
  const CellCount count =
      count_cells(DeviceFamily::kIce40, {{"SB_LUT4", 1}, {"SB_DFFESR", 2}, {"$mem_v2", 1}});
  EXPECT_EQ(count.resources, (Resources{.lut = 1, .ff = 2}));
  EXPECT_EQ(count.other, (std::map<std::string, int64_t>{{"$mem_v2", 1}}));
}

}  // namespace
}  // namespace tilewright::synthesis
