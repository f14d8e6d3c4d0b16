#include "tilewright/search/models/gradient_boosted.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

constexpr size_t kColumns = 6;

struct Data {
  std::vector<float> rows, labels;
};

// Columns 0 and 1 matter, 2 to 5 do not.
Data make_data(uint64_t seed, int count, double missing = 0) {
  Random random(seed);
  Data data;
  for (int i = 0; i < count; ++i) {
    float row[kColumns];
    for (float& value : row) value = float(random.uniform());
    data.labels.push_back(3 * row[0] + row[1] * row[1] + 10);
    for (float value : row) {
      data.rows.push_back(random.chance(missing) ? std::numeric_limits<float>::quiet_NaN() : value);
    }
  }
  return data;
}

// Share of pairs of different labels that the predictions order as the labels do.
double concordance(const std::vector<double>& predictions, const std::vector<float>& labels) {
  int64_t right = 0, all = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (labels[i] == labels[j]) continue;
      ++all;
      right += (predictions[i] < predictions[j]) == (labels[i] < labels[j]) ? 1 : 0;
    }
  }
  return double(right) / double(all);
}

TEST(GradientBoosting, LearnsAFunctionAndWhichColumnsMatter) {
  const Data train = make_data(1, 600), test = make_data(2, 200);
  GradientBoosting model({.rounds = 80, .depth = 4});
  model.fit(train.rows, kColumns, train.labels);
  const auto predictions = model.predict_all(test.rows);
  double error = 0, spread = 0, mean = 0;
  for (float label : test.labels) mean += label / double(test.labels.size());
  for (size_t i = 0; i < test.labels.size(); ++i) {
    error += std::pow(predictions[i] - test.labels[i], 2);
    spread += std::pow(mean - test.labels[i], 2);
  }
  EXPECT_LT(error / spread, 0.02);
  ASSERT_EQ(model.importance().size(), kColumns);
  EXPECT_GT(model.importance()[0], model.importance()[1]);
  EXPECT_GT(model.importance()[0] + model.importance()[1], 0.98);
}

TEST(GradientBoosting, RanksWithinGroupsOnly) {
  Data train = make_data(3, 400);
  // The second half is another group, far off: only order within a group may count.
  for (size_t i = 200; i < 400; ++i) train.labels[i] -= 1000;
  GradientBoosting model({.objective = BoostingOptions::Objective::kRankPairwise, .rounds = 40, .depth = 4});
  const uint32_t groups[] = {200, 200};
  model.fit(train.rows, kColumns, train.labels, groups);
  const Data test = make_data(4, 150);
  EXPECT_GT(concordance(model.predict_all(test.rows), test.labels), 0.93);
}

TEST(GradientBoosting, SameTreesInEveryRun) {
  const Data data = make_data(5, 200);
  for (auto objective :
       {BoostingOptions::Objective::kSquaredError, BoostingOptions::Objective::kRankPairwise}) {
    const BoostingOptions options{.objective = objective, .rounds = 10, .row_share = 0.7, .seed = 9};
    GradientBoosting a(options), b(options);
    a.fit(data.rows, kColumns, data.labels);
    b.fit(data.rows, kColumns, data.labels);
    EXPECT_EQ(a.predict_all(data.rows), b.predict_all(data.rows));
  }
}

TEST(GradientBoosting, AddsToAStart) {
  const Data data = make_data(6, 300);
  GradientBoosting model({.rounds = 60, .depth = 4});
  std::vector<float> start;  // off by 7
  for (float label : data.labels) start.push_back(label - 7);
  model.fit(data.rows, kColumns, data.labels, {}, start);
  for (double added : model.predict_all(data.rows)) EXPECT_NEAR(added, 7, 0.1);
}

// The library's own predictions for the same data, options by hand.
std::vector<float> library_predictions(const Data& data, const BoostingOptions& options, float base) {
  DMatrixHandle matrix = nullptr;
  EXPECT_EQ(XGDMatrixCreateFromMat_omp(data.rows.data(), data.labels.size(), kColumns,
                                       std::numeric_limits<float>::quiet_NaN(), &matrix, 1),
            0);
  EXPECT_EQ(XGDMatrixSetFloatInfo(matrix, "label", data.labels.data(), data.labels.size()), 0);
  BoosterHandle booster = nullptr;
  EXPECT_EQ(XGBoosterCreate(&matrix, 1, &booster), 0);
  const std::pair<const char*, std::string> parameters[] = {{"objective", "reg:squarederror"},
                                                            {"tree_method", "hist"},
                                                            {"nthread", "1"},
                                                            {"base_score", std::to_string(base)},
                                                            {"max_depth", std::to_string(options.depth)},
                                                            {"eta", std::to_string(options.learning_rate)}};
  for (const auto& parameter : parameters) {
    XGBoosterSetParam(booster, parameter.first, parameter.second.c_str());
  }
  for (int i = 0; i < options.rounds; ++i) XGBoosterUpdateOneIter(booster, i, matrix);
  bst_ulong length = 0;
  const float* values = nullptr;
  EXPECT_EQ(XGBoosterPredict(booster, matrix, 0, 0, 0, &length, &values), 0);
  std::vector<float> predictions(values, values + length);
  XGBoosterFree(booster);
  XGDMatrixFree(matrix);
  return predictions;
}

TEST(GradientBoosting, WalksTheTreesAsTheLibraryDoes) {
  const Data data = make_data(7, 300, 0.1);
  const BoostingOptions options{.rounds = 20, .depth = 5};
  GradientBoosting model(options);
  model.fit(data.rows, kColumns, data.labels);
  double mean = 0;
  for (float label : data.labels) mean += label;
  const auto theirs = library_predictions(data, options, float(mean / double(data.labels.size())));
  const auto ours = model.predict_all(data.rows);
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-4);
}

TEST(GradientBoosting, RefusesWhatDoesNotFit) {
  const Data data = make_data(8, 10);
  GradientBoosting model;
  const std::vector<double> none;
  EXPECT_EQ(model.predict_all(data.rows), none);
  EXPECT_THROW(model.fit(data.rows, kColumns + 1, data.labels), Error);
  EXPECT_THROW(model.fit({}, kColumns, {}), Error);
  const uint32_t groups[] = {4, 5};
  EXPECT_THROW(model.fit(data.rows, kColumns, data.labels, groups), Error);
  std::vector<float> labels = data.labels;
  labels[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(model.fit(data.rows, kColumns, labels), Error);
  EXPECT_THROW(GradientBoosting({.rounds = 0, .depth = 99}), Error);
}

}  // namespace
}  // namespace tilewright
