// Random layers against what their loads must not do: overwrite weights that a layer from the running one on
// still needs, come late, or come twice.
#include "tilewright/overlay/lower/weights_ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

std::vector<AheadLayer> random_ahead_layers(Random& random, int64_t depth) {
  std::vector<AheadLayer> layers(size_t(random.between(1, 30)));
  for (AheadLayer& layer : layers) {
    layer.weights = random.chance(0.2) ? 0 : random.between(1, depth);
    if (random.chance(0.6)) layer.weights = std::min<int64_t>(layer.weights, depth / 8 + 1);
    layer.may_come_early = layer.weights > 0 && random.chance(0.7);
    layer.idle = random.chance(0.3) ? 0 : random.between(0, depth);
  }
  return layers;
}

TEST(WeightsAhead, OverwriteNothingThatIsNeeded) {
  for (int64_t i = 0; i < test_cases(300); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", test_seed() + uint64_t(i)));
    Random random(test_seed() + uint64_t(i));
    const int64_t depth = random.between(1, 300);
    const std::vector<AheadLayer> layers = random_ahead_layers(random, depth);
    const AheadPlan plan = plan_weights_ahead(layers, depth);
    // By element of WGT: the layer whose weight it holds, and which one.
    std::vector<std::pair<size_t, int64_t>> held(size_t(depth), {layers.size(), 0});
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      ASSERT_LE(plan.bases[layer] + layers[layer].weights, depth);
      for (const AheadLoad& load : plan.loads[layer]) {
        ASSERT_GE(load.layer, layer);
        ASSERT_TRUE(layers[load.layer].may_come_early);
        for (int64_t k = load.first; k < load.first + load.count; ++k) {
          auto& place = held[size_t(plan.bases[load.layer] + k)];
          // The layer before this one runs, so what it holds must stay.
          const bool needed = place.first < layers.size() && place.first + 1 >= layer;
          ASSERT_FALSE(needed) << "layer " << layer << " overwrites layer " << place.first;
          place = {load.layer, k};
        }
      }
      // Others load all their weights when the layer before is done.
      for (int64_t k = 0; k < layers[layer].weights && !plan.complete[layer]; ++k) {
        auto& place = held[size_t(plan.bases[layer] + k)];
        ASSERT_TRUE(place.first == layers.size() || place.first < layer);
        place = {layer, k};
      }
      for (int64_t k = 0; k < layers[layer].weights; ++k)
        ASSERT_EQ(held[size_t(plan.bases[layer] + k)], std::pair(layer, k)) << "layer " << layer;
    }
  }
}

TEST(WeightsAhead, FillTheTimeInWhichALayerWaits) {
  const std::vector<AheadLayer> layers = {{32, true, 40}, {1, false, 0}, {64, true, 0}, {64, true, 0}};
  const AheadPlan plan = plan_weights_ahead(layers, 256);
  const auto total = [&](size_t layer) {
    int64_t sum = 0;
    for (const AheadLoad& load : plan.loads[layer]) sum += load.count;
    return sum;
  };
  EXPECT_EQ(total(0), 32);
  EXPECT_EQ(total(1), 40);  // while layer 0 runs, of layer 2
  EXPECT_EQ(total(2), 24);
  EXPECT_EQ(total(3), 64);
}

}  // namespace
}  // namespace tilewright::overlay
