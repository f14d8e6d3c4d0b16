#include "tilewright/spatial/chip/mapping.h"

#include <gtest/gtest.h>

#include <set>

#include "support/spatial/random_chip_layer_testing.h"
#include "tilewright/spatial/chip/passes.h"

namespace tilewright {
namespace {

RowStationaryChip chip() {
  return read_row_stationary_chip(TILEWRIGHT_SOURCE_DIR "/hardware/eyeriss-chip.yaml");
}

// AlexNet's second convolution: its sets of 27 columns are cut into segments of 14 and 13.
const RowStationaryLayer kSecond{"CONV2", 2, 4, 48, 128, 31, 31, 5, 5, 1};
const RowStationaryMapping kSecondMapping{64, 1, 27, 16, 2, 1, 1};

std::string broken_rules(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                         const RowStationaryMapping& mapping) {
  Diagnostics diagnostics;
  verify_mapping(chip, layer, mapping, diagnostics);
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) text += to_string(problem) + "\n";
  return text;
}

TEST(RowStationaryMapping, SetsWiderThanTheArrayAreCutIntoSegments) {
  const auto chains = place_chains(chip(), 5, kSecondMapping);
  ASSERT_TRUE(chains);
  ASSERT_EQ(chains->size(), 27u);
  EXPECT_EQ((*chains)[13], (ChainPlacement{0, 13, 13, 4}));
  EXPECT_EQ((*chains)[14], (ChainPlacement{0, 14, 0, 9}));
  EXPECT_EQ(broken_rules(chip(), kSecond, kSecondMapping), "");
  EXPECT_FALSE(place_chains(chip(), 7, kSecondMapping));
}

TEST(RowStationaryMapping, NamesEveryBrokenRuleInOneRun) {
  RowStationaryMapping mapping{16, 4, 27, 32, 7, 4, 2};
  const std::string text = broken_rules(chip(), kSecond, mapping);
  for (const char* part : {
           "(p*t): filters of a pass (p*t): 64 are more than the filters kept in the buffer (m), 16",
           "(p*q): weights of a PE (p*q*S): 1120 are more than the words of the filter spad, 224",
           "(q): pixels of a window (q*S): 35 are more than the words of the pixel spad, 12",
           "(p): partial sums of a PE (p): 32 are more than the words of the psum spad, 24",
           "(r): a chain of sets (R*r) is 20 PEs high, the array 12",
           "(m*n*e): 215264 bytes of pixels and 93312 of partial sums need 76 banks",
           "(p*q*r*t): bytes of a pass's weights: 89600 are more than the weight buffer, 8192",
       }) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  RowStationaryLayer tall = kSecond;
  tall.height = 60;
  mapping = {16, 1, 40, 16, 2, 2, 1};
  const std::string diagonals = broken_rules(chip(), tall, mapping);
  EXPECT_NE(diagonals.find("(e): diagonals of a set (e+R-1): 44 are more than"), std::string::npos)
      << diagonals;
  EXPECT_NE(diagonals.find("(r*t): 1 chains of 10 x 40 PEs in segments of at most 14 columns do not fit"),
            std::string::npos)
      << diagonals;
}

TEST(RowStationaryMapping, RefusesValuesOutOfTheLayer) {
  const std::string text = broken_rules(chip(), kSecond, {0, 5, 28, 129, -1, 49, 1});
  for (const char* part : {"(m): 0", "(n): 5 is not in 1..4", "(e): 28 is not in 1..27",
                           "(p): 129 is not in 1..128", "(q): -1", "(r): 49 is not in 1..48"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // Products of huge factors are clipped, not wrapped.
  const RowStationaryLayer huge{"huge", 1, 1 << 20, 1 << 20, 1 << 20, 12, 12, 1, 1, 1};
  const int64_t big = 1 << 20;
  EXPECT_NE(broken_rules(chip(), huge, {big, big, 12, big, big, big, big}).find("(m*n*e)"),
            std::string::npos);
}

TEST(RowStationaryLayer, RefusesSizesThatCannotBe) {
  Diagnostics diagnostics;
  RowStationaryLayer layer = kSecond;
  layer.stride = 0;
  layer.groups = -1;
  layer.verify(diagnostics);
  EXPECT_EQ(diagnostics.errors().size(), 2u);
  Diagnostics window;
  layer = kSecond;
  layer.kernel_height = 32;
  layer.kernel_width = 32;
  layer.verify(window);
  EXPECT_EQ(window.errors().size(), 2u);
  Diagnostics size;
  RowStationaryLayer{"huge", 1, 1 << 20, 1 << 20, 1, 1, 1, 1, 1, 1}.verify(size);
  EXPECT_FALSE(size.ok());
}

// Every legal mapping's chains lie on different PEs inside the array, and its passes cover every product
// once.
TEST(RowStationaryMapping, PlacementAndPassesOfRandomMappings) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const testing::RandomArrayCase c = testing::random_array_case(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + testing::to_string(c));
    const auto chains = place_chains(c.chip, c.layer.kernel_height, c.mapping);
    ASSERT_TRUE(chains);
    std::set<std::pair<int64_t, int64_t>> used;
    const int64_t height = c.layer.kernel_height * c.mapping.r;
    for (const ChainPlacement& chain : *chains) {
      for (int64_t k = 0; k < height; ++k) used.insert({chain.lowest_row - k, chain.column});
      ASSERT_TRUE(chain.lowest_row < c.chip.rows && chain.lowest_row - height + 1 >= 0);
      ASSERT_TRUE(chain.column >= 0 && chain.column < c.chip.columns);
    }
    ASSERT_EQ(int64_t(used.size()), c.mapping.t * c.mapping.e * height);

    int64_t passes = 0, macs = 0;
    const auto blocks = pass_blocks(c.layer, c.mapping);
    for (size_t b = 0; b < blocks.size(); ++b) {
      for (const Pass& pass : passes_of_block(c.layer, c.mapping, blocks[b], b == 0)) {
        ++passes;
        macs += pass.shape.images * pass.shape.rows * c.layer.output_width() * pass.shape.filters *
                pass.shape.channels * c.layer.kernel_height * c.layer.kernel_width;
      }
    }
    ASSERT_EQ(passes, pass_count(c.layer, c.mapping));
    ASSERT_EQ(macs, c.layer.macs());
  }
}

// The random cases exercise what they are meant to.
TEST(RowStationaryMapping, RandomCasesCoverTheRules) {
  int segmented = 0, chained = 0, filter_sets = 0, gaps = 0, left_over = 0, cut_passes = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const testing::RandomArrayCase c = testing::random_array_case(seed);
    const RowStationaryMapping& a = c.mapping;
    segmented += a.e > c.chip.columns;
    chained += a.r > 1;
    filter_sets += a.t > 1;
    gaps += c.layer.stride > c.layer.kernel_width && c.layer.output_width() > 1;
    left_over += c.layer.used_columns() < c.layer.width;
    cut_passes += c.layer.channels % (a.q * a.r) != 0 && a.m % (a.p * a.t) != 0;
  }
  for (int cases : {segmented, chained, filter_sets, gaps, left_over, cut_passes}) EXPECT_GE(cases, 40);
}

}  // namespace
}  // namespace tilewright
