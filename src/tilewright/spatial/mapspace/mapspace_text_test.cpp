// Constraints in YAML: what they mean, round trips, messages.
#include "tilewright/spatial/mapspace/mapspace_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

const std::filesystem::path kPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

Workload convolution() {
  ConvShape shape;
  shape.input_channels = 16;
  shape.output_channels = 32;
  shape.height = shape.width = {10, 3, 1, 1, 0, 0, 8};
  return conv2d_workload("conv", shape);
}

Mapspace parsed(const std::string& text) {
  return parse_mapspace(text, "m.yaml", convolution(), find_array_hardware("arch-unified", kPresets));
}

std::string failure(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

TEST(MapspaceText, EveryField) {
  const Mapspace m = parsed(R"(name: weights stay
imperfect: true
levels:
- level: buffer
  temporal: R=3 S=3
  spatial_x: M others=1
  spatial_y: C=16 others=1
  order: C R S
  keep: weight
  bypass: input output
  one_axis_per_dimension: true
)");
  EXPECT_TRUE(m.imperfect);
  ASSERT_EQ(m.constraints.size(), 3u);
  EXPECT_EQ(m.constraints[0], LevelConstraints());
  const LevelConstraints& level = m.constraints[1];  // N G M C P Q R S
  EXPECT_EQ(level.temporal, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 3, 3}));
  EXPECT_EQ(level.spatial_x, (std::vector<int64_t>{1, 1, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(level.spatial_y, (std::vector<int64_t>{1, 1, 1, 16, 1, 1, 1, 1}));
  EXPECT_EQ(level.innermost, (std::vector<int>{7, 6, 3}));
  EXPECT_EQ(level.must_keep, 2u);
  EXPECT_EQ(level.must_bypass, 5u);
  EXPECT_TRUE(level.one_axis_per_dimension);
  Diagnostics diagnostics;
  m.verify(diagnostics);
  EXPECT_TRUE(diagnostics.ok());
}

TEST(MapspaceText, RandomConstraintsRoundTrip) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Mapspace m = parsed("imperfect: false\n");
    m.imperfect = random.chance(0.5);
    for (LevelConstraints& level : m.constraints) {
      for (std::vector<int64_t>* factors : {&level.temporal, &level.spatial_x, &level.spatial_y}) {
        if (random.chance(0.5)) continue;
        for (int d = 0; d < 8; ++d) factors->push_back(random.between(0, 4));
        factors->back() = 2;  // a list of nothing but free factors reads back as none
      }
      for (int d = 0; d < 8; ++d) {
        if (random.chance(0.3))
          level.innermost.insert(random.chance(0.5) ? level.innermost.begin() : level.innermost.end(), d);
      }
      level.must_keep = uint32_t(random.between(0, 7));
      level.must_bypass = uint32_t(random.between(0, 7));
      level.one_axis_per_dimension = random.chance(0.5);
    }
    const Mapspace back = parsed(print_mapspace(m));
    EXPECT_EQ(back.constraints, m.constraints) << print_mapspace(m);
    EXPECT_EQ(back.imperfect, m.imperfect);
  }
}

TEST(MapspaceText, EveryProblemInOneRun) {
  EXPECT_EQ(
      failure("imperfect: maybe\n"
              "dataflow: ws\n"
              "levels:\n"
              "- {level: buffer, temporal: K=3 M=0 C=x, order: R R, keep: psums}\n"
              "- {level: buffer, spatial_x: M M=2}\n"
              "- {level: glb, spatial_z: M}\n"
              "- {temporal: M=2}\n"
              "- 3\n"),
      "13 problems\n"
      "  m.yaml:1 (imperfect): true or false is expected\n"
      "  m.yaml:2 (dataflow): unknown field; known fields: imperfect, levels, name\n"
      "  m.yaml:4 (temporal): the workload has no dimension 'K'; dimensions: N, G, M, C, P, Q, "
      "R, S\n"
      "  m.yaml:4 (temporal): 'M=0' is not of the form DIMENSION or DIMENSION=FACTOR; factors "
      "are integers of at least 1\n"
      "  m.yaml:4 (temporal): 'C=x' is not of the form DIMENSION or DIMENSION=FACTOR; factors "
      "are integers of at least 1\n"
      "  m.yaml:4 (order): dimension R is named twice\n"
      "  m.yaml:4 (keep): the workload has no data space 'psums'; data spaces: input, weight, "
      "output\n"
      "  m.yaml:5 (spatial_x): dimension M is named twice\n"
      "  m.yaml:5 (level): a second list of constraints for 'buffer'\n"
      "  m.yaml:6 (spatial_z): unknown field; did you mean 'spatial_x'? known fields: bypass, keep, level, "
      "one_axis_per_dimension, order, spatial_x, spatial_y, temporal\n"
      "  m.yaml:6 (level): the array has no level 'glb'; levels: dram, buffer, rf\n"
      "  m.yaml:7 (level): missing field; give a text\n"
      "  m.yaml:8: a map of 'field: value' lines is expected");
  EXPECT_EQ(failure("levels: 3\n"), "m.yaml:1 (levels): a list of levels is expected");
}

}  // namespace
}  // namespace tilewright
