// Linear least squares with coefficients that are not negative.
#pragma once

#include <vector>

namespace tilewright {

// One equation: sum of features[i] * coefficient[i] = value, with the weight of its squared error.
struct LeastSquaresRow {
  std::vector<double> features;
  double value = 0, weight = 1;
};

// The coefficients, none negative, with the least weighted sum of squared errors; features that no row has
// get 0; of features that are equal in all rows, one gets their joint coefficient. Errors (internal): rows of
// different lengths, no rows, a weight that is negative.
std::vector<double> nonnegative_least_squares(const std::vector<LeastSquaresRow>& rows);

}  // namespace tilewright
