// A tenth of the full property test (bench/figures/random_layers_bit_exact), with the same categories.
#include <gtest/gtest.h>

#include <cstdio>

#include "random_layer.h"

namespace tilewright::random_layers {
namespace {

constexpr const char* kHardwareFolder = TILEWRIGHT_SOURCE_DIR "/hardware";

TEST(RandomLayers, BitIdenticalToTheReferenceKernels) {
  const Summary summary = run_cases(1, 200, kHardwareFolder);
  std::printf("seeds 1..200\n%s", describe(summary).c_str());
  EXPECT_EQ(summary.mismatches, 0) << summary.first_problem;
  EXPECT_EQ(summary.estimate_differences, 0) << summary.first_estimate_problem;
  EXPECT_EQ(summary.cases, 200);
  for (int kind = 0; kind < kKinds; ++kind) EXPECT_GE(summary.by_kind.at(kind_name(Kind(kind))), 15);
  EXPECT_GE(summary.by_hardware.size(), 6u);
  EXPECT_GE(summary.tiled, 50);
  EXPECT_GE(summary.overflowing, 20);
}

}  // namespace
}  // namespace tilewright::random_layers
