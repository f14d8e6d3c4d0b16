#include "tilewright/quantize/calibrate/layer_reconstruction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

struct Layer {
  LayerMatrix matrix;
  std::vector<float> weights, rows;
  std::vector<double> scales;
  std::vector<int8_t> nearest;
};

// Rows whose columns depend on each other, which is what rounding can use.
Layer random_layer(uint64_t seed, int64_t groups, int64_t outputs, int64_t depth) {
  Random random(seed);
  Layer layer{{groups, outputs, depth, depth, 1}, {}, {}, {}, {}};
  for (int64_t r = 0; r < 200; ++r) {
    const double common = random.uniform();
    for (int64_t k = 0; k < layer.matrix.width(); ++k)
      layer.rows.push_back(float(common + 0.3 * random.uniform()));
  }
  for (int64_t o = 0; o < outputs; ++o) {
    layer.scales.push_back(0.05 + 0.1 * random.uniform());
    for (int64_t k = 0; k < depth; ++k) {
      layer.weights.push_back(float((2 * random.uniform() - 1) * 7 * layer.scales.back()));
      layer.nearest.push_back(int8_t(std::nearbyint(double(layer.weights.back()) / layer.scales.back())));
    }
  }
  return layer;
}

// By the definition: of one output over all rows, the mean error and the mean squared deviation from it.
struct OutputError {
  double mean = 0, variance = 0;
};
OutputError output_error(const Layer& layer, const std::vector<int8_t>& integers, int64_t output) {
  const LayerMatrix& m = layer.matrix;
  const int64_t count = int64_t(layer.rows.size()) / m.width();
  std::vector<double> errors;
  double sum = 0;
  for (int64_t r = 0; r < count; ++r) {
    double error = 0;
    for (int64_t k = 0; k < m.depth; ++k) {
      const auto place = size_t(output * m.output_stride + k * m.depth_stride);
      const double weight_error =
          double(layer.weights[place]) - double(float(layer.scales[size_t(output)])) * integers[place];
      error += weight_error * double(layer.rows[size_t(r * m.width() + m.group_of(output) * m.depth + k)]);
    }
    errors.push_back(error);
    sum += error;
  }
  OutputError result{sum / double(count), 0};
  for (double error : errors) result.variance += std::pow(error - result.mean, 2) / double(count);
  return result;
}

TEST(LayerReconstruction, RoundingLowersTheErrorOfTheOutputs) {
  for (const int64_t groups : {1, 4}) {
    const Layer layer = random_layer(uint64_t(groups), groups, 8, 18);
    std::vector<int8_t> chosen = layer.nearest;
    reconstruct_rounding(layer.matrix, layer.weights, {layer.scales, {}, -7, 7}, layer.rows, chosen, 2);
    double before = 0, after = 0;
    for (int64_t o = 0; o < 8; ++o) {
      before += output_error(layer, layer.nearest, o).variance;
      after += output_error(layer, chosen, o).variance;
    }
    EXPECT_LT(after, before / 2) << groups << " groups";
    for (size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_LE(std::abs(chosen[i] - layer.nearest[i]), 1);
      EXPECT_LE(std::abs(int(chosen[i])), 7);
    }
  }
}

TEST(LayerReconstruction, ThreadsDoNotMatter) {
  const Layer layer = random_layer(3, 1, 16, 30);
  std::vector<int8_t> one = layer.nearest, three = layer.nearest;
  reconstruct_rounding(layer.matrix, layer.weights, {layer.scales, {}, -7, 7}, layer.rows, one, 1);
  reconstruct_rounding(layer.matrix, layer.weights, {layer.scales, {}, -7, 7}, layer.rows, three, 3);
  EXPECT_EQ(one, three);
}

TEST(LayerReconstruction, MeanErrorByDefinition) {
  const Layer layer = random_layer(4, 2, 6, 9);
  const std::vector<double> errors =
      mean_output_error(layer.matrix, layer.weights, layer.rows, layer.scales, layer.nearest, layer.rows);
  ASSERT_EQ(errors.size(), 6u);
  for (int64_t o = 0; o < 6; ++o)
    EXPECT_NEAR(errors[size_t(o)], output_error(layer, layer.nearest, o).mean, 1e-9);
}

// Exact weights and inputs leave nothing; each source alone is found.
TEST(LayerReconstruction, ErrorsBySource) {
  Layer layer = random_layer(5, 1, 4, 12);
  for (size_t i = 0; i < layer.weights.size(); ++i)
    layer.weights[i] = float(layer.scales[i / 12]) * float(layer.nearest[i]);
  const auto errors = [&](const std::vector<float>& quantized, double high) {
    return layer_errors(layer.matrix, layer.weights, layer.rows, layer.scales, layer.nearest, quantized, 0,
                        high, 2);
  };
  const LayerErrors exact = errors(layer.rows, 2);
  EXPECT_GT(exact.signal, 0);
  EXPECT_LT(exact.total(), 1e-10);
  std::vector<float> clipped = layer.rows, rounded = layer.rows;
  for (float& x : clipped) x = std::min(x, 0.7f);
  for (float& x : rounded) x = std::round(x * 4) / 4;
  const LayerErrors of_clipping = errors(clipped, double(0.7f)), of_rounding = errors(rounded, 2);
  EXPECT_GT(of_clipping.clipping, 0.99 * of_clipping.total());
  EXPECT_GT(of_rounding.rounding, 0.99 * of_rounding.total());
  for (float& w : layer.weights) w *= 1.01f;
  const LayerErrors of_weights = errors(layer.rows, 2);
  EXPECT_GT(of_weights.weights, 0.99 * of_weights.total());
}

}  // namespace
}  // namespace tilewright
