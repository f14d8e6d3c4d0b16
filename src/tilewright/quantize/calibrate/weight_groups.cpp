// The scale comes from a table for each group: the squared error at steps around its largest weight divided
// by 2^(bits-1). For each candidate scale, a group takes the multiple of it with the least error by the
// table. The best candidate and the scale for whole channels then compete with factors chosen exactly.
#include "tilewright/quantize/calibrate/weight_groups.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "tilewright/quantize/calibrate/weight_quantization.h"

namespace tilewright {
namespace {

// Steps of the table, as shares of the one at which the largest weight is -2^(bits-1) steps.
constexpr double kSmallestShare = 0.4, kShareRatio = 1.04;
constexpr int kTableSteps = 28;       // up to 1.15
constexpr double kScaleRatio = 0.97;  // of neighbouring candidates

struct WeightRun {
  std::vector<float> weights;
  double largest = 0, squares = 0;
  std::array<double, kTableSteps> errors{};  // of the better sign
};

double table_share(int i) { return kSmallestShare * std::pow(kShareRatio, i); }

// Of w = weight / step, rounded and saturated; the step may be negative.
double run_error(const std::vector<float>& weights, double step, const NumberForm& form) {
  const double low = double(form.lowest()), high = double(form.highest()), per_step = 1 / step;
  double sum = 0;
  for (const float weight : weights) {
    const double error = weight - step * std::clamp(round_half_even(weight * per_step), low, high);
    sum += error * error;
  }
  return sum;
}

// The groups of an output, in order, or of all outputs.
std::vector<WeightRun> weight_runs(std::span<const float> weights, const LayerMatrix& matrix,
                                   int64_t group_size, int64_t first, int64_t outputs) {
  std::vector<WeightRun> runs;
  for (int64_t o = first; o < first + outputs; ++o) {
    for (int64_t k = 0; k < matrix.depth; ++k) {
      if (k % group_size == 0) runs.emplace_back();
      const float weight = weights[size_t(o * matrix.output_stride + k * matrix.depth_stride)];
      runs.back().weights.push_back(weight);
      runs.back().largest = std::max(runs.back().largest, std::fabs(double(weight)));
      runs.back().squares += double(weight) * double(weight);
    }
  }
  return runs;
}

void fill_table(WeightRun& run, const NumberForm& form) {
  const double whole = run.largest / double(-form.lowest());
  for (int i = 0; i < kTableSteps && run.largest > 0; ++i) {
    const double step = table_share(i) * whole;
    run.errors[size_t(i)] = std::min(run_error(run.weights, step, form), run_error(run.weights, -step, form));
  }
}

// By the table; steps beyond it as rounding of evenly spread numbers.
double table_error(const WeightRun& run, double step, const NumberForm& form) {
  const double at =
      std::log(step * double(-form.lowest()) / (run.largest * kSmallestShare)) / std::log(kShareRatio);
  if (at <= 0) return at < -1 ? run.squares : run.errors[0];
  if (at >= kTableSteps - 1)
    return std::min(run.squares, std::max(double(run.weights.size()) * step * step / 12, run.errors.back()));
  const auto below = size_t(at);
  return run.errors[below] + (at - double(below)) * (run.errors[below + 1] - run.errors[below]);
}

double best_step(const WeightRun& run, const NumberForm& form) {
  const auto least = std::min_element(run.errors.begin(), run.errors.end()) - run.errors.begin();
  return table_share(int(least)) * run.largest / double(-form.lowest());
}

struct FactorChoice {
  int64_t factor = 1;
  double error = 0;
};

FactorChoice best_factor(const std::vector<float>& weights, double scale, const NumberForm& form) {
  FactorChoice best{1, run_error(weights, scale, form)};
  for (int64_t magnitude = 1; magnitude <= largest_factor(form.bits); ++magnitude) {
    for (const int64_t factor : {magnitude, -magnitude}) {
      const double error = run_error(weights, scale * double(factor), form);
      if (error < best.error) best = {factor, error};
    }
  }
  return best;
}

double exact_error(const std::vector<WeightRun>& runs, double scale, const NumberForm& form) {
  double sum = 0;
  for (const WeightRun& run : runs) sum += run.largest > 0 ? best_factor(run.weights, scale, form).error : 0;
  return sum;
}

// From the scale at which one step suits the coarsest group to that at which the largest factor does so by
// half, as powers of two where the form asks for them.
std::vector<double> candidate_scales(double coarsest, const NumberForm& form) {
  const double finest = coarsest / double(2 * largest_factor(form.bits));
  std::vector<double> scales;
  double scale = form.power_of_two ? std::exp2(std::ceil(std::log2(coarsest))) : coarsest;
  for (; scale >= finest; scale *= form.power_of_two ? 0.5 : kScaleRatio) scales.push_back(scale);
  return scales;
}

double select_unit_scale(std::vector<WeightRun>& runs, double whole_channels, const NumberForm& form) {
  double coarsest = 0;
  std::vector<double> wanted;
  for (WeightRun& run : runs) {
    fill_table(run, form);
    wanted.push_back(best_step(run, form));
    coarsest = std::max(coarsest, wanted.back());
  }
  if (coarsest == 0) return 0;
  double best = whole_channels, least = std::numeric_limits<double>::infinity();
  for (const double scale : candidate_scales(coarsest, form)) {
    double error = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].largest == 0) continue;
      const double below = std::clamp(std::floor(wanted[i] / scale), 1.0, double(largest_factor(form.bits)));
      const double above = std::min(below + 1, double(largest_factor(form.bits)));
      error += std::min(table_error(runs[i], scale * below, form), table_error(runs[i], scale * above, form));
    }
    if (error < least) least = error, best = scale;
  }
  return exact_error(runs, best, form) < exact_error(runs, whole_channels, form) ? best : whole_channels;
}

}  // namespace

