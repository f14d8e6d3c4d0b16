// Each step k of the rule, first reached at the accumulator t, asks two things of multiplier / 2^shift = m:
// t * m >= k - 1/2 and (t - 1) * m < k - 1/2. For a given shift that is an interval of multipliers for every
// step; the multiplier that lies in the most of them is found by a sweep over their ends.
#include "tilewright/quantize/integerize/fit_scale.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

__extension__ using Wide = __int128;

// numerator / denominator, rounded down; the denominator may be negative.
int64_t floor_quotient(Wide numerator, Wide denominator) {
  if (denominator < 0) numerator = -numerator, denominator = -denominator;
  return int64_t(numerator / denominator - (numerator % denominator < 0));
}

// A step of the rule: the result is at least (half_steps + 1) / 2 from `first` on.
struct Step {
  int64_t half_steps = 0, first = 0;
};

// The multipliers with which round_shift(acc * multiplier, shift) has the step where the rule has it.
IntegerRange multipliers_of(const Step& step, int shift, IntegerRange accumulators) {
  constexpr IntegerRange kNone{1, 0};
  IntegerRange range{1, INT32_MAX};
  const Wide target = Wide(step.half_steps) << shift;  // acc * 2 * multiplier reaches it, or does not
  if (const int64_t reaching = step.first; reaching <= accumulators.high) {
    if (reaching == 0 && target > 0) return kNone;
    if (reaching > 0) range.low = std::max(range.low, -floor_quotient(-target, 2 * Wide(reaching)));
    if (reaching < 0) range.high = std::min(range.high, floor_quotient(target, 2 * Wide(reaching)));
  }
  if (const int64_t missing = step.first - 1; missing >= accumulators.low) {
    if (missing == 0 && target <= 0) return kNone;
    if (missing > 0) range.high = std::min(range.high, -floor_quotient(-target, 2 * Wide(missing)) - 1);
    if (missing < 0) range.low = std::max(range.low, floor_quotient(target, 2 * Wide(missing)) + 1);
  }
  return range;
}

struct Candidate {
  int64_t multiplier = 0;
  int64_t met = -1;  // steps
};

// The multiplier from `least` up that meets the most steps, the nearest to `wanted` of those.
Candidate best_multiplier(const std::vector<IntegerRange>& ranges, int64_t wanted, int64_t least) {
  constexpr int64_t kMost = INT32_MAX;
  std::vector<std::pair<int64_t, int>> ends{{least, 0}};  // where a range begins, and after which it ends
  for (const IntegerRange& range : ranges) {
    if (range.low > range.high || range.high < least || range.low > kMost) continue;
    ends.emplace_back(std::max(range.low, least), 1);
    ends.emplace_back(range.high + 1, -1);
  }
  std::sort(ends.begin(), ends.end());
  Candidate best;
  int64_t met = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    met += ends[i].second;
    const int64_t next = i + 1 < ends.size() ? ends[i + 1].first : kMost + 1;
    if (next == ends[i].first || ends[i].first > kMost) continue;
    const int64_t nearest = std::clamp(wanted, ends[i].first, std::min(next - 1, kMost));
    const bool is_nearer = std::abs(nearest - wanted) < std::abs(best.multiplier - wanted);
    if (met > best.met || (met == best.met && is_nearer)) best = {nearest, met};
  }
  return best;
}

// The least accumulator of the range whose result is at least `step`, range.high + 1 where there is none. The
// search widens around a guess, then halves.
int64_t first_reaching(const ScaleRule& rule, int64_t step, int64_t guess, IntegerRange range) {
  int64_t below = range.low - 1, above = range.high + 1;  // misses, reaches
  for (int64_t at = guess, stride = 1; below + 1 < above; stride *= 2) {
    (rule(at) >= step ? above : below) = at;
    const bool is_between = below >= range.low && above <= range.high;
    at = is_between            ? below + (above - below) / 2
         : above <= range.high ? std::max(range.low, above - stride)
                               : std::min(range.high, below + stride);
  }
  return above;
}

}  // namespace

FittedScale fit_scale(double scale, const ScaleRule& rule, IntegerRange accumulators, IntegerRange output,
                      int largest_shift) {
  TILEWRIGHT_CHECK(accumulators.low <= accumulators.high, "an empty range of accumulators");
  const double low = double(accumulators.low), high = double(accumulators.high);
  std::vector<Step> steps;
  for (int64_t k = output.low + 1; k <= output.high; ++k) {
    const double guess = std::clamp((double(k) - 0.5) / scale, low, high);
    steps.push_back({2 * k - 1, first_reaching(rule, k, int64_t(guess), accumulators)});
  }
  const Requantization exact = encode_scale(scale);
  std::vector<IntegerRange> ranges(steps.size());
  const auto count_met = [&](int shift, int64_t multiplier) {
    int64_t met = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      ranges[i] = multipliers_of(steps[i], shift, accumulators);
      met += ranges[i].low <= multiplier && multiplier <= ranges[i].high;
    }
    return met;
  };
  int64_t met = exact.shift <= largest_shift ? count_met(exact.shift, exact.multiplier) : -1;
  FittedScale fitted{exact, 0};
  // All 31 bits, also where the exact scale is a power of two; and the next shift, for multipliers below it.
  int exponent = 0;
  std::frexp(scale, &exponent);
  for (int bits = 31; bits <= 32 && met < int64_t(steps.size()); ++bits) {
    const int shift = std::min(bits - exponent, largest_shift);
    if (shift < 0) continue;
    const int64_t wanted = std::llrint(std::ldexp(scale, shift));
    count_met(shift, wanted);
    const Candidate best = best_multiplier(ranges, wanted, shift == largest_shift ? 1 : int64_t{1} << 30);
    if (best.met <= met) continue;
    met = best.met;
    fitted.scale = {int32_t(best.multiplier), shift};
  }
  fitted.missed_steps = int64_t(steps.size()) - met;
  return fitted;
}

Requantization encode_rounded(Rounding rounding, double scale, float scale_in_float,
                              IntegerRange accumulators, IntegerRange output) {
  if (rounding == Rounding::kOnce) return encode_scale(scale);
  if (rounding == Rounding::kTwice) return encode_scale_twice(scale);
  return fit_scale(scale, float_scale_rule(scale_in_float), accumulators, output).scale;
}

Requantization encode_copy(Rounding rounding, double scale, float scale_in_float) {
  if (rounding == Rounding::kOnce) return encode_scale(scale);
  const bool is_taken = scale_in_float >= 0x1p-8F && scale_in_float <= 0x1p7F;
  if (rounding == Rounding::kTwice || !is_taken) return encode_scale_twice(scale);
  return {int32_t(std::lrint(256 * scale_in_float)), 8};
}

ScaleRule float_scale_rule(float scale) {
  return [scale](int64_t accumulator) { return int64_t(std::llrintf(float(int32_t(accumulator)) * scale)); };
}

ScaleRule average_rule(int64_t count) {
  return [count](int64_t sum) { return sum >= 0 ? (sum + count / 2) / count : (sum - count / 2) / count; };
}

}  // namespace tilewright
