#include "tilewright/spatial/lattice/tile_search.h"

#include <gtest/gtest.h>

namespace tilewright::lattice {
namespace {

// Holds energy 0.5 at 8 cycles, under each objective in turn.
TileIncumbent holder(MapObjective objective, const Tiles& tiles = {}) {
  TileIncumbent incumbent;
  incumbent.objective = objective;
  EXPECT_TRUE(incumbent.offer(0.5, 8, tiles));
  return incumbent;
}

TEST(Incumbent, NothingIsBeatenByNone) { EXPECT_FALSE(TileIncumbent{}.beats_all(1e30, 1e30)); }

TEST(Incumbent, TheObjectiveDecidesThenTheOther) {
  const TileIncumbent energy = holder(MapObjective::kEnergy), cycles = holder(MapObjective::kLatency);
  EXPECT_TRUE(energy.beats_all(0.51, 1));
  EXPECT_FALSE(energy.beats_all(0.49, 100));
  EXPECT_TRUE(energy.beats_all(0.5, 9));
  EXPECT_FALSE(energy.beats_all(0.5, 8));
  EXPECT_TRUE(cycles.beats_all(0.1, 9));
  EXPECT_FALSE(cycles.beats_all(100, 7));
  EXPECT_TRUE(cycles.beats_all(0.6, 8));
  EXPECT_FALSE(cycles.beats_all(0.5, 8));
  // 0.5 * 8 = 4.
  const TileIncumbent product = holder(MapObjective::kEdp);
  EXPECT_TRUE(product.beats_all(0.1, 50));
  EXPECT_FALSE(product.beats_all(0.3, 13));
  EXPECT_TRUE(product.beats_all(1, 4));
  EXPECT_FALSE(product.beats_all(0.25, 16));
}

TEST(Incumbent, TakesWhatIsBetterAndOfEqualOnesTheSmallerTiles) {
  const Tiles small{1, 2, 3, 0}, large{2, 2, 3, 0};
  for (const MapObjective objective : {MapObjective::kEnergy, MapObjective::kLatency, MapObjective::kEdp}) {
    TileIncumbent incumbent = holder(objective, small);
    EXPECT_FALSE(incumbent.offer(0.5, 8, small));
    EXPECT_FALSE(incumbent.offer(0.5, 8, large));
    EXPECT_FALSE(incumbent.offer(0.6, 9, small));
    EXPECT_TRUE(incumbent.offer(0.4, 7, large));
    EXPECT_EQ(incumbent.energy, 0.4);
    EXPECT_TRUE(incumbent.offer(0.4, 7, small));
    EXPECT_EQ(incumbent.cycles, 7);
  }
}

}  // namespace
}  // namespace tilewright::lattice
