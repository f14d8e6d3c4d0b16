// Corners are parts of the array, and symmetric tiles are exchanged by some symmetry.
#include "tilewright/cgra/kernel/sub_array.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/cgra/kernel/kernel_testing.h"

namespace tilewright::cgra {
namespace {

using testing::preset;

std::vector<std::vector<uint8_t>> everywhere(const Fabric& fabric) {
  return {std::vector<uint8_t>(fabric.tiles(), 1)};
}

TEST(SubArray, EveryLinkOfACornerIsALinkOfTheArray) {
  for (const char* name : {"mesh-5x6", "torus-5x5", "hycube-6x4"}) {
    const Fabric fabric = preset(name), corner = corner_array(fabric, 4, 3);
    std::set<std::pair<int, int>> links;
    for (const FabricLink& link : fabric_links(fabric)) links.insert({link.from, link.to});
    GraphMapping ends;
    for (const FabricLink& link : fabric_links(corner)) ends.routes.push_back({{link.from, 0}, {link.to, 0}});
    EXPECT_EQ(ends.routes.size(), 2u * (4 * 2 + 3 * 3)) << name;
    ends = embed_mapping(ends, corner, fabric);
    for (const Route& route : ends.routes) EXPECT_EQ(links.count({route[0].tile, route[1].tile}), 1u) << name;
  }
}

TEST(SubArray, ACornerKeepsTheSpansThatFitItsLongerSide) {
  Fabric fabric = preset("mesh-6x6");
  fabric.spans = {1, 2, 3, 4, 5};
  EXPECT_EQ(corner_array(fabric, 2, 4).spans, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(corner_array(fabric, 5, 3).spans, (std::vector<int>{1, 2, 3, 4}));
}

TEST(SubArray, CornersGrowToTheWholeArray) {
  const auto sizes = [](const std::string& name, int operations, int ii) {
    std::vector<std::pair<int, bool>> found;
    for (const Fabric& fabric : growing_arrays(preset(name), operations, ii))
      found.push_back({fabric.tiles(), fabric.wrap});
    return found;
  };
  using Sizes = std::vector<std::pair<int, bool>>;
  EXPECT_EQ(sizes("mesh-6x6", 10, 1), (Sizes{{16, false}, {25, false}, {36, false}}));
  EXPECT_EQ(sizes("mesh-6x6", 20, 1), (Sizes{{25, false}, {36, false}}));
  EXPECT_EQ(sizes("mesh-6x6", 16, 1), (Sizes{{16, false}, {25, false}, {36, false}}));
  EXPECT_EQ(sizes("mesh-2x6", 5, 1), (Sizes{{8, false}, {10, false}, {12, false}}));
  EXPECT_EQ(sizes("torus-4x4", 16, 1), (Sizes{{16, false}, {16, true}}));
  EXPECT_EQ(sizes("mesh-2x3", 5, 1), (Sizes{{6, false}}));
}

TEST(SubArray, RepresentativeTilesAreOnePerClass) {
  const auto count = [](const std::string& name) {
    const Fabric fabric = preset(name);
    return representative_tiles(fabric, everywhere(fabric)).size();
  };
  EXPECT_EQ(count("mesh-4x4"), 3u);
  EXPECT_EQ(count("mesh-3x3"), 3u);
  EXPECT_EQ(count("mesh-2x3"), 2u);
  EXPECT_EQ(count("torus-4x4"), 1u);
  const Fabric mesh = preset("mesh-4x4");
  std::vector<std::vector<uint8_t>> left = everywhere(mesh);
  for (int tile = 0; tile < 16; ++tile) left[0][tile] = tile % 4 == 0;
  EXPECT_EQ(representative_tiles(mesh, left).size(), 8u);  // only the reflection of rows is left
}

}  // namespace
}  // namespace tilewright::cgra
