#include <gtest/gtest.h>

#include "fuzz/bundle_targets.h"
#include "fuzz/own_files.h"
#include "support/random_seed_testing.h"

namespace tilewright {
namespace {

TEST(Bundles, SurviveDamage) {
  const int mutations = int(test_cases(200));
  for (const FuzzTarget& target :
       bundle_targets(own_files() / "lenet_int8.onnx",
                      std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware)) {
    const FuzzTotals totals = fuzz(target, mutations, test_seed());
    EXPECT_EQ(totals.crashes + totals.wrong_kind, 0) << target.name << ", seed " << test_seed();
    EXPECT_EQ(totals.hangs, 0) << target.name << ", seed " << test_seed();
    EXPECT_LT(totals.accepted, mutations) << "no mutation was noticed";
  }
}

}  // namespace
}  // namespace tilewright
