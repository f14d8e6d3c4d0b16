// How the claim tests go through a list of checks.
#pragma once

#include <gtest/gtest.h>

#include "row_stationary_checks.h"

namespace tilewright::claims {

inline const Study& shared_study() {
  static const Study kStudy = read_study(TILEWRIGHT_SOURCE_DIR);
  return kStudy;
}

inline void expect_all(const std::vector<Check>& checks, size_t count) {
  EXPECT_EQ(checks.size(), count);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.holds()) << check.name << ": " << check.actual << ", published " << check.expected
                               << " within " << check.tolerance;
  }
}

}  // namespace tilewright::claims
