#include "tilewright/spatial/mapspace/mapspace.h"

#include <gtest/gtest.h>

#include <set>

#include "support/spatial/random_mapspace_testing.h"

namespace tilewright {
namespace {

ArrayHardware two_levels(int64_t words, int64_t fanout_x = 1) {
  ArrayHardware hardware;
  hardware.name = "two";
  hardware.levels.resize(2);
  hardware.levels[0].name = "dram";
  hardware.levels[0].fanout_x = fanout_x;
  hardware.levels[1].name = "buffer";
  hardware.levels[1].capacity_words = words;
  return hardware;
}

std::string messages(const Mapspace& mapspace) {
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.errors()) text += to_string(d) + "\n";
  return text;
}

TEST(Mapspace, CountsFactorisationsTimesOrdersTimesKeeps) {
  // 4 = 1x4, 2x2, 4x1 over two temporal slots for M; N and K are 1: no orders. Three data spaces may each be
  // bypassed by the buffer.
  Mapspace mapspace{matmul_workload("m", 4, 1, 1), two_levels(1000), {}, false};
  EXPECT_EQ(mapspace.size(), 3 * 8);
  // Two dimensions: (levels with a loop) {0}, {1}, {0,1} each; both at one level: 2 orders.
  mapspace.workload = matmul_workload("m", 2, 2, 1);
  EXPECT_EQ(mapspace.size(), (2 * 2 + 2) * 8);
  mapspace.constraints.resize(2);
  mapspace.constraints[1].must_keep = 7;
  mapspace.constraints[1].innermost = {1};
  EXPECT_EQ(mapspace.size(), 2 + 1 + 2);
}

TEST(Mapspace, ListsEveryMappingOnceAndOnlyThose) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Mapspace mapspace = random_mapspace(random, 100, 3000);
    // Without limits that exclude mappings, size() is the length of the list.
    for (ArrayLevel& level : mapspace.hardware.levels) {
      level.capacity_words = level.capacity_words == 0 ? 0 : kUnlimitedWords;
      level.role_capacity_words.fill(kUnlimitedWords);
      level.fanout_y = 1;
      if (level.fanout_x > 1) level.fanout_x = 1 << 10;
    }
    for (LevelConstraints& limits : mapspace.constraints) limits.spatial_y.clear();
    if (!messages(mapspace).empty() || mapspace.size() > 20000) continue;
    std::set<std::string> seen;
    int64_t count = 0;
    for_each_mapping(mapspace, [&](const Mapping& mapping) {
      ++count;
      if (!seen.insert(print_mapping(mapspace.workload, mapping)).second) ADD_FAILURE() << "listed twice";
      if (count % 7 == 0 && !contains(mapspace, mapping)) ADD_FAILURE() << "listed, but not inside";
    });
    EXPECT_EQ(double(count), mapspace.size());
  }
}

// All factor tuples of one dimension, whether valid or not, filtered by contains().
TEST(Mapspace, TheListIsWhatContainsAccepts) {
  for (const bool imperfect : {false, true}) {
    Mapspace mapspace{matmul_workload("m", 5, 2, 1), two_levels(9, 3), {}, imperfect};
    mapspace.hardware.levels[0].fanout_y = 2;
    std::set<std::string> listed, accepted;
    for_each_mapping(mapspace, [&](const Mapping& m) { listed.insert(print_mapping(mapspace.workload, m)); });
    const auto try_mapping = [&](const std::array<int64_t, 8>& f, uint32_t keeps, bool swapped) {
      Mapping mapping;
      mapping.levels.resize(2);
      mapping.levels[0].name = "dram";
      mapping.levels[1].name = "buffer";
      mapping.levels[1].keeps = keeps | ~7u;
      for (int l = 0; l < 2; ++l) {
        MappingLevel& level = mapping.levels[size_t(l)];
        for (int i = 0; i < 2; ++i) {
          const int d = swapped ? 1 - i : i;
          if (f[size_t(l * 2 + d)] > 1) level.temporal.push_back({1 + d, f[size_t(l * 2 + d)]});
        }
      }
      for (int axis = 1; axis >= 0; --axis) {
        for (int d = 0; d < 2; ++d) {
          const int64_t factor = f[size_t(4 + axis * 2 + d)];
          const SpatialAxis along = axis == 1 ? SpatialAxis::kY : SpatialAxis::kX;
          if (factor > 1) mapping.levels[0].spatial.push_back({1 + d, factor, along});
        }
      }
      if (contains(mapspace, mapping)) accepted.insert(print_mapping(mapspace.workload, mapping));
    };
    std::array<int64_t, 8> f{};
    const std::array<int64_t, 8> most{5, 2, 5, 2, 3, 2, 2, 2};
    f.fill(1);
    while (true) {
      for (uint32_t keeps = 0; keeps < 8; ++keeps) {
        try_mapping(f, keeps, false);
        try_mapping(f, keeps, true);
      }
      size_t i = 0;
      while (i < f.size() && ++f[i] > most[i]) f[i++] = 1;
      if (i == f.size()) break;
    }
    // Both loops swapped at once is not every order; orders that differ between the levels are left out.
    for (const std::string& text : accepted) EXPECT_TRUE(listed.contains(text)) << text;
    EXPECT_GT(accepted.size(), 50u);
    EXPECT_GE(listed.size(), accepted.size());
    EXPECT_LE(double(listed.size()), mapspace.size());
  }
}

