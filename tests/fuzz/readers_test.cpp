#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/fuzz_targets.h"

namespace tilewright {
namespace {

// The short form of the figure reader_mutations.
TEST(Readers, SurviveDamagedFiles) {
  constexpr int kMutations = 120;
  constexpr uint64_t kSeed = 4711;
  int files = 0;
  for (const FuzzTarget& target : onnx_targets(TILEWRIGHT_MODELS_DIR)) {
    if (!std::filesystem::exists(target.file)) continue;
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.crashes, 0) << target.file << ", seed " << kSeed;
    EXPECT_EQ(totals.hangs, 0) << target.file << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no shared models";
}

}  // namespace
}  // namespace tilewright
