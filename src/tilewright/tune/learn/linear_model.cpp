// Normal equations by Cholesky's decomposition; the ridge keeps them positive definite.
#include "tilewright/tune/learn/linear_model.h"

#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright::tune {
namespace {

// Solves the symmetric positive definite n x n system a x = b; both are overwritten, b with x.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const size_t n = b.size();
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

}  // namespace

LinearModel::LinearModel(std::span<const float> rows, size_t columns, std::span<const float> labels,
                         double ridge)
    : mean_(columns, 0.0), scale_(columns, 0.0) {
  const size_t n = labels.size();
  TILEWRIGHT_CHECK(n > 0 && rows.size() == n * columns, "a linear model of no rows");
  for (size_t c = 0; c < columns; ++c) {
    double sum = 0, squares = 0, known = 0;
    for (size_t r = 0; r < n; ++r) {
      const double x = rows[r * columns + c];
      if (std::isnan(x)) continue;
      sum += x;
      squares += x * x;
      ++known;
    }
    if (known == 0) continue;
    mean_[c] = sum / known;
    const double variance = squares / known - mean_[c] * mean_[c];
    scale_[c] = variance > 1e-12 * (1 + mean_[c] * mean_[c]) ? 1 / std::sqrt(variance) : 0;
  }
  for (const float label : labels) base_ += label / double(n);
  std::vector<double> products(columns * columns, 0.0), row(columns);
  weights_.assign(columns, 0.0);
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      const double x = rows[r * columns + c];
      row[c] = std::isnan(x) ? 0 : (x - mean_[c]) * scale_[c];
      weights_[c] += row[c] * (labels[r] - base_);
      for (size_t k = 0; k <= c; ++k) products[c * columns + k] += row[c] * row[k];
    }
  }
  for (size_t c = 0; c < columns; ++c) products[c * columns + c] += ridge * double(n);
  solve(products, weights_);
}

double LinearModel::predict(std::span<const float> row) const {
  double sum = base_;
  for (size_t c = 0; c < weights_.size(); ++c) {
    if (!std::isnan(row[c])) sum += weights_[c] * (row[c] - mean_[c]) * scale_[c];
  }
  return sum;
}

}  // namespace tilewright::tune
