// With e = weights - step * integers of one output, steps of its groups, and C the covariance of the rows,
// the squared error is e'Ce. Changing integer k by d changes it by -2 d step (Ce)_k + d^2 step^2 C_kk; the
// sweeps take each change that lowers it and update Ce.
#include "tilewright/quantize/calibrate/layer_reconstruction.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

constexpr int kSweeps = 8;
// Few rows say little about many weights; this share of the mean variance, added to every weight's own, keeps
// the rounding near the nearest where they say nothing.
constexpr double kOwnVariance = 0.05;
constexpr int64_t kLargestDepth = 2048;  // deeper layers keep the nearest integers: C would be too large

double scale_of(const std::vector<double>& scales, int64_t output) {
  // The scale as DequantizeLinear will see it.
  return double(float(scales[size_t(output) % scales.size()]));
}

std::vector<double> row_means(const LayerMatrix& matrix, std::span<const float> rows) {
  const int64_t width = matrix.width(), count = int64_t(rows.size()) / width;
  std::vector<double> means(size_t(width), 0.0);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t k = 0; k < width; ++k) means[size_t(k)] += double(rows[size_t(r * width + k)]);
  }
  for (double& mean : means) mean /= double(std::max<int64_t>(count, 1));
  return means;
}

// depth x depth, of one group.
std::vector<float> covariance(const LayerMatrix& matrix, std::span<const float> rows,
                              const std::vector<double>& means, int64_t group) {
  const int64_t depth = matrix.depth, width = matrix.width(), count = int64_t(rows.size()) / width;
  std::vector<float> result(size_t(depth * depth), 0.0f), centred(static_cast<size_t>(depth));
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t column = group * depth + k;
      centred[size_t(k)] = float(double(rows[size_t(r * width + column)]) - means[size_t(column)]);
    }
    for (int64_t k = 0; k < depth; ++k) {
      const float factor = centred[size_t(k)];
      if (factor == 0) continue;
      float* into = result.data() + k * depth;
      for (int64_t j = k; j < depth; ++j) into[j] += factor * centred[size_t(j)];
    }
  }
  double trace = 0;
  for (int64_t k = 0; k < depth; ++k) trace += double(result[size_t(k * depth + k)]);
  for (int64_t k = 0; k < depth; ++k) {
    result[size_t(k * depth + k)] += float(kOwnVariance * trace / double(depth));
    for (int64_t j = 0; j < k; ++j) result[size_t(k * depth + j)] = result[size_t(j * depth + k)];
  }
  return result;
}

// One output: its weights, the steps of their integers and these.
struct OutputWeights {
  std::vector<double> exact, steps;
  std::vector<int64_t> chosen;
};

void descend(const std::vector<float>& variance, int64_t lowest, int64_t highest, OutputWeights& output) {
  const auto& [exact, steps, ignored] = output;
  std::vector<int64_t>& chosen = output.chosen;
  const auto depth = int64_t(exact.size());
  std::vector<double> product(size_t(depth), 0.0);  // C e
  for (int64_t k = 0; k < depth; ++k) {
    const double error = exact[size_t(k)] - steps[size_t(k)] * double(chosen[size_t(k)]);
    for (int64_t j = 0; j < depth; ++j) product[size_t(j)] += error * double(variance[size_t(k * depth + j)]);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int64_t k = 0; k < depth; ++k) {
      const double own = double(variance[size_t(k * depth + k)]), scale = steps[size_t(k)];
      const double quotient = exact[size_t(k)] / scale;
      const double wanted = double(chosen[size_t(k)]) + (own > 0 ? product[size_t(k)] / (scale * own) : 0.0);
      // Of the two integers beside the exact weight only.
      const double near = std::clamp(std::nearbyint(wanted), std::floor(quotient), std::ceil(quotient));
      const int64_t next = std::clamp(int64_t(near), lowest, highest);
      const double step = double(next - chosen[size_t(k)]);
      if (step == 0) continue;
      const double gain = 2 * step * scale * product[size_t(k)] - step * step * scale * scale * own;
      if (gain <= 0) continue;
      chosen[size_t(k)] = next;
      changed = true;
      const float* row = variance.data() + k * depth;
      for (int64_t j = 0; j < depth; ++j) product[size_t(j)] -= step * scale * double(row[j]);
    }
    if (!changed) break;
  }
}

}  // namespace

