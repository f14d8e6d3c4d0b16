// Gradient-boosted regression trees, grown by XGBoost (Chen and Guestrin 2016) on one thread, so that the
// same rows give the same trees everywhere. The trees are read back and walked here: a prediction then costs
// no call into the library, and several threads may ask at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

// The version of the library that runs, like "1.7.4".
std::string boosting_library();

struct BoostingOptions {
  enum class Objective {
    kSquaredError,  // predictions are labels
    kRankPairwise,  // predictions are scores: the higher, the higher the label is within its group
  };
  Objective objective = Objective::kSquaredError;
  int rounds = 100;             // trees
  int depth = 6;                // of a tree, at most
  double learning_rate = 0.1;   // in (0, 1]
  double min_child_weight = 1;  // sum of the second derivatives in a leaf, at least: with squared error, rows
  double row_share = 1;         // of the rows, drawn anew for every tree
  double column_share = 1;      // of the columns, drawn anew for every tree
  double l2 = 1;                // regularisation of the leaves
  int bins = 256;               // of a column's histogram
  uint64_t seed = 1;

  // Throws an Error (invalid input) with every field that is out of range.
  void verify() const;
};

// One node of a tree: a row goes left where its column is below the threshold.
struct TreeNode {
  int32_t column = -1;  // -1: a leaf
  float value = 0;      // the threshold, or what the leaf adds
  int32_t left = 0, right = 0;
  bool missing_left = false;  // where a row goes whose column is NaN
};

class GradientBoosting {
 public:
  explicit GradientBoosting(BoostingOptions options = {});

  // Grows new trees; earlier fits are forgotten. `rows` is row-major, labels.size() x columns; NaN
  // is a missing value. `groups`: sizes of runs of rows whose labels are compared with each other (ranking
  // only; empty: one group). `start`, if not empty, is what the trees add to, one value per row: predict()
  // gives only what they add. Errors (invalid input): sizes that do not fit each other, no rows, a label or a
  // start that is not finite.
  void fit(std::span<const float> rows, size_t columns, std::span<const float> labels,
           std::span<const uint32_t> groups = {}, std::span<const float> start = {});
  bool fitted() const { return columns_ > 0; }
  size_t columns() const { return columns_; }

  // Of a row of columns() values; 0 before the first fit.
  double predict(std::span<const float> row) const;
  // Of rows in row-major order.
  std::vector<double> predict_all(std::span<const float> rows) const;

  // How much each column's splits improved the objective in all trees, as a share of all improvement.
  const std::vector<double>& importance() const { return importance_; }
  // The trees one after the other; roots() are their first nodes.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const std::vector<int32_t>& roots() const { return roots_; }

 private:
  BoostingOptions options_;
  size_t columns_ = 0;
  double base_ = 0;
  std::vector<TreeNode> nodes_;
  std::vector<int32_t> roots_;
  std::vector<double> importance_;
};

}  // namespace tilewright
