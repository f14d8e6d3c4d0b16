// Weights and biases of a layer chosen by what they do to its outputs, on the rows that it reads.
#pragma once

#include <span>
#include <vector>

#include "tilewright/quantize/calibrate/layer_inputs.h"
#include "tilewright/quantize/calibrate/weight_groups.h"

namespace tilewright {

// What the integers of weights are multiples of: scale * factor.
struct RoundingSteps {
  std::vector<double> scales;  // one per output, or one
  WeightFactors factors;
  int64_t lowest = -127, highest = 127;  // of an integer divided by its factor
};

// Moves single integers of `integers` (i8, in the order of the weights) up or down by one step from the
// nearest so that the squared error of the outputs falls, a constant error per output left aside
// (mean_output_error removes that): coordinate descent on the covariance of the rows that the quantised layer
// reads. The squared error never grows.
void reconstruct_rounding(const LayerMatrix& matrix, std::span<const float> weights,
                          const RoundingSteps& steps, std::span<const float> quantized_rows,
                          std::span<int8_t> integers, int threads);

// For each output the mean, over the rows, of the float result minus the quantised one; what a bias lacks.
std::vector<double> mean_output_error(const LayerMatrix& matrix, std::span<const float> weights,
                                      std::span<const float> rows, const std::vector<double>& scales,
                                      std::span<const int8_t> integers,
                                      std::span<const float> quantized_rows);

// Mean squares over the outputs of one layer: what it computes, and its own errors about their means (which
// the bias can take) by their source. Errors that its input brings along are not among them.
struct LayerErrors {
  double signal = 0;
  double weights = 0;   // rounded
  double clipping = 0;  // of its input's numbers beyond the range
  double rounding = 0;  // of its input
  double total() const { return weights + clipping + rounding; }
};

// low, high: the range that the quantised input represents. Looks at 16 of the rows.
LayerErrors layer_errors(const LayerMatrix& matrix, std::span<const float> weights,
                         std::span<const float> rows, const std::vector<double>& scales,
                         std::span<const int8_t> integers, std::span<const float> quantized_rows, double low,
                         double high, int threads);

}  // namespace tilewright