void reconstruct_rounding(const LayerMatrix& matrix, std::span<const float> weights,
                          const RoundingSteps& steps, std::span<const float> quantized_rows,
                          std::span<int8_t> integers, int threads) {
  const int64_t depth = matrix.depth;
  if (quantized_rows.empty() || depth < 2 || depth > kLargestDepth) return;
  const std::vector<double> means = row_means(matrix, quantized_rows);
  const int64_t per_group = matrix.outputs / matrix.groups;
  const auto round_output = [&](int64_t output, const std::vector<float>& variance) {
    const double scale = scale_of(steps.scales, output);
    if (!(scale > 0)) return;
    OutputWeights own;
    const auto place = [&](int64_t k) {
      return size_t(output * matrix.output_stride + k * matrix.depth_stride);
    };
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t factor = steps.factors.of(output, k);
      own.exact.push_back(double(weights[place(k)]));
      own.steps.push_back(scale * double(factor));
      own.chosen.push_back(integers[place(k)] / factor);
    }
    descend(variance, steps.lowest, steps.highest, own);
    for (int64_t k = 0; k < depth; ++k)
      integers[place(k)] = int8_t(own.chosen[size_t(k)] * steps.factors.of(output, k));
  };
  for (int64_t group = 0; group < matrix.groups; ++group) {
    const std::vector<float> variance = covariance(matrix, quantized_rows, means, group);
    parallel_for(per_group > 1 ? threads : 1, per_group, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) round_output(group * per_group + o, variance);
    });
  }
}

LayerErrors layer_errors(const LayerMatrix& matrix, std::span<const float> weights,
                         std::span<const float> rows, const std::vector<double>& scales,
                         std::span<const int8_t> integers, std::span<const float> quantized_rows, double low,
                         double high, int threads) {
  constexpr int64_t kRows = 16;
  const int64_t width = matrix.width(), count = width == 0 ? 0 : int64_t(rows.size()) / width;
  const int64_t used = std::min(count, kRows);
  std::vector<LayerErrors> outputs(static_cast<size_t>(matrix.outputs));
  const auto measure_output = [&](int64_t output) {
    const double scale = scale_of(scales, output);
    LayerErrors sums, means;
    for (int64_t r = 0; r < used; ++r) {
      const auto first = size_t(r * count / used * width + matrix.group_of(output) * matrix.depth);
      LayerErrors row;
      for (int64_t k = 0; k < matrix.depth; ++k) {
        const auto place = size_t(output * matrix.output_stride + k * matrix.depth_stride);
        const double weight = double(weights[place]), x = double(rows[first + size_t(k)]);
        const double inside = std::clamp(x, low, high), rounded = double(quantized_rows[first + size_t(k)]);
        row.signal += weight * x;
        row.clipping += weight * (x - inside);
        row.rounding += weight * (inside - rounded);
        row.weights += (weight - scale * double(integers[place])) * rounded;
      }
      for (double LayerErrors::*part :
           {&LayerErrors::signal, &LayerErrors::clipping, &LayerErrors::rounding, &LayerErrors::weights}) {
        sums.*part += row.*part * row.*part / double(used);
        means.*part += row.*part / double(used);
      }
    }
    for (double LayerErrors::*part : {&LayerErrors::clipping, &LayerErrors::rounding, &LayerErrors::weights})
      sums.*part = std::max(0.0, sums.*part - means.*part * means.*part);
    outputs[size_t(output)] = sums;
  };
  parallel_for(threads, matrix.outputs, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) measure_output(o);
  });
  LayerErrors total;
  for (const LayerErrors& output : outputs) {
    total.signal += output.signal / double(matrix.outputs);
    total.clipping += output.clipping / double(matrix.outputs);
    total.rounding += output.rounding / double(matrix.outputs);
    total.weights += output.weights / double(matrix.outputs);
  }
  return total;
}

std::vector<double> mean_output_error(const LayerMatrix& matrix, std::span<const float> weights,
                                      std::span<const float> rows, const std::vector<double>& scales,
                                      std::span<const int8_t> integers,
                                      std::span<const float> quantized_rows) {
  const std::vector<double> means = row_means(matrix, rows);
  const std::vector<double> quantized_means = row_means(matrix, quantized_rows);
  std::vector<double> errors(size_t(matrix.outputs), 0.0);
  for (int64_t output = 0; output < matrix.outputs; ++output) {
    const double scale = scale_of(scales, output);
    for (int64_t k = 0; k < matrix.depth; ++k) {
      const auto place = size_t(output * matrix.output_stride + k * matrix.depth_stride);
      const auto column = size_t(matrix.group_of(output) * matrix.depth + k);
      errors[size_t(output)] +=
          double(weights[place]) * means[column] - scale * double(integers[place]) * quantized_means[column];
    }
  }
  return errors;
}

}  // namespace tilewright
