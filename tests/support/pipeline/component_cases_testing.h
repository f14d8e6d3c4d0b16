// For tests: a random case of every component of the list, random_NAME; and the list of them.
#pragma once

#include <memory>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/list.h"

namespace tilewright::pipeline {

using MakeCase = std::unique_ptr<BenchCase> (*)(Random&);

#define TILEWRIGHT_DECLARE_CASE(constant, name) std::unique_ptr<BenchCase> random_##name(Random& random);
TILEWRIGHT_COMPONENTS(TILEWRIGHT_DECLARE_CASE)
#undef TILEWRIGHT_DECLARE_CASE

inline std::vector<MakeCase> component_cases() {
#define TILEWRIGHT_LIST_CASE(constant, name) random_##name,
  return {TILEWRIGHT_COMPONENTS(TILEWRIGHT_LIST_CASE)};
#undef TILEWRIGHT_LIST_CASE
}

}  // namespace tilewright::pipeline
