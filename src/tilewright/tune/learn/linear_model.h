// Ridge regression: the baseline for the boosted trees.
#pragma once

#include <span>
#include <vector>

namespace tilewright::tune {

class LinearModel {
 public:
  // `rows` is row-major, labels.size() x columns; NaN counts as the column's mean. Columns are brought to one
  // scale; `ridge` is the weight of the squared coefficients per row. Errors (internal): no rows.
  LinearModel(std::span<const float> rows, size_t columns, std::span<const float> labels,
              double ridge = 1e-3);
  double predict(std::span<const float> row) const;

 private:
  std::vector<double> mean_, scale_, weights_;  // per column
  double base_ = 0;
};

}  // namespace tilewright::tune
