// Places of elements as digits, and what programs without the model cannot do.
#include "tilewright/pipeline/network/model_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/pipeline/network_testing.h"
#include "support/pipeline/real_values_testing.h"
#include "support/random_seed_testing.h"

namespace tilewright::pipeline {
namespace {

TEST(ElementPlaces, AnyDigitsAreFoundAgain) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(300); ++i) {
    ElementPlaces places;
    places.first = random.between(0, 50);
    for (int64_t left = random.between(0, 4); left > 0; --left) {
      places.digits.push_back({random.between(1, 6), random.between(-40, 40)});
    }
    const std::vector<int64_t> list = places.list();
    const std::optional<ElementPlaces> found = element_places(list);
    ASSERT_TRUE(found) << "case " << i;
    EXPECT_EQ(found->list(), list) << "case " << i;
  }
}

TEST(ElementPlaces, OtherOrdersHaveNone) {
  EXPECT_FALSE(element_places({0, 1, 3}));
  EXPECT_FALSE(element_places({0, 1, 2, 4, 5, 7}));
  EXPECT_FALSE(element_places({}));
  Random random(test_seed() + 1);
  for (int64_t i = 0; i < test_cases(100); ++i) {
    std::vector<int64_t> list;
    for (int64_t left = random.between(1, 12); left > 0; --left) list.push_back(random.between(0, 6));
    const std::optional<ElementPlaces> found = element_places(list);
    EXPECT_EQ(found ? found->list() : list, list) << "case " << i;
  }
}

TEST(ModelValues, SayWhatTheHostHasToComputeBesides) {
  Network network = random_network(test_seed());
  EXPECT_NE(model_values(network).missing.find("no part of a model"), std::string::npos);
  RealBorders borders(network, test_seed());
  const ModelValues values = model_values(network);
  EXPECT_EQ(values.missing, "");
  EXPECT_EQ(values.inputs.size(), network.before.inputs.size());
  EXPECT_EQ(values.outputs.size(), network.behind.outputs.size());
  Graph& behind = network.behind;
  const ValueId last = behind.outputs[0];
  behind.outputs[0] = behind.add_value("y", ElementType::kF32, behind.value(last).shape);
  behind.add_node("odd_one", "Sin", {last}, {behind.outputs[0]});
  EXPECT_EQ(model_values(network).missing, "node 'odd_one' (Sin)");
  EXPECT_TRUE(model_values(network).outputs.empty());
}

}  // namespace
}  // namespace tilewright::pipeline