TEST(Mapspace, EveryProblemOfTheConstraintsIsReported) {
  Mapspace mapspace{matmul_workload("m", 6, 4, 2), two_levels(100, 3), std::vector<LevelConstraints>(2),
                    false};
  EXPECT_EQ(messages(mapspace), "");
  mapspace.constraints[0].temporal = {1, 2};
  mapspace.constraints[0].spatial_x = {2, 2, kFree, kFree};
  mapspace.constraints[0].must_bypass = 1;
  mapspace.constraints[1].innermost = {7, 1, 1};
  mapspace.constraints[1].must_keep = 3;
  mapspace.constraints[1].must_bypass = 2;
  mapspace.constraints[1].temporal = {-1, 0, 0, 0};
  const std::string text = messages(mapspace);
  EXPECT_NE(text.find("2 factors for 4 dimensions"), std::string::npos) << text;
  EXPECT_NE(text.find("need more than the 3 instances"), std::string::npos) << text;
  EXPECT_NE(text.find("input must be kept here"), std::string::npos) << text;
  EXPECT_NE(text.find("dimension 7 does not exist"), std::string::npos) << text;
  EXPECT_NE(text.find("M is listed twice"), std::string::npos) << text;
  EXPECT_NE(text.find("weight must be kept and must be bypassed"), std::string::npos) << text;
  EXPECT_NE(text.find("factor -1 of B is below 1"), std::string::npos) << text;
}

TEST(Mapspace, FixedFactorsThatCannotMultiplyOutAreNamed) {
  Mapspace mapspace{matmul_workload("m", 6, 4, 2), two_levels(100, 3), std::vector<LevelConstraints>(2),
                    false};
  mapspace.constraints[1].temporal = {kFree, 4, kFree, kFree};
  EXPECT_NE(
      messages(mapspace).find("the fixed factors (buffer temporal 4) cannot multiply out to its size 6"),
      std::string::npos);
  mapspace.imperfect = true;
  EXPECT_EQ(messages(mapspace), "");
  mapspace.constraints.pop_back();
  EXPECT_NE(messages(mapspace).find("constraints of 1 levels for hardware with 2"), std::string::npos);
}

TEST(Mapspace, ChecksWhyAMappingIsOutside) {
  Mapspace mapspace{matmul_workload("m", 6, 4, 2), two_levels(100, 3), std::vector<LevelConstraints>(2),
                    false};
  mapspace.constraints[1].temporal = {1, 3, kFree, kFree};
  mapspace.constraints[1].innermost = {3};
  mapspace.constraints[1].must_keep = 1;
  mapspace.constraints[1].must_bypass = 2;
  const Mapping mapping = parse_mapping(
      "- {level: dram, temporal: M=2 N=2, spatial: x:N=2}\n- {level: buffer, temporal: K=2 M=3, keeps: "
      "weight}\n",
      "test", mapspace.workload);
  Diagnostics diagnostics;
  check_inside(mapspace, mapping, "given", diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.errors()) text += to_string(d) + "\n";
  EXPECT_NE(text.find("the innermost loops are not those of the constraint"), std::string::npos) << text;
  EXPECT_NE(text.find("the constraint keeps input here"), std::string::npos) << text;
  EXPECT_NE(text.find("the constraint bypasses weight here"), std::string::npos) << text;
}

// Dimensions of one iteration count too: arrays of the searches have a place for each.
TEST(Mapspace, RefusesMoreThanTheMapperTakes) {
  Mapspace mapspace{matmul_workload("m", 8, 8, 8), two_levels(1000), {}, false};
  while (mapspace.workload.dimension_count() < 16)
    mapspace.workload.dimensions.push_back({fmt::format("Z{}", mapspace.workload.dimension_count()), 1});
  EXPECT_EQ(messages(mapspace), "");
  for (const int dimensions : {17, 70}) {
    while (mapspace.workload.dimension_count() < dimensions)
      mapspace.workload.dimensions.push_back({fmt::format("Z{}", mapspace.workload.dimension_count()), 1});
    EXPECT_NE(messages(mapspace).find(fmt::format("16 dimensions at most, here are 2 and {}", dimensions)),
              std::string::npos);
  }
  mapspace.workload = matmul_workload("m", 8, 8, 8);
  while (mapspace.hardware.levels.size() < 11) {
    mapspace.hardware.levels.push_back(mapspace.hardware.levels[1]);
    mapspace.hardware.levels.back().name = fmt::format("l{}", mapspace.hardware.levels.size());
  }
  EXPECT_NE(messages(mapspace).find("10 levels and 16 dimensions at most, here are 11 and 4"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
