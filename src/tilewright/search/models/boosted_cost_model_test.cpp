#include "tilewright/search/models/boosted_cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/search/models/cost_model_testing.h"

namespace tilewright {
namespace {

TEST(BoostedCostModel, RanksWhatItHasNotSeen) {
  BoostedCostModel model;
  const auto train = random_programs(1, 300, 0), test = random_programs(2, 200, 0);
  EXPECT_FALSE(model.trained());
  EXPECT_EQ(predict_one(model, test[0]).score, 0);
  model.fit(train);
  EXPECT_TRUE(model.trained());
  EXPECT_LT(wrongly_ranked(model, test), 0.1);
}

TEST(BoostedCostModel, TransfersFromEarlierGroups) {
  auto earlier = random_programs(3, 300, 1);
  const auto other = random_programs(4, 300, 2), few = random_programs(5, 12, 0);
  earlier.insert(earlier.end(), other.begin(), other.end());
  const auto test = random_programs(6, 200, 0);
  BoostedCostModel fresh, experienced;
  fresh.fit(few);
  experienced.transfer(earlier);
  EXPECT_TRUE(experienced.trained());
  EXPECT_LT(wrongly_ranked(experienced, test), 0.2);
  experienced.fit(few);
  EXPECT_LT(wrongly_ranked(experienced, test), wrongly_ranked(fresh, test) - 0.03);
  experienced.transfer({});
  EXPECT_FALSE(experienced.trained());
}

// Mean deviation as a share of the spread of the scores.
double disagreement(const BoostedCostModel& model) {
  double deviations = 0, sum = 0, squares = 0;
  const auto samples = random_programs(8, 100, 0);
  for (const CostSample& sample : samples) {
    const CostPrediction prediction = predict_one(model, sample);
    deviations += prediction.deviation / 100;
    sum += prediction.score / 100;
    squares += prediction.score * prediction.score / 100;
  }
  return deviations / std::sqrt(squares - sum * sum);
}

TEST(BoostedCostModel, DisagreesWhereItKnowsLittle) {
  BoostedCostModel one({.members = 1}), ignorant({.members = 6}), taught({.members = 6});
  one.fit(random_programs(7, 40, 0));
  ignorant.fit(random_programs(7, 40, 0));
  taught.fit(random_programs(7, 1200, 0));
  EXPECT_EQ(disagreement(one), 0);
  EXPECT_GT(disagreement(taught), 0);
  EXPECT_GT(disagreement(ignorant), 1.5 * disagreement(taught));
}

TEST(BoostedCostModel, RefusesBadSamples) {
  auto samples = random_programs(9, 10, 0);
  samples[4].cost = 0;
  BoostedCostModel model;
  EXPECT_THROW(model.fit(samples), Error);
  samples[4].cost = 1;
  samples[5].features.row.pop_back();
  EXPECT_THROW(model.fit(samples), Error);
  EXPECT_THROW(BoostedCostModel({.members = 0}), Error);
}

TEST(BoostedCostModel, LearnsNothingFromEqualCosts) {
  auto samples = random_programs(10, 10, 0);
  for (CostSample& sample : samples) sample.cost = 3;
  BoostedCostModel model;
  model.fit(samples);
  EXPECT_FALSE(model.trained());
}

}  // namespace
}  // namespace tilewright
