#include "calibration/least_squares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::vector<LeastSquaresRow> random_rows(Random& random, const std::vector<double>& truth, double noise) {
  std::vector<LeastSquaresRow> rows;
  for (int i = 0; i < 40; ++i) {
    LeastSquaresRow row;
    row.features.push_back(1);
    while (row.features.size() < truth.size()) row.features.push_back(double(random.between(0, 1000)));
    for (size_t k = 0; k < truth.size(); ++k) row.value += truth[k] * row.features[k];
    row.value += noise * (random.uniform() - 0.5);
    row.weight = 1 / std::pow(20 + std::abs(row.value), 2);
    rows.push_back(row);
  }
  return rows;
}

double error(const std::vector<LeastSquaresRow>& rows, const std::vector<double>& coefficients) {
  double sum = 0;
  for (const LeastSquaresRow& row : rows) {
    double value = -row.value;
    for (size_t k = 0; k < coefficients.size(); ++k) value += coefficients[k] * row.features[k];
    sum += row.weight * value * value;
  }
  return sum;
}

TEST(LeastSquares, FindsWhatMadeTheValues) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> truth;
    for (int64_t k = random.between(1, 9); k >= 0; --k) {
      truth.push_back(random.chance(0.3) ? 0 : random.uniform() * 5);
    }
    const std::vector<double> found = nonnegative_least_squares(random_rows(random, truth, 0));
    for (size_t k = 0; k < truth.size(); ++k) EXPECT_NEAR(found[k], truth[k], k == 0 ? 1e-3 : 1e-6);
  }
}

// With noise and coefficients that would be negative: no small legal step from the solution is better.
TEST(LeastSquares, NothingBesideTheSolutionIsBetter) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> truth = {double(random.between(0, 50))};
    for (int k = 0; k < 6; ++k) truth.push_back(random.uniform() * 4 - 1);
    const std::vector<LeastSquaresRow> rows = random_rows(random, truth, 300);
    const std::vector<double> found = nonnegative_least_squares(rows);
    const double least = error(rows, found);
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_GE(found[k], 0);
      for (const double step : {-1e-3, 1e-3}) {
        std::vector<double> beside = found;
        beside[k] = std::max(0.0, beside[k] + step);
        EXPECT_GE(error(rows, beside), least * (1 - 1e-9));
      }
    }
  }
}

TEST(LeastSquares, FeaturesThatNoRowHasGetNothing) {
  const std::vector<LeastSquaresRow> rows = {{{1, 0, 2, 2}, 4}, {{1, 0, 3, 3}, 6}, {{1, 0, 5, 5}, 10}};
  const std::vector<double> found = nonnegative_least_squares(rows);
  EXPECT_EQ(found[1], 0);
  EXPECT_NEAR(found[2] + found[3], 2, 1e-9);
  EXPECT_NEAR(found[0], 0, 1e-9);
}

TEST(LeastSquares, RefusesWhatIsNoSystem) {
  EXPECT_THROW(nonnegative_least_squares({}), Error);
  EXPECT_THROW(nonnegative_least_squares({{{1, 2}, 3}, {{1}, 3}}), Error);
  EXPECT_THROW(nonnegative_least_squares({{{1}, 3, -1}}), Error);
}

}  // namespace
}  // namespace tilewright
