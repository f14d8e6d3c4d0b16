#include "tilewright/nest/mapping.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/random.h"
#include "tilewright/nest/random_mapping_testing.h"

namespace tilewright {
namespace {

TEST(Mapping, ResidualTilesAreSmaller) {
  const Workload w = matmul_workload("m", 10, 1, 1);
  const Mapping mapping{{{"dram", {{1, 3}}, {}}, {"buffer", {{1, 4}}, {}}}};
  EXPECT_EQ(tile_extents(w, mapping), (std::vector<int64_t>{1, 10, 1, 1, 1, 4, 1, 1, 1, 1, 1, 1}));
  std::vector<int64_t> sizes;
  for_each_tile(w, mapping, 1, [&](auto, std::span<const int64_t> extents) { sizes.push_back(extents[1]); });
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
}

TEST(Mapping, LoopsRunOutermostFirstAndSpatialOnesInside) {
  const Workload w = matmul_workload("m", 2, 2, 2);
  const Mapping mapping{{{"dram", {{3, 2}, {1, 2}}, {{2, 2, SpatialAxis::kY}}}}};
  std::vector<std::vector<int64_t>> points;
  for_each_tile(w, mapping, 1, [&](std::span<const int64_t> begins, auto) {
    points.push_back({begins[3], begins[1], begins[2]});
  });
  const std::vector<std::vector<int64_t>> expected{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1},
                                                   {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}};
  EXPECT_EQ(points, expected);
  EXPECT_EQ(spatial_fanout(mapping.levels[0], SpatialAxis::kY), 2);
  EXPECT_EQ(spatial_fanout(mapping.levels[0], SpatialAxis::kX), 1);
}

// The tiles of every level partition the iteration space, whatever the factors.
TEST(Mapping, TilesOfEveryLevelPartitionTheSpace) {
  const uint64_t seed = 1234;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    const Workload w = matmul_workload("m", random.between(1, 9), random.between(1, 9), random.between(1, 9));
    const Mapping mapping = random_mapping(w, 3, random);
    const std::vector<int64_t> largest = tile_extents(w, mapping);
    for (int level = 0; level <= 3; ++level) {
      std::set<std::vector<int64_t>> points;
      int64_t visited = 0;
      std::vector<int64_t> seen(4, 0);
      for_each_tile(w, mapping, level,
                    [&](std::span<const int64_t> begins, std::span<const int64_t> extents) {
                      for (size_t d = 0; d < 4; ++d) seen[d] = std::max(seen[d], extents[d]);
                      for (int64_t m = 0; m < extents[1]; ++m) {
                        for (int64_t n = 0; n < extents[2]; ++n) {
                          for (int64_t k = 0; k < extents[3]; ++k) {
                            points.insert({begins[1] + m, begins[2] + n, begins[3] + k});
                            ++visited;
                          }
                        }
                      }
                    });
      ASSERT_EQ(visited, w.operation_count());
      ASSERT_EQ(int64_t(points.size()), visited);
      for (size_t d = 0; d < 4; ++d) ASSERT_EQ(seen[d], largest[size_t(level) * 4 + d]);
    }
  }
}

TEST(MappingText, RoundTrips) {
  const uint64_t seed = 4711;
  Random random(seed);
  const Workload w = conv2d_workload("c", [] {
    ConvShape shape;
    shape.input_channels = 16;
    shape.output_channels = 24;
    shape.height = shape.width = {.input = 14, .kernel = 3, .pad_begin = 1, .pad_end = 1, .output = 14};
    return shape;
  }());
  for (int round = 0; round < 200; ++round) {
    Mapping mapping = random_mapping(w, int(random.between(0, 4)), random);
    for (MappingLevel& level : mapping.levels) level.keeps = uint32_t(random.between(0, 7)) | ~7u;
    const std::string text = print_mapping(w, mapping);
    ASSERT_EQ(parse_mapping(text, "mapping", w), mapping) << text << " seed " << seed;
  }
  const Mapping mapping = parse_mapping(
      "- {level: dram, temporal: M=4 P=2}\n- {level: array, spatial: x:C=16 y:M=6, keeps: input output}\n",
      "m", w);
  EXPECT_EQ(
      print_mapping(w, mapping),
      "- level: dram\n  temporal: M=4 P=2\n- level: array\n  spatial: x:C=16 y:M=6\n  keeps: input output\n");
}

TEST(MappingText, ReportsEveryProblem) {
  const Workload w = matmul_workload("m", 4, 4, 4);
  try {
    parse_mapping(
        "- {level: dram, temporal: M=0 Z=2 K}\n- {level: pe, spatial: M=2 x:M=a, keeps: inputs, foo: 1}\n",
        "map.yaml", w);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* part :
         {"'M=0' is not of the form", "no dimension 'Z'", "'K' is not of the form",
          "does not begin with x: or y:", "'M=a' is not of the form", "no data space 'inputs'", "foo"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
  EXPECT_THROW(parse_mapping("level: dram\n", "map.yaml", w), Error);
  EXPECT_THROW(parse_mapping("- temporal: {a: b}\n", "map.yaml", w), Error);
}

}  // namespace
}  // namespace tilewright
