// Random layers against naive loops over the definition.
#include "tilewright/quantize/calibrate/weight_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/quantize/calibrate/weight_quantization.h"

namespace tilewright {
namespace {

struct GroupedLayer {
  LayerMatrix matrix;
  Tensor weights;
  int axis = 0;
  int64_t group_size = 2;
  bool per_channel = true;
  NumberForm form;
  std::span<const float> numbers() const { return weights.data<float>(); }
  size_t place(int64_t o, int64_t k) const {
    return size_t(o * matrix.output_stride + k * matrix.depth_stride);
  }
};

// Weights of outputs side by side or beneath each other; groups of all magnitudes, some of zeros, and often a
// last one that is shorter.
GroupedLayer random_grouped_layer(Random& random) {
  GroupedLayer layer;
  const int64_t outputs = random.between(1, 5), depth = random.between(1, 70);
  const bool beneath = random.chance(0.5);
  layer.matrix = {1, outputs, depth, beneath ? depth : 1, beneath ? 1 : outputs};
  layer.axis = beneath ? 0 : 1;
  layer.weights = Tensor(ElementType::kF32, beneath ? Shape{outputs, depth} : Shape{depth, outputs});
  layer.group_size = random.chance(0.1) ? depth + 5 : random.between(2, 40);
  layer.per_channel = random.chance(0.8);
  layer.form = {.bits = int(random.between(2, 7)), .symmetric = true, .power_of_two = random.chance(0.2)};
  const auto numbers = layer.weights.mutable_data<float>();
  for (int64_t o = 0; o < outputs; ++o) {
    const bool dead = random.chance(0.1);
    double magnitude = 0;
    for (int64_t k = 0; k < depth; ++k) {
      if (k % layer.group_size == 0) {
        magnitude = dead || random.chance(0.1) ? 0 : std::exp2(-5 * random.uniform());
        if (random.chance(0.02)) magnitude *= 1e-9;
      }
      numbers[layer.place(o, k)] = float(magnitude * (2 * random.uniform() - 1));
    }
  }
  return layer;
}

double squared_difference(const GroupedLayer& layer, const std::vector<double>& scales,
                          std::span<const int8_t> integers) {
  double sum = 0;
  for (int64_t o = 0; o < layer.matrix.outputs; ++o) {
    for (int64_t k = 0; k < layer.matrix.depth; ++k) {
      const double scale = double(float(scales[size_t(o) % scales.size()]));
      sum += std::pow(double(layer.numbers()[layer.place(o, k)]) - scale * integers[layer.place(o, k)], 2);
    }
  }
  return sum;
}

TEST(WeightGroupsClass, ByTheDefinitionAndNeverWorseThanWholeChannels) {
  const int64_t cases = test_cases(150);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t better = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const GroupedLayer layer = random_grouped_layer(random);
    const int64_t low = layer.form.lowest(), high = layer.form.highest();
    std::vector<double> scales =
        select_group_scales(layer.numbers(), layer.matrix, layer.group_size, layer.per_channel, layer.form);
    ASSERT_EQ(int64_t(scales.size()), layer.per_channel ? layer.matrix.outputs : 1);
    for (double& scale : scales) scale = scale == 0 ? 1 : scale;  // as the quantiser raises it
    const WeightFactors factors =
        select_factors(layer.numbers(), layer.matrix, layer.group_size, scales, layer.form);
    std::vector<int8_t> integers(layer.numbers().size());
    round_in_groups(layer.numbers(), layer.matrix, scales, factors, layer.form, integers);

    for (int64_t o = 0; o < layer.matrix.outputs; ++o) {
      const double scale = double(float(scales[size_t(o) % scales.size()]));
      for (int64_t first = 0; first < layer.matrix.depth; first += layer.group_size) {
        const int64_t end = std::min(first + layer.group_size, layer.matrix.depth);
        // The error of a group with each factor, by the nearest of all multiples.
        const auto error_with = [&](int64_t factor, bool compare) {
          double sum = 0;
          for (int64_t k = first; k < end; ++k) {
            const double weight = double(layer.numbers()[layer.place(o, k)]);
            double least = std::numeric_limits<double>::infinity();
            for (int64_t w = low; w <= high; ++w)
              least = std::min(least, std::fabs(weight - scale * double(w * factor)));
            if (compare) {
              const int64_t integer = integers[layer.place(o, k)];
              EXPECT_EQ(integer % factor, 0);
              EXPECT_GE(integer / factor, low);
              EXPECT_LE(integer / factor, high);
              EXPECT_NEAR(std::fabs(weight - scale * double(integer)), least, 1e-9 * scale);
            }
            sum += least * least;
          }
          return sum;
        };
        const int64_t factor = factors.of(o, first);
        const double error = error_with(factor, true);
        for (int64_t other = 1; other * -low <= 127; ++other) {
          ASSERT_LE(error, error_with(other, false) * (1 + 1e-6) + 1e-30);
          ASSERT_LE(error, error_with(-other, false) * (1 + 1e-6) + 1e-30);
        }
      }
    }
    for (const GroupForm& form : forms_of_groups(integers, layer.matrix, layer.group_size))
      ASSERT_LE(form.bits, layer.form.bits);

    std::vector<double> whole =
        select_weight_scales(layer.weights, layer.axis, layer.per_channel, layer.form);
    for (double& scale : whole) scale = scale == 0 ? 1 : scale;
    const Tensor rounded = round_weights(layer.weights, layer.axis, whole, layer.form);
    const double with = squared_difference(layer, scales, integers),
                 without = squared_difference(layer, whole, rounded.data<int8_t>());
    ASSERT_LE(with, without * (1 + 1e-6) + 1e-30);
    better += with < 0.9 * without;
  }
  EXPECT_GT(better, cases / 2);
}

// The fewest bits and the smallest factor, by trying all of them.
TEST(WeightGroupsClass, FormsOfIntegersByTrial) {
  const int64_t cases = test_cases(300);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t narrow = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const int bits = int(random.between(2, 8));
    const int64_t most = bits == 8 ? 1 : 127 >> (bits - 1), half = int64_t{1} << (bits - 1);
    const int64_t factor = random.between(1, most) * (random.chance(0.5) ? 1 : -1);
    std::vector<int8_t> integers;
    for (int64_t n = random.between(1, 9); n > 0; --n)
      integers.push_back(int8_t(std::clamp<int64_t>(random.between(-half, half - 1) * factor, -128, 127)));
    const auto fits = [&](int tried, int64_t by) {
      return std::ranges::all_of(integers, [&](int8_t q) {
        return q % by == 0 && q / by >= -(1 << (tried - 1)) && q / by < 1 << (tried - 1);
      });
    };
    GroupForm expected;
    for (int tried = 7; tried >= 2; --tried) {
      for (int64_t by = 127 >> (tried - 1); by > 0; --by) {
        if (fits(tried, -by)) expected = {tried, int(-by)};
        if (fits(tried, by)) expected = {tried, int(by)};
      }
    }
    const LayerMatrix matrix{1, 1, int64_t(integers.size()), int64_t(integers.size()), 1};
    const std::vector<GroupForm> found = forms_of_groups(integers, matrix, 16);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bits, expected.bits);
    EXPECT_EQ(found[0].factor, expected.factor);
    EXPECT_LE(found[0].bits, bits);
    narrow += found[0].bits < 8;
  }
  EXPECT_GT(narrow, cases / 2);
}

TEST(WeightGroups, FactorsLeaveRoomForTheLargestWeight) {
  for (int bits = 2; bits <= 7; ++bits) {
    const int64_t half = int64_t{1} << (bits - 1), most = largest_factor(bits);
    EXPECT_LE(half * most, 127);
    EXPECT_GT(half * (most + 1), 127);
    EXPECT_GE(int64_t{1} << factor_bits(bits), 2 * most);
    EXPECT_LT((int64_t{1} << factor_bits(bits)) / 2, 2 * most);
  }
  EXPECT_EQ(largest_factor(4), 15);
  EXPECT_EQ(factor_bits(4), 5);
}

}  // namespace
}  // namespace tilewright
