#include "tilewright/graph/operators/operators_constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::optional<int64_t> of_floats(float start, float limit, float delta) {
  const auto one = [](float value) { return Tensor::of<float>({}, {value}); };
  return range_length(one(start), one(limit), one(delta));
}

std::optional<int64_t> of_integers(int64_t start, int64_t limit, int64_t delta) {
  const auto one = [](int64_t value) { return Tensor::of<int64_t>({}, {value}); };
  return range_length(one(start), one(limit), one(delta));
}

// Counted step by step; all values are multiples of a quarter, which floats hold exactly.
TEST(RangeLengthClass, CountsTheStepsToTheLimit) {
  const int64_t cases = test_cases(5000);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  for (int64_t i = 0; i < cases; ++i) {
    const int64_t start = random.between(-40, 40), limit = random.between(-40, 40),
                  delta = random.between(-9, 9);
    if (delta == 0) continue;
    int64_t count = 0;
    for (int64_t at = start; delta > 0 ? at < limit : at > limit; at += delta) ++count;
    ASSERT_EQ(of_integers(start, limit, delta), count) << start << " " << limit << " " << delta;
    ASSERT_EQ(of_floats(float(start) / 4, float(limit) / 4, float(delta) / 4), count)
        << start << " " << limit << " " << delta << ", in quarters";
  }
}

TEST(RangeLength, HasNoneWithoutAnEnd) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(of_floats(0, 1, 0), std::nullopt);
  EXPECT_EQ(of_floats(0, 0, 0), std::nullopt);
  EXPECT_EQ(of_floats(0, infinity, 1), std::nullopt);
  EXPECT_EQ(of_floats(0, std::nanf(""), 1), std::nullopt);
  EXPECT_EQ(of_floats(0, -infinity, 1), 0);
  EXPECT_EQ(of_floats(0, 0x1p40f, 1), std::nullopt);
  EXPECT_EQ(of_floats(0, 0x1p39f, 1), int64_t{1} << 39);
  EXPECT_EQ(of_integers(0, 1, 0), std::nullopt);
  EXPECT_EQ(of_integers(0, (int64_t{1} << 40) + 1, 1), std::nullopt);
  EXPECT_EQ(of_integers(1, (int64_t{1} << 40) + 1, 1), int64_t{1} << 40);
  EXPECT_EQ(of_integers(INT64_MIN, INT64_MAX, INT64_MAX), 3);
  EXPECT_EQ(of_integers(INT64_MAX, INT64_MIN, INT64_MIN), 2);
}

}  // namespace
}  // namespace tilewright
