#include "tilewright/pipeline/design/pack.h"

#include <gtest/gtest.h>

namespace tilewright::pipeline {
namespace {

// One convolution of 1 x 1 from two channels to two: sums of at most (100 + 27) and (3 + 4) activations.
Network network(int bits, bool bipolar) {
  Network network;
  network.tensors = {{"in", {1, 1, 2}, bits, bipolar}, {"out", {1, 1, 2}, 8, false}};
  Layer& layer = network.layers.emplace_back();
  layer.output = 1;
  layer.weights = {100, -27, 3, 4};
  layer.finish.bias = {0, -20000};
  layer.finish.scale = {{1, 3}, {1, 3}};
  return network;
}

TEST(AccumulatorBits, HoldTheLargestSumOfEitherSign) {
  // 127 * 128 = 16256 needs 15 bits with its sign; with the biases 16256 and 7 * 128 + 20000: 16 bits.
  const Network eight = network(8, false);
  EXPECT_EQ(accumulator_bits(eight, eight.layers[0]), 15);
  EXPECT_EQ(biased_sum_bits(eight, eight.layers[0]), 16);
  // 127 * 2 = 254, and 127 of single bits that stand for -1 and +1.
  const Network two = network(2, false), single = network(1, true);
  EXPECT_EQ(accumulator_bits(two, two.layers[0]), 9);
  EXPECT_EQ(accumulator_bits(single, single.layers[0]), 8);
  // An average of 3 x 3 sums nine activations: 9 * 128 = 1152.
  Network average = network(8, false);
  average.layers[0].kind = LayerKind::kAveragePool;
  average.layers[0].window.rows = average.layers[0].window.columns = 3;
  average.layers[0].weights.clear();
  EXPECT_EQ(accumulator_bits(average, average.layers[0]), 12);
  Network fixed = network(32, false);
  fixed.number = NumberType::kFixed;
  EXPECT_EQ(accumulator_bits(fixed, fixed.layers[0]), 64);
  EXPECT_EQ(biased_sum_bits(fixed, fixed.layers[0]), 64);
}

TEST(HasMultipliers, WhereOneIsNotOne) {
  Layer layer = network(8, false).layers[0];
  EXPECT_EQ(multiplier_bits(layer), 0);
  layer.finish.scale[1].multiplier = 2;
  EXPECT_GT(multiplier_bits(layer), 0);
}

TEST(FinishWordBits, AreBiasMultiplierAndShift) {
  EXPECT_EQ(finish_word_bits(NumberType::kInteger, 4, 20), 4 * (32 + 20 + 6));
  EXPECT_EQ(finish_word_bits(NumberType::kInteger, 4, 0), 4 * (32 + 6));
  EXPECT_EQ(finish_word_bits(NumberType::kFixed, 4, 20), 4 * 32);
}

}  // namespace
}  // namespace tilewright::pipeline
