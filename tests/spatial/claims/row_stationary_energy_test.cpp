// Claim: the energies of the six dataflows on AlexNet (ISCA 2016 section VII, Top Picks 2017 Fig. 10 and 11),
// each at its proven optimum.
#include "row_stationary_checks_testing.h"
#include "row_stationary_reference.h"

namespace tilewright::claims {
namespace {

TEST(RowStationaryEnergy, ToyExamples) { expect_all(reuse_checks(), 2); }

TEST(RowStationaryEnergy, TwelveRowsAndTheRatios) {
  const std::vector<study::TaxonomyPoint> points = taxonomy_at(shared_study(), 16, 256);
  for (const study::TaxonomyPoint& point : points) {
    EXPECT_TRUE(summarise(point, shared_study().machine.energy).proven);
  }
  expect_all(energy_checks(shared_study(), points), 12 * 9);
  expect_all(ratio_checks(shared_study(), points), 12);
}

TEST(RowStationaryEnergy, BarsOfTheFigures) {
  expect_all(bar_checks(shared_study(), taxonomy_at(shared_study(), 16, 256)), 6 * 12);
}

TEST(RowStationaryEnergy, RowStationaryLayerByLayer) {
  expect_all(row_stationary_layer_checks(shared_study(), taxonomy_at(shared_study(), 16, 256)), 8 * 8);
}

// With array psums charged once in the search as well, row stationary is 0.7 % better; the others do not
// change.
TEST(RowStationaryEnergy, ConsistentObjective) {
  const Study& study = shared_study();
  study::TaxonomyOptions options;
  options.search.reported_objective = true;
  const std::vector<study::TaxonomyPoint> points =
      evaluate_taxonomy(study.dataflows, alexnet(16), study.machine, options);
  EXPECT_NEAR(summarise(points[5], study.machine.energy, 0, kConvLayers).energy, 5.9829, 1e-4);
  for (size_t d = 0; d < 5; ++d) {
    EXPECT_NEAR(summarise(points[d], study.machine.energy, 0, kConvLayers).energy, kConvEnergy[d].total,
                1e-4);
  }
}

}  // namespace
}  // namespace tilewright::claims
