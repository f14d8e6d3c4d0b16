// The active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23) on the normal
// equations: features enter the set of positive coefficients one by one, the one with the steepest descent
// first; where the solution on the set leaves the positive range, the step is cut short and features leave.
// Columns are scaled to length 1, which keeps the equations of a dozen features well enough conditioned.
#include "calibration/least_squares.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

using Matrix = std::vector<std::vector<double>>;

struct NormalEquations {
  Matrix products;              // of columns
  std::vector<double> targets;  // of columns and values
  std::vector<double> lengths;  // of columns; 0: no row has the feature
};

NormalEquations normal_equations(const std::vector<LeastSquaresRow>& rows) {
  const size_t n = rows.front().features.size();
  NormalEquations e{Matrix(n, std::vector<double>(n, 0)), std::vector<double>(n, 0), {}};
  for (const LeastSquaresRow& row : rows) {
    TILEWRIGHT_CHECK(row.features.size() == n && row.weight >= 0, "a row of another length or weight");
    for (size_t i = 0; i < n; ++i) {
      e.targets[i] += row.weight * row.features[i] * row.value;
      for (size_t j = 0; j < n; ++j) e.products[i][j] += row.weight * row.features[i] * row.features[j];
    }
  }
  for (size_t i = 0; i < n; ++i) e.lengths.push_back(std::sqrt(e.products[i][i]));
  for (size_t i = 0; i < n; ++i) {
    if (e.lengths[i] == 0) continue;
    e.targets[i] /= e.lengths[i];
    for (size_t j = 0; j < n; ++j) {
      if (e.lengths[j] > 0) e.products[i][j] /= e.lengths[i] * e.lengths[j];
    }
  }
  return e;
}

// Cholesky's decomposition of the products of the columns in `set`, and the solution for their targets. False
// where the columns depend on each other.
bool solve(const NormalEquations& e, const std::vector<size_t>& set, std::vector<double>& solution) {
  const size_t n = set.size();
  Matrix lower(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = e.products[set[i]][set[j]];
      for (size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j && sum < 1e-10) return false;
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
  }
  solution.assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    double sum = e.targets[set[i]];
    for (size_t k = 0; k < i; ++k) sum -= lower[i][k] * solution[k];
    solution[i] = sum / lower[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) solution[i] -= lower[k][i] * solution[k];
    solution[i] /= lower[i][i];
  }
  return true;
}

class ActiveSet {
 public:
  explicit ActiveSet(const NormalEquations& equations)
      : equations_(equations),
        coefficients_(equations.lengths.size(), 0),
        refused_(equations.lengths.size(), false) {
    for (size_t i = 0; i < refused_.size(); ++i) refused_[i] = equations.lengths[i] == 0;
  }

  std::vector<double> run() {
    for (size_t step = 0; step < 20 * coefficients_.size() + 20; ++step) {
      const size_t entering = steepest();
      if (entering == coefficients_.size()) break;
      set_.push_back(entering);
      settle(entering);
    }
    return coefficients_;
  }

 private:
  // The feature outside of the set by which the error falls fastest; none: the number of features.
  size_t steepest() const {
    size_t best = coefficients_.size();
    double most = 1e-9;
    for (size_t i = 0; i < coefficients_.size(); ++i) {
      if (refused_[i] || std::find(set_.begin(), set_.end(), i) != set_.end()) continue;
      double descent = equations_.targets[i];
      for (const size_t j : set_) descent -= equations_.products[i][j] * coefficients_[j];
      if (descent > most) {
        most = descent;
        best = i;
      }
    }
    return best;
  }

  // Moves to the solution on the set; features whose coefficients reach 0 on the way leave it.
  void settle(size_t entering) {
    std::vector<double> solution;
    for (;;) {
      if (!solve(equations_, set_, solution)) {
        refused_[entering] = true;
        set_.erase(std::find(set_.begin(), set_.end(), entering));
        return;
      }
      double step = 1;
      for (size_t k = 0; k < set_.size(); ++k) {
        const double from = coefficients_[set_[k]];
        if (solution[k] <= 0) step = std::min(step, from / (from - solution[k]));
      }
      for (size_t k = 0; k < set_.size(); ++k) {
        coefficients_[set_[k]] += step * (solution[k] - coefficients_[set_[k]]);
      }
      if (step >= 1) return;
      std::erase_if(set_, [&](size_t i) {
        if (coefficients_[i] > 1e-14) return false;
        coefficients_[i] = 0;
        return true;
      });
      if (std::find(set_.begin(), set_.end(), entering) == set_.end()) refused_[entering] = true;
    }
  }

  const NormalEquations& equations_;
  std::vector<double> coefficients_;  // of the scaled columns
  std::vector<bool> refused_;
  std::vector<size_t> set_;
};

}  // namespace

std::vector<double> nonnegative_least_squares(const std::vector<LeastSquaresRow>& rows) {
  TILEWRIGHT_CHECK(!rows.empty(), "least squares of no rows");
  const NormalEquations equations = normal_equations(rows);
  std::vector<double> coefficients = ActiveSet(equations).run();
  for (size_t i = 0; i < coefficients.size(); ++i) {
    if (equations.lengths[i] > 0) coefficients[i] /= equations.lengths[i];
  }
  return coefficients;
}

}  // namespace tilewright
