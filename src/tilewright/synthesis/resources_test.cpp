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

TEST(Resources, NamesCellsItDoesNotKnow) {
  const CellCount count =
      count_cells(DeviceFamily::kIce40, {{"SB_LUT4", 1}, {"SB_DFFESR", 2}, {"$mem_v2", 1}});
  EXPECT_EQ(count.resources, (Resources{.lut = 1, .ff = 2}));
  EXPECT_EQ(count.other, (std::map<std::string, int64_t>{{"$mem_v2", 1}}));
}

}  // namespace
}  // namespace tilewright::synthesis
