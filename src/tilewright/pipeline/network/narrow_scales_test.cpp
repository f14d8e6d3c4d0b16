// Narrowed scales against the original ones, for every sum that a layer can have, and against all multipliers
// of fewer bits.
#include "tilewright/pipeline/network/narrow_scales.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/dense_network_testing.h"
#include "support/random_seed_testing.h"

namespace tilewright::pipeline {
namespace {

TEST(NarrowScales, GiveTheSameElementForEverySum) {
  Random random(test_seed());
  int64_t narrower = 0, scales = 0;
  for (int64_t i = 0; i < test_cases(60); ++i) {
    Network network = random_dense_network(random, 12);
    const Network before = network;
    narrow_scales(network);
    for (size_t l = 0; l < network.layers.size(); ++l) {
      const LayerFinish &now = network.layers[l].finish, &old = before.layers[l].finish;
      const Layer& layer = before.layers[l];
      const NetworkTensor& in = before.tensors[size_t(layer.input)];
      const int64_t low = in.bipolar ? -1 : -(int64_t{1} << (in.bits - 1)), high = in.bipolar ? 1 : -low - 1;
      const size_t inputs = layer.weights.size() / old.bias.size();
      for (size_t c = 0; c < old.scale.size(); ++c) {
        int64_t least = old.bias[c], most = old.bias[c];
        for (size_t k = 0; k < inputs; ++k) {
          const int64_t weight = layer.weights[c * inputs + k];
          least += weight > 0 ? weight * low : weight * high;
          most += weight > 0 ? weight * high : weight * low;
        }
        ++scales;
        narrower += now.scale[c].multiplier < old.scale[c].multiplier ? 1 : 0;
        EXPECT_LE(now.scale[c].multiplier, old.scale[c].multiplier);
        for (int64_t sum = least; sum <= most; ++sum) {
          ASSERT_EQ(requantize(int32_t(sum), now.scale[c], now.zero_point, now.clip_low, now.clip_high),
                    requantize(int32_t(sum), old.scale[c], old.zero_point, old.clip_low, old.clip_high))
              << fmt::format("seed {}, case {}, layer {}, channel {}, sum {}", test_seed(), i, l, c, sum);
        }
      }
    }
  }
  EXPECT_GT(narrower, scales / 3);
}

}  // namespace
}  // namespace tilewright::pipeline