int64_t largest_factor(int bits) { return 127 / (int64_t{1} << (bits - 1)); }

int factor_bits(int bits) { return std::bit_width(uint64_t(2 * largest_factor(bits) - 1)); }

std::vector<double> select_group_scales(std::span<const float> weights, const LayerMatrix& matrix,
                                        int64_t group_size, bool per_channel, const NumberForm& form) {
  const int64_t units = per_channel ? matrix.outputs : 1;
  std::vector<double> scales;
  for (int64_t unit = 0; unit < units; ++unit) {
    std::vector<WeightRun> runs = weight_runs(weights, matrix, group_size, unit, matrix.outputs / units);
    std::vector<float> all;
    for (const WeightRun& run : runs) all.insert(all.end(), run.weights.begin(), run.weights.end());
    scales.push_back(select_unit_scale(runs, select_weight_scale(all, form), form));
  }
  return scales;
}

WeightFactors select_factors(std::span<const float> weights, const LayerMatrix& matrix, int64_t group_size,
                             const std::vector<double>& scales, const NumberForm& form) {
  WeightFactors result{group_size, matrix.depth, {}};
  for (int64_t o = 0; o < matrix.outputs; ++o) {
    const double scale = double(float(scales[size_t(o) % scales.size()]));
    for (const WeightRun& run : weight_runs(weights, matrix, group_size, o, 1)) {
      const bool empty = run.largest == 0 || scale == 0;
      result.factors.push_back(empty ? 1 : int8_t(best_factor(run.weights, scale, form).factor));
    }
  }
  return result;
}

void round_in_groups(std::span<const float> weights, const LayerMatrix& matrix,
                     const std::vector<double>& scales, const WeightFactors& factors, const NumberForm& form,
                     std::span<int8_t> integers) {
  for (int64_t o = 0; o < matrix.outputs; ++o) {
    // The scale as DequantizeLinear will see it.
    const double scale = double(float(scales[size_t(o) % scales.size()]));
    for (int64_t k = 0; k < matrix.depth; ++k) {
      const auto place = size_t(o * matrix.output_stride + k * matrix.depth_stride);
      const int64_t factor = factors.of(o, k);
      const double quotient = weights[place] / (scale * double(factor));
      const double w = std::clamp(round_half_even(quotient), double(form.lowest()), double(form.highest()));
      integers[place] = int8_t(int64_t(w) * factor);
    }
  }
}

std::vector<GroupForm> forms_of_groups(std::span<const int8_t> integers, const LayerMatrix& matrix,
                                       int64_t group_size) {
  std::vector<GroupForm> forms;
  const auto form_of = [](int64_t divisor, int64_t low, int64_t high) {
    for (int bits = 2; bits < 8; ++bits) {
      const int64_t lowest = -(int64_t{1} << (bits - 1)), highest = -lowest - 1;
      for (int64_t magnitude = 1; magnitude <= largest_factor(bits); ++magnitude) {
        if (divisor % magnitude != 0) continue;
        const int64_t least = low / magnitude, most = high / magnitude;
        if (least >= lowest && most <= highest) return GroupForm{bits, int(magnitude)};
        if (-most >= lowest && -least <= highest) return GroupForm{bits, -int(magnitude)};
      }
    }
    return GroupForm{};
  };
  for (int64_t o = 0; o < matrix.outputs; ++o) {
    for (int64_t first = 0; first < matrix.depth; first += group_size) {
      int64_t divisor = 0, low = 0, high = 0;
      for (int64_t k = first; k < std::min(first + group_size, matrix.depth); ++k) {
        const int64_t q = integers[size_t(o * matrix.output_stride + k * matrix.depth_stride)];
        divisor = std::gcd(divisor, q);
        low = std::min(low, q), high = std::max(high, q);
      }
      forms.push_back(form_of(divisor, low, high));
    }
  }
  return forms;
}

}  // namespace tilewright
