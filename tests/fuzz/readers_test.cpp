#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/fuzz_targets.h"
#include "outside.h"

namespace tilewright {
namespace {

// The short form of the figure reader_mutations.
TEST(Readers, SurviveDamagedFiles) {
  constexpr int kMutations = 120;
  constexpr uint64_t kSeed = 4711;
  int files = 0;
  for (const char* file : kOnnxFiles) {
    const std::filesystem::path path = outside_models() / file;
    if (!std::filesystem::exists(path)) continue;
    const FuzzTarget target = onnx_target(path);
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.crashes + totals.wrong_kind, 0) << target.name << ", seed " << kSeed;
    EXPECT_EQ(totals.hangs, 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no shared models";
}

TEST(Readers, SurviveDamagedTfliteAndQonnxFiles) {
  constexpr int kMutations = 70;
  constexpr uint64_t kSeed = 2903;
  const std::filesystem::path models = outside_models();
  std::vector<FuzzTarget> targets;
  for (const char* file : kTfliteFiles) {
    if (std::filesystem::exists(models / file)) targets.push_back(tflite_target(models / file));
  }
  for (const char* file : kQonnxFiles) {
    if (std::filesystem::exists(models / file)) targets.push_back(onnx_target(models / file));
  }
  if (targets.empty()) GTEST_SKIP() << "no shared models";
  for (const FuzzTarget& target : targets) {
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
  }
}

TEST(Readers, SurviveDamagedTensorflowFiles) {
  constexpr int kMutations = 60;
  constexpr uint64_t kSeed = 1517;
  int files = 0;
  for (const TensorflowFile& shared : kTensorflowFiles) {
    const std::filesystem::path path = outside_models() / shared.file;
    if (!std::filesystem::exists(path)) continue;
    const FuzzTarget target = tensorflow_target(path, shared.output);
    const FuzzTotals totals = fuzz(target, kMutations, kSeed);
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << kSeed;
    EXPECT_LT(totals.accepted, kMutations) << "no mutation was noticed";
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no shared models";
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
