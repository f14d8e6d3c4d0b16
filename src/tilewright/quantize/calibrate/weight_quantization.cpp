// Starts from the scale that covers the largest weight. Below 8 bits, tries 80 steps down of 1% of it; for
// powers of two, goes from the next one above down by up to four halvings while the error falls. The smallest
// squared error wins.
#include "tilewright/quantize/calibrate/weight_quantization.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

double error_of(const std::vector<float>& weights, double scale, double highest) {
  const double per_scale = 1 / scale;
  double sum = 0;
  for (float w : weights) {
    const double q = std::clamp(round_half_even(w * per_scale), -highest, highest);
    sum += (w - q * scale) * (w - q * scale);
  }
  return sum;
}

// Calls body(channel, first element, elements) for each run of elements of one channel.
template <typename Body>
void for_each_run(const Shape& shape, int axis, int64_t channels, const Body& body) {
  const int64_t inner = channels == 1 ? shape.element_count() : shape.count(axis + 1, shape.rank());
  const int64_t outer = channels == 1 ? 1 : shape.count(0, axis);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t o = 0; o < outer; ++o) body(c, (o * channels + c) * inner, inner);
  }
}

}  // namespace

double select_weight_scale(const std::vector<float>& weights, const NumberForm& form) {
  const double highest = double(form.highest());
  double largest = 0;
  for (float w : weights) largest = std::max(largest, std::fabs(double(w)));
  if (largest == 0) return 0;
  const double covering = std::max(largest / highest, 0x1p-60);
  if (!form.power_of_two && form.bits >= 8) return covering;
  double best = form.power_of_two ? std::exp2(std::ceil(std::log2(covering))) : covering;
  double best_error = error_of(weights, best, highest);
  const int steps = form.power_of_two ? 4 : 80;
  const double first = best;
  for (int step = 1; step <= steps; ++step) {
    const double scale = form.power_of_two ? first * std::exp2(-step) : first * (1 - step / 100.0);
    const double error = error_of(weights, scale, highest);
    if (error < best_error) best_error = error, best = scale;
    if (form.power_of_two && error > best_error) break;
  }
  return best;
}

std::vector<double> select_weight_scales(const Tensor& weights, int axis, bool per_channel,
                                         const NumberForm& form) {
  const int64_t channels = per_channel ? weights.shape()[axis] : 1;
  const auto data = weights.data<float>();
  std::vector<double> scales(size_t(channels), 0.0);
  std::vector<float> own;
  int64_t current = 0;
  for_each_run(weights.shape(), axis, channels, [&](int64_t c, int64_t from, int64_t count) {
    if (c != current) {
      scales[size_t(current)] = select_weight_scale(own, form);
      own.clear();
      current = c;
    }
    const auto run = data.subspan(size_t(from), size_t(count));
    own.insert(own.end(), run.begin(), run.end());
  });
  if (channels > 0) scales[size_t(current)] = select_weight_scale(own, form);
  return scales;
}

Tensor round_weights(const Tensor& weights, int axis, const std::vector<double>& scales,
                     const NumberForm& form) {
  const double highest = double(form.highest());
  const auto data = weights.data<float>();
  Tensor result(ElementType::kI8, weights.shape());
  const auto integers = result.mutable_data<int8_t>();
  for_each_run(weights.shape(), axis, int64_t(scales.size()), [&](int64_t c, int64_t from, int64_t count) {
    // The scale as DequantizeLinear will see it.
    const double scale = double(float(scales[size_t(c)]));
    for (int64_t e = from; e < from + count; ++e) {
      const double quotient = std::clamp(data[size_t(e)] / scale, -highest, highest);
      integers[size_t(e)] = int8_t(round_half_even(quotient));
    }
  });
  return result;
}

}  // namespace tilewright
