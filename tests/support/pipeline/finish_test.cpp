// finish in RTL: its time against the model, its results against the scalar rules of
// docs/reference/arithmetic.md.
#include "tilewright/pipeline/component/finish.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "support/pipeline/bench_testing.h"
#include "support/pipeline/finish_cases_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/tensor/fixed_point.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {
namespace {

TEST(Finish, RtlIsAsModelAndRulesSay) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  std::vector<std::pair<Parameters, int>> list = {
      {integers(8, 32, 4, 2, 0, 0, 32, 32), 1},
      {integers(8, 32, 2, 2, 0, 0, 32, 32), 3},
      {integers(8, 20, 6, 2, 1, 0, 32, 22), 4},
      {integers(8, 25, 3, 1, 1, 2, 31, 25), 5},
      {integers(8, 32, 1, 1, 0, 1, 0, 32), 2},
      {integers(4, 16, 4, 4, 1, 0, 16, 18), 3},
      {integers(1, 12, 4, 2, 0, 0, 0, 12), 1},
      {integers(2, 9, 8, 1, 1, 1, 8, 10, "lut"), 6},
      {integers(8, 24, 2, 1, 1, 0, 32, 32, "lut"), 2},
      {integers(8, 12, 2, 1, 1, 1, 12, 14, "pair"), 1},
      {integers(7, 32, 5, 5, 1, 3, 32, 30), 7},
      {integers(8, 32, 2, 2, 0, 0, 32, 32), 2},
      {integers(8, 16, 4, 2, 1, 1, 8, 18, "lut"), 3},
      {integers(8, 9, 2, 2, 0, 0, 12, 10), 1},
      {fixed(4, 2, 0, 0, 22), 1},
      {fixed(2, 2, 1, 0, 30), 3},
      {fixed(3, 1, 1, 2, 22), 5},
      {fixed(1, 1, 0, 1, 0), 1},
      {fixed(2, 1, 1, 1, 16, "lut"), 2},
  };
  list.push_back({integers(8, 24, 4, 2, 1, 0, 32, 24), 4});
  list.push_back({integers(8, 20, 2, 2, 1, 1, 0, 22), 1});
  list.push_back({integers(5, 16, 2, 1, 1, 1, 16, 18, "lut"), 5});
  for (size_t i = list.size() - 3; i < list.size(); ++i) list[i].first["PRODUCTS"] = int64_t{1};
  list[3].first["KIND"] = std::string("block");
  list[16].first["KIND"] = std::string("block");
  for (const size_t twice : {11, 12, 13}) list[twice].first["TWICE"] = int64_t{1};
  Random random(43);
  std::vector<std::unique_ptr<BenchCase>> cases;
  for (const auto& [parameters, tasks] : list) {
    std::vector<FinishRow> rows;
    for (int task = 0; task < tasks; ++task) {
      rows.push_back(random_finish_row(random, parameters));
    }
    cases.push_back(std::make_unique<FinishCase>(parameters, rows, random.next()));
  }
  const BenchResult result = expect_models_agree(cases);
  EXPECT_GT(result.beats, cases.size() * 2000);
}

TEST(Finish, RefusesWhatCannotBeBuilt) {
  const auto expect = [](const Parameters& parameters, const char* part) {
    std::string text;
    try {
      component_type("finish")->ports(parameters);
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const Parameters good = integers(8, 32, 4, 2, 0, 0, 32, 32);
  const auto with = [&](const std::string& name, netlist::ParameterValue value) {
    Parameters changed = good;
    changed[name] = std::move(value);
    return changed;
  };
  expect(with("NUMBER", std::string("float")), "NUMBER is 'float'");
  expect(with("NUMBER", std::string("fixed")), "AW 32 and ACC 64");
  expect(with("PF", int64_t{3}), "PF does not divide PO");
  expect(with("PF", int64_t{0}), "PF is 0");
  expect(with("AW", int64_t{9}), "AW <= 8");
  expect(with("SUM_BITS", int64_t{33}), "at most 32");
  expect(with("TABLES", int64_t{1}), "tables need a FILE");
  expect(with("TABLES", int64_t{257}), "TABLES is at most 256");
  expect(with("TASKS", int64_t{2}), "several tasks need a TABLE");
  expect(with("MULTIPLY", std::string("booth")), "MULTIPLY is 'booth'");
  expect(with("KIND", std::string("ultra")), "KIND is 'ultra'");
  expect(integers(1, 8, 1, 1, 1, 0, 0, 8), "a residual of one bit");
  Parameters wide = fixed(1, 1, 0, 0, 31);
  wide["NUMBER"] = std::string("fixed");
  expect(wide, "FRACTION is at most 30");
}

TEST(Finish, StepsAreThoseOfTheStages) {
  EXPECT_EQ(finish_steps(integers(8, 32, 4, 2, 0, 0, 0, 32)), 1 + 3);
  EXPECT_EQ(finish_steps(integers(8, 32, 4, 2, 0, 0, 31, 25)), 1 + 2 + 3);
  EXPECT_EQ(finish_steps(integers(8, 32, 4, 2, 1, 1, 31, 25)), 1 + 2 + 3 + 5 + 1);
}

}  // namespace
}  // namespace tilewright::pipeline
