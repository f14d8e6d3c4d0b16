// The six roundings happen in units of 2^-20 of the result or less, so the exact sum decides all pairs but
// those next to a half. Multipliers a few units around the exact ones, and a bias, are tried on these pairs
// alone.
#include "tilewright/quantize/integerize/fit_addition.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

constexpr int kLeftShift = 20;  // of both inputs

struct SumScales {
  Requantization a, b, y;
};

SumScales scales_of(const QuantizedSum& sum) {
  const double a = sum.a.scale, b = sum.b.scale, twice_larger = 2 * std::max(a, b);
  return {encode_scale_twice(a / twice_larger), encode_scale_twice(b / twice_larger),
          encode_scale_twice(twice_larger / (double(1 << kLeftShift) * double(sum.y.scale)))};
}

int64_t rounded_sum(const QuantizedSum& sum, const SumScales& scales, int64_t a, int64_t b) {
  const int64_t from_a = scaled(int32_t((a - sum.a.zero_point) << kLeftShift), scales.a);
  const int64_t from_b = scaled(int32_t((b - sum.b.zero_point) << kLeftShift), scales.b);
  const int64_t result = scaled(int32_t(from_a + sum.sign * from_b), scales.y) + sum.y.zero_point;
  return clip(result, sum.output.low, sum.output.high);
}

struct Pair {
  int64_t a, b, result;
};

// The pairs whose exact sum lies so near to a half that roundings decide.
std::vector<Pair> decided_by_rounding(const QuantizedSum& sum) {
  constexpr double kNear = 0x1p-10;
  const SumScales scales = scales_of(sum);
  const double ratio_a = double(sum.a.scale) / sum.y.scale;
  const double ratio_b = sum.sign * (double(sum.b.scale) / sum.y.scale);
  std::vector<Pair> pairs;
  for (int64_t a = -128; a <= 127; ++a) {
    for (int64_t b = -128; b <= 127; ++b) {
      const double exact = ratio_a * double(a - sum.a.zero_point) + ratio_b * double(b - sum.b.zero_point);
      if (std::fabs(exact - std::floor(exact) - 0.5) < kNear)
        pairs.push_back({a, b, rounded_sum(sum, scales, a, b)});
    }
  }
  return pairs;
}

int64_t count_missed(const QuantizedSum& sum, const std::vector<Pair>& pairs, const FittedAddition& fit,
                     int64_t enough) {
  int64_t missed = 0;
  for (const Pair& pair : pairs) {
    const int64_t total =
        pair.a * fit.multipliers.multiplier_a + pair.b * fit.multipliers.multiplier_b + fit.bias;
    const int64_t result = round_shift(total, fit.multipliers.shift) + sum.y.zero_point;
    missed += clip(result, sum.output.low, sum.output.high) != pair.result;
    if (missed >= enough) break;
  }
  return missed;
}

}  // namespace

int64_t twice_rounded_sum(const QuantizedSum& sum, int64_t a, int64_t b) {
  return rounded_sum(sum, scales_of(sum), a, b);
}

std::optional<FittedAddition> fit_addition(const QuantizedSum& sum) {
  const double ratio_a = double(sum.a.scale) / sum.y.scale;
  const double ratio_b = sum.sign * (double(sum.b.scale) / sum.y.scale);
  const auto encoded = encode_addition(ratio_a, ratio_b);
  if (!encoded) return std::nullopt;
  const std::vector<Pair> pairs = decided_by_rounding(sum);
  std::optional<FittedAddition> best;
  // All bits, also of powers of two: halves go away from zero where the multipliers are a little too large.
  const int full = std::min(21 - std::ilogb(std::max(std::fabs(ratio_a), std::fabs(ratio_b))), 31);
  for (const int shift : {encoded->shift, full - 1, full}) {
    if (shift < 0) continue;
    const int64_t exact_a = std::llround(std::ldexp(ratio_a, shift)),
                  exact_b = std::llround(std::ldexp(ratio_b, shift));
    const int64_t reach = shift == encoded->shift && shift < full - 1 ? 0 : 2;
    for (int64_t a = exact_a - reach; a <= exact_a + reach; ++a) {
      for (int64_t b = exact_b - reach; b <= exact_b + reach; ++b) {
        if (std::max(std::abs(a), std::abs(b)) >= 1 << 22) continue;
        for (int64_t extra = -2 * reach; extra <= 2 * reach; ++extra) {
          FittedAddition fit{
              {int32_t(a), int32_t(b), shift}, extra - a * sum.a.zero_point - b * sum.b.zero_point, 0};
          const int64_t enough = best ? best->missed_pairs : int64_t(pairs.size()) + 1;
          fit.missed_pairs = count_missed(sum, pairs, fit, enough);
          if (fit.missed_pairs < enough) best = fit;
          if (best && best->missed_pairs == 0) return best;
        }
      }
    }
  }
  return best;
}

}  // namespace tilewright
