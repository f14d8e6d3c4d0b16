#include "tilewright/nest/validity.h"

#include <gtest/gtest.h>

#include "tilewright/nest/random_mapping_testing.h"

namespace tilewright {
namespace {

Hierarchy hierarchy_of(int levels) {
  Hierarchy hierarchy;
  for (int l = 0; l < levels; ++l) {
    HierarchyLevel level;
    level.name = fmt::format("l{}", l);
    level.fanout_x = level.fanout_y = 1 << 20;
    hierarchy.levels.push_back(level);
  }
  return hierarchy;
}

std::string problems(const Workload& workload, const Hierarchy& hierarchy, const Mapping& mapping) {
  Diagnostics diagnostics;
  check_mapping(workload, hierarchy, mapping, "mapping of 'm'", diagnostics);
  EXPECT_EQ(diagnostics.ok(), is_valid(workload, hierarchy, mapping));
  std::string text;
  for (const Diagnostic& d : diagnostics.errors()) text += to_string(d) + "\n";
  return text;
}

TEST(Validity, AcceptsRandomValidMappingsAndSeesEveryChangedFactor) {
  const uint64_t seed = 2718;
  Random random(seed);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " seed " << seed);
    const Workload w =
        matmul_workload("m", random.between(1, 40), random.between(1, 40), random.between(1, 40));
    Mapping mapping = random_mapping(w, 3, random);
    ASSERT_EQ(problems(w, hierarchy_of(3), mapping), "");
    // The outermost loop of a dimension has exactly the factor that is needed.
    if (mapping.levels[0].temporal.empty()) continue;
    TemporalLoop& loop = mapping.levels[0].temporal[0];
    loop.factor += 1;
    ASSERT_NE(problems(w, hierarchy_of(3), mapping).find("exceeds the"), std::string::npos);
    loop.factor -= 2;
    ASSERT_NE(problems(w, hierarchy_of(3), mapping), "");
  }
}

TEST(Validity, CapacityCountsTilesCopiesAndGaps) {
  // One row of 3 taps with stride 4: 2 outputs touch 6 of 7 elements.
  ConvShape shape;
  shape.width = {.input = 12, .kernel = 3, .stride = 4, .output = 2};
  const Workload w = conv2d_workload("c", shape);
  const Mapping mapping{{{"l0", {}, {}}, {"l1", {{5, 2}, {7, 3}}, {}}}};
  Hierarchy hierarchy = hierarchy_of(2);
  HierarchyLevel& buffer = hierarchy.levels[1];
  buffer.space_capacity_bits = {56, kUnlimited, kUnlimited};
  EXPECT_EQ(problems(w, hierarchy, mapping), "");
  buffer.space_capacity_bits = {55, kUnlimited, kUnlimited};
  EXPECT_NE(problems(w, hierarchy, mapping).find("the tile of input takes 56 bits of 55"), std::string::npos);
  buffer.stores_gaps = false;
  EXPECT_EQ(problems(w, hierarchy, mapping), "");
  buffer.copies = 2;
  EXPECT_NE(problems(w, hierarchy, mapping).find("takes 96 bits of 55"), std::string::npos);
  buffer.space_capacity_bits.clear();
  buffer.capacity_bits = 96 + 48 + 128;
  EXPECT_EQ(problems(w, hierarchy, mapping), "");
  buffer.capacity_bits -= 1;
  EXPECT_NE(problems(w, hierarchy, mapping).find("the tiles take 272 bits of 271"), std::string::npos);
}

TEST(Validity, EveryRuleHasItsMessage) {
  const Workload w = matmul_workload("m", 10, 4, 4);
  Hierarchy hierarchy = hierarchy_of(2);
  hierarchy.levels[0].fanout_x = 2;
  hierarchy.levels[1].may_keep = 0b101;
  Mapping mapping{{{"l0", {{1, 5}, {2, 2}}, {{2, 3, SpatialAxis::kX}}, 0b110}, {"l1", {{1, 3}, {3, 2}}, {}}}};
  const std::string text = problems(w, hierarchy, mapping);
  for (const char* part :
       {"mapping of 'm'", "factor 5 of M exceeds the 4 tiles of 3 in its size 10",
        "the loops cover 2 of the 4 of K", "spatial loops need 3 instances along x, there are 2",
        "the outermost level must keep input", "weight cannot be kept here"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  mapping.levels[1].name = "pe";
  mapping.levels[1].temporal[0] = {7, 1};
  mapping.levels[1].temporal[1].factor = 0;
  const std::string broken = problems(w, hierarchy, mapping);
  for (const char* part : {"level 1 of the hierarchy is 'l1'", "dimension 7, which does not exist",
                           "factor 0 of K is below 1"}) {
    EXPECT_NE(broken.find(part), std::string::npos) << part << " in " << broken;
  }
  mapping.levels.pop_back();
  EXPECT_NE(problems(w, hierarchy, mapping).find("1 levels for a hierarchy of 2"), std::string::npos);
}

}  // namespace
}  // namespace tilewright
