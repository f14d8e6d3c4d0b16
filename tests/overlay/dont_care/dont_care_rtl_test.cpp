// The same against the RTL, on a wide and a plain overlay.
#include <gtest/gtest.h>

#include "engine_comparison.h"
#include "parameter_sets.h"
#include "support/random_seed_testing.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

class DontCareRtlClass : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"verilator"});
    if (!missing.empty()) GTEST_SKIP() << missing;
    hardware_ = parameter_sets()[size_t(GetParam())];
  }
  OverlayHardware hardware_;
};

TEST_P(DontCareRtlClass, TheHardwareDoesNotLookAtThem) {
  EngineComparison comparison(hardware_, equality_options(TILEWRIGHT_RTL_CACHE));
  const int64_t cases = test_cases(60);
  ComparisonSummary summary;
  for (int64_t i = 0; i < cases; ++i) {
    comparison.compare_dont_cares(test_seed() + uint64_t(i), summary);
    if (hardware_.isa == IsaVersion::kVta) comparison.compare_public(test_seed() + uint64_t(i), summary);
  }
  RecordProperty("cases", int(summary.programs));
  EXPECT_EQ(summary.differences, 0) << summary.first_problems;
  EXPECT_EQ(summary.refused, 0) << summary.first_problems;
}

INSTANTIATE_TEST_SUITE_P(Sets, DontCareRtlClass, testing::Values(0, 1, 6, 18),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tilewright::overlay
