#include "tilewright/synthesis/memory_cells.h"

#include <gtest/gtest.h>

#include <utility>

namespace tilewright::synthesis {
namespace {

// Each shape of the data sheets is full at its size, and not enough for one word or bit more.
TEST(MemoryCells, BlocksTakeTheCheapestCut) {
  for (const auto& [words, width] :
       {std::pair{512, 36}, {1024, 18}, {2048, 9}, {4096, 4}, {8192, 2}, {16384, 1}}) {
    EXPECT_EQ(block_rams(words, width), 1) << words;
    EXPECT_EQ(block_ram_rows(words, width), 1) << words;
    EXPECT_EQ(block_rams(words + 1, width), 2) << words;
    EXPECT_EQ(block_rams(words, width + 1), 2) << words;
    EXPECT_EQ(block_rams(2 * words, width), 2) << words;
    EXPECT_EQ(block_ram_rows(2 * words, width), 1) << words;  // a pair has one range
  }
  EXPECT_EQ(block_rams(1024, 72), 4);
  EXPECT_EQ(block_ram_rows(65536, 1), 2);
  EXPECT_EQ(block_rams(3000, 27), 6);
  EXPECT_EQ(block_rams(0, 8), 0);
  EXPECT_EQ(block_rams(8, 0), 0);
  EXPECT_EQ(block_ram_rows(0, 8), 0);
}

TEST(MemoryCells, BlocksOfIce40HoldFourKilobits) {
  constexpr DeviceFamily kIce40 = DeviceFamily::kIce40;
  EXPECT_EQ(block_ram_bits(kIce40), 4096);
  EXPECT_EQ(block_ram_bits(DeviceFamily::kEcp5), 18432);
  for (const auto& [words, width] : {std::pair{256, 16}, {512, 8}, {1024, 4}, {2048, 2}}) {
    EXPECT_EQ(block_rams(words, width, kIce40), 1) << words;
    EXPECT_EQ(block_rams(words + 1, width, kIce40), 2) << words;
    EXPECT_EQ(block_rams(words, width + 1, kIce40), 2) << words;
    EXPECT_EQ(block_ram_rows(2 * words, width, kIce40), 1 + (words == 2048 ? 1 : 0)) << words;
  }
  EXPECT_EQ(block_rams(8192, 16, kIce40), 32);
  EXPECT_EQ(block_ram_rows(8192, 16, kIce40), 4);
}

TEST(MemoryCells, NarrowWordsShareThoseOfUltraRam) {
  for (const auto& [words, width] : {std::pair{4096, 72}, {8192, 36}, {16384, 18}, {32768, 9}}) {
    EXPECT_EQ(ultra_rams(words, width), 1) << words;
    EXPECT_EQ(ultra_rams(words + 1, width), 2) << words;
    EXPECT_EQ(ultra_rams(words, width + 1), 2) << words;
  }
  EXPECT_EQ(ultra_rams(32768, 1), 1);
  EXPECT_EQ(ultra_rams(0, 8), 0);
}

TEST(MemoryCells, TablesHaveBanksThatAreChosenAmong) {
  const auto xc7 = [](int64_t words, int64_t width) { return lut_rams(words, width, DeviceFamily::kXc7); };
  const auto xcup = [](int64_t words, int64_t width) { return lut_rams(words, width, DeviceFamily::kXcup); };
  EXPECT_EQ(xc7(32, 6), 4);
  EXPECT_EQ(xc7(32, 7), 8);
  EXPECT_EQ(xc7(33, 6), 8);
  EXPECT_EQ(xc7(64, 3), 4);
  EXPECT_EQ(xc7(64, 4), 8);
  // Two banks, and a table per bit that chooses; five banks need two per bit.
  EXPECT_EQ(xc7(65, 3), 2 * 4 + 3);
  EXPECT_EQ(xc7(256, 3), 4 * 4 + 3);
  EXPECT_EQ(xc7(257, 3), 5 * 4 + 2 * 3);
  EXPECT_EQ(xcup(32, 14), 8);
  EXPECT_EQ(xcup(32, 15), 16);
  EXPECT_EQ(xcup(64, 7), 8);
  EXPECT_EQ(xcup(128, 7), 2 * 8 + 7);
  EXPECT_EQ(xcup(0, 7), 0);
}

}  // namespace
}  // namespace tilewright::synthesis
