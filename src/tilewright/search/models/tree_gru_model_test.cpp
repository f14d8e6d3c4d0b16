#include "tilewright/search/models/tree_gru_model.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/search/models/cost_model_testing.h"

namespace tilewright {
namespace {

TEST(TreeGruModel, RanksWhatItHasNotSeen) {
  TreeGruModel model;
  const auto train = random_programs(1, 300, 0), test = random_programs(2, 200, 0);
  EXPECT_FALSE(model.trained());
  EXPECT_EQ(predict_one(model, test[0]).score, 0);
  model.fit(train);
  EXPECT_TRUE(model.trained());
  EXPECT_LT(wrongly_ranked(model, test), 0.06);
}

TEST(TreeGruModel, GoesOnFromTheFitBefore) {
  const auto train = random_programs(3, 200, 0), test = random_programs(4, 200, 0);
  TreeGruModel model({.fit_samples = 256});
  model.fit(train);
  const double early = wrongly_ranked(model, test);
  for (int i = 0; i < 20; ++i) model.fit(train);
  EXPECT_LT(wrongly_ranked(model, test), early - 0.01);
}

TEST(TreeGruModel, TransfersFromEarlierGroups) {
  auto earlier = random_programs(5, 300, 1);
  const auto other = random_programs(6, 300, 2), few = random_programs(7, 12, 0);
  earlier.insert(earlier.end(), other.begin(), other.end());
  const auto test = random_programs(8, 200, 0);
  TreeGruModel fresh, experienced;
  fresh.fit(few);
  experienced.transfer(earlier);
  EXPECT_LT(wrongly_ranked(experienced, test), 0.1);
  TreeGruModel given;
  given.set_weights(*experienced.weights());
  EXPECT_EQ(wrongly_ranked(given, test), wrongly_ranked(experienced, test));
  experienced.fit(few);
  EXPECT_LT(wrongly_ranked(experienced, test), wrongly_ranked(fresh, test));
  experienced.transfer({});
  EXPECT_FALSE(experienced.trained());
}

TEST(TreeGruModel, RefusesBadSamplesAndOptions) {
  auto samples = random_programs(9, 10, 0);
  TreeGruModel model;
  samples[3].features.tree.nodes[1].features.pop_back();
  EXPECT_THROW(model.fit(samples), Error);
  samples[3].features.tree.nodes.clear();
  EXPECT_THROW(model.fit(samples), Error);
  EXPECT_THROW(TreeGruModel({.minibatch = 1}), Error);
  TreeGruWeights weights;
  EXPECT_THROW(model.set_weights(weights), Error);
}

}  // namespace
}  // namespace tilewright
