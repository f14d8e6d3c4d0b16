#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/model_targets.h"
#include "fuzz/own_files.h"
#include "support/random_seed_testing.h"

namespace tilewright {
namespace {

// Networks of the project in every format. The short form of the figure reader_mutations.
TEST(Readers, SurviveDamagedNetworks) {
  const int mutations = int(test_cases(60));
  for (const FuzzTarget& target : own_models()) {
    const FuzzTotals totals = fuzz(target, mutations, test_seed());
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << test_seed();
    EXPECT_LT(totals.accepted, mutations) << "no mutation was noticed";
  }
}

// One small model per operator, so that every conversion meets damaged nodes.
TEST(Readers, SurviveDamagedSingleOperators) {
  const std::filesystem::path folder = std::filesystem::path(TILEWRIGHT_ONNX_TESTDATA) / "node";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is missing: install the package libonnx-testdata";
  constexpr int kMutations = 14;
  constexpr uint64_t kSeed = 815;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!std::filesystem::exists(entry.path() / "model.onnx")) continue;
    const FuzzTarget target = onnx_target(entry.path() / "model.onnx");
    const FuzzTotals totals = fuzz(target, kMutations, kSeed + uint64_t(files));
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed + uint64_t(files);
    ++files;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace tilewright
