// How well the cost of an implementation can be predicted from its design choices: gradient-boosted trees per
// target, evaluated as in the tuning paper (paper 002, section IV.A). A fifth of the configurations is the
// test set; ten random splits of the others, three quarters against one, choose the trees' settings. All rows
// of a configuration are on the same side of every split: otherwise a model could look the answer up.
//
// The paper speaks of accuracy without naming the classes of its classifier. Two readings are given here: the
// share of rows predicted within `tolerance` of the truth, and the share of rows predicted into the right one
// of `classes` classes that hold equal numbers of the training rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/search/models/gradient_boosted.h"
#include "tilewright/tune/learn/sample_table.h"

namespace tilewright::tune {

struct PredictionOptions {
  double test_share = 0.2, training_share = 0.75;
  int splits = 10;
  double tolerance = 0.1;
  int classes = 4;
  uint64_t seed = 1;
  std::vector<BoostingOptions> settings;  // to choose among; empty: boosting_settings()
};
// Depths and numbers of trees that suit hundreds of rows.
std::vector<BoostingOptions> boosting_settings();

struct Accuracy {
  double within = 0;        // share of rows, 0 to 1
  double same_class = 0;    // likewise
  double median_error = 0;  // relative
  double r2 = 0;            // share of the variance that is explained; below 0: worse than the mean
};

struct PredictionReport {
  std::string target;
  int64_t rows = 0, configurations = 0, test_rows = 0, test_configurations = 0;
  int classes = 0;                 // distinct ones: values repeated in many rows leave fewer
  Accuracy boosted, linear, mean;  // on the test rows, learned from all others
  Accuracy validation;             // of the chosen settings, mean of the splits
  BoostingOptions chosen;
  std::vector<double> importance;  // of the features: share of the gain of the tested model
};

// Errors (invalid input): the table does not verify, no such target, options out of range, fewer than ten
// configurations with the target.
PredictionReport predict_target(const SampleTable& table, const std::string& target,
                                const PredictionOptions& options = {});

// Learns the logarithm of one more than the target, so that errors count relatively.
GradientBoosting fit_target(const SampleTable& table, const std::string& target,
                            const std::vector<size_t>& rows, const BoostingOptions& settings);
// What the above predicts for a row of features, in the target's own unit; not negative.
double predicted_target(const GradientBoosting& model, const float* row, size_t columns);

}  // namespace tilewright::tune
