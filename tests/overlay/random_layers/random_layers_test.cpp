// A tenth of the full property test (bench/figures/random_layers_bit_exact), with the same categories.
#include <gtest/gtest.h>

#include <cstdio>

#include "random_layer.h"
#include "support/random_seed_testing.h"

namespace tilewright::random_layers {
namespace {

constexpr const char* kHardwareFolder = TILEWRIGHT_SOURCE_DIR "/hardware";

TEST(RandomLayersClass, BitIdenticalToTheReferenceKernels) {
  const int64_t cases = test_cases(200);
  const Summary summary = run_cases(test_seed(), cases, kHardwareFolder);
  RecordProperty("cases", int(summary.cases));
  std::printf("seeds from %llu on\n%s", (unsigned long long)test_seed(), describe(summary).c_str());
  EXPECT_EQ(summary.mismatches, 0) << summary.first_problem;
  EXPECT_EQ(summary.estimate_differences, 0) << summary.first_estimate_problem;
  EXPECT_EQ(summary.cases, cases);
  EXPECT_TRUE(summary.covers_every_category()) << describe(summary);
}

}  // namespace
}  // namespace tilewright::random_layers
