#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/bundle_targets.h"
#include "support/outside_testing.h"

namespace tilewright {
namespace {

TEST(Bundles, OfNetworksOfOthersSurviveDamage) {
  const std::filesystem::path model = outside_models() / kBundleModel;
  constexpr uint64_t kSeed = 99;
  for (const FuzzTarget& target :
       bundle_targets(model, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware)) {
    const FuzzTotals totals = fuzz(target, 200, kSeed);
    EXPECT_EQ(totals.crashes + totals.wrong_kind, 0) << target.name << ", seed " << kSeed;
    EXPECT_EQ(totals.hangs, 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, 200) << "no mutation was noticed";
  }
}

}  // namespace
}  // namespace tilewright
