// For tests: components against their models.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "support/pipeline/rtl_testing.h"

namespace tilewright::pipeline {

// Every cycle of every case and run is compared, and nothing differs. Fills in where compiled models are
// kept.
inline BenchResult expect_models_agree(const std::vector<std::unique_ptr<BenchCase>>& cases,
                                       BenchOptions options = {}) {
  std::vector<BenchCase*> list;
  for (const auto& one : cases) list.push_back(one.get());
  options.rtl = rtl_options();
  BenchResult result = run_bench(list, options);
  for (const std::string& problem : result.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(result.cycles, cases.size() * size_t(options.runs) * size_t(options.cycles));
  return result;
}

}  // namespace tilewright::pipeline
