// 228 random components, one of each type in each of twelve compiled models: every output that is no payload
// is the model's in every cycle, at full speed and under random stalls, and the data are what plain loops
// say.
#include <gtest/gtest.h>

#include <set>

#include "support/pipeline/bench_testing.h"
#include "support/pipeline/component_cases_testing.h"

namespace tilewright::pipeline {
namespace {

class PipelineComponents : public testing::TestWithParam<int> {};

TEST_P(PipelineComponents, EqualTheirModels) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  Random random(uint64_t(GetParam()) * 7919 + 5);
  BenchCases cases;
  for (const MakeCase make : component_cases()) cases.push_back(make(random));
  BenchOptions options;
  options.seed = uint64_t(GetParam()) + 100;
  options.runs = 4;
  expect_models_agree(cases, options);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PipelineComponents, testing::Range(0, 12));

// A component that nobody drives here would be missed.
TEST(PipelineComponentTypes, AllAreDriven) {
  Random random(1);
  std::set<std::string> driven;
  for (const MakeCase make : component_cases()) driven.insert(make(random)->component);
  for (const ComponentType* type : component_types()) EXPECT_EQ(driven.count(type->name), 1u) << type->name;
}

}  // namespace
}  // namespace tilewright::pipeline
