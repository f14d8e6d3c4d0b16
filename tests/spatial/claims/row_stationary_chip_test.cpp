// Claim: storage, traffic and active PEs of the 168-PE chip on AlexNet (JSSC 2017, Tables III and V), and how
// close its mappings are to the optimum within its limits.
#include "row_stationary_checks_testing.h"
#include "row_stationary_reference.h"
#include "support/spatial/chip_model_testing.h"

namespace tilewright::claims {
namespace {

TEST(RowStationaryChip, ClosedFormsOfStorageAndTraffic) {
  expect_all(chip_storage_checks(shared_study()), 5 * 2);
  expect_all(chip_traffic_checks(shared_study()), 5 * 3);
}

// From shares of zeros alone, DRAM traffic after compression comes within 10 %. A 3 x 3 max pool hides how
// many zeros were written before it; its windows of correlated values count as 3 independent ones, and 3 to 5
// serve as well.
TEST(RowStationaryChip, CompressedDramTraffic) {
  expect_all(compression_checks(shared_study(), 3), 5);
  expect_all(compression_checks(shared_study(), 5), 5);
}

// Table III never beats the mapper, which finds 0.4 to 2.2 % better ones.
TEST(RowStationaryChip, PublishedMappingsAgainstTheOptimum) {
  const std::vector<Check> checks = chip_optimum_checks(shared_study());
  expect_all(checks, 10);
  for (const Check& check : checks) {
    EXPECT_GE(check.actual, 0.35) << check.name;
    EXPECT_LE(check.actual, 2.25) << check.name;
  }
}

TEST(RowStationaryChip, IdealTimeIsALowerBoundOnTheComputeTime) {
  const double published_ms[] = {13.7, 33.2, 19.2, 14.4, 9.6};
  const std::vector<study::LayerShape> layers = alexnet(4);
  for (size_t k = 0; k < kConvLayers; ++k) {
    const auto& t = kTableThree[k];
    const bool third = k == 2;  // ran with q, r, t = 3, 2, 2
    const study::PassMapping mapping{
        t[0], t[1], t[2], t[3], third ? 3 : t[4], third ? 2 : t[5], third ? 2 : t[6]};
    const study::ChipCost cost = study::chip_cost(shared_study().chip, layers[k], mapping);
    EXPECT_NEAR(cost.ideal_cycles / 200e3, published_ms[k], 0.05);
    EXPECT_GE(cost.compute_cycles, cost.ideal_cycles * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace tilewright::claims
