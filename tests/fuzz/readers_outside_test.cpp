#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/model_targets.h"
#include "support/outside_testing.h"

namespace tilewright {
namespace {

// Networks of others.
TEST(Readers, SurviveDamagedFiles) {
  constexpr int kMutations = 120;
  constexpr uint64_t kSeed = 4711;
  for (const char* file : kOnnxFiles) {
    const std::filesystem::path path = outside_models() / file;
    const FuzzTarget target = onnx_target(path);
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.crashes + totals.wrong_kind, 0) << target.name << ", seed " << kSeed;
    EXPECT_EQ(totals.hangs, 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
  }
}

TEST(Readers, SurviveDamagedTfliteAndQonnxFiles) {
  constexpr int kMutations = 70;
  constexpr uint64_t kSeed = 2903;
  const std::filesystem::path models = outside_models();
  std::vector<FuzzTarget> targets;
  for (const char* file : kTfliteFiles) {
    targets.push_back(tflite_target(models / file));
  }
  for (const char* file : kQonnxFiles) {
    targets.push_back(onnx_target(models / file));
  }
  for (const FuzzTarget& target : targets) {
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
  }
}

TEST(Readers, SurviveDamagedTensorflowFiles) {
  constexpr int kMutations = 60;
  constexpr uint64_t kSeed = 1517;
  for (const TensorflowFile& shared : kTensorflowFiles) {
    const std::filesystem::path path = outside_models() / shared.file;
    const FuzzTarget target = tensorflow_target(path, shared.output);
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
  }
}

}  // namespace
}  // namespace tilewright
