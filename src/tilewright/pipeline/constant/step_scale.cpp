// Each step says between which two sums the product has to cross a multiple of 2^shift; for a given factor
// the offset then lies in an interval.
#include "tilewright/pipeline/constant/step_scale.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/constant/signed_digits.h"
#include "tilewright/pipeline/network/element_steps.h"

namespace tilewright::pipeline {
namespace {

constexpr int kMostFactorBits = 31, kMostShift = 40;
// Factors on each side of the slope that are tried, and shifts beyond the first that has one.
constexpr int64_t kNear = 8;
constexpr int kMoreShifts = 5;

// The number in [low, high] with the most zeros at its end.
int64_t roundest(int64_t low, int64_t high) {
  for (int zeros = kMostShift; zeros > 0; --zeros) {
    const int64_t rounded = ((low + (int64_t{1} << zeros) - 1) >> zeros) << zeros;
    if (rounded <= high) return rounded;
  }
  return low;
}

// The offsets that put every step in its place; empty if none does.
NumberRange offsets_of(std::span<const ElementStep> steps, int64_t factor, int shift) {
  NumberRange range{INT64_MIN / 4, INT64_MAX / 4};
  for (const ElementStep& step : steps) {
    const int64_t edge = step.element * (int64_t{1} << shift);
    range.low = std::max(range.low, edge - factor * step.first_sum);
    range.high = std::min(range.high, edge - factor * (step.first_sum - 1) - 1);
    if (range.low > range.high) break;
  }
  return range;
}

class StepFit {
 public:
  StepFit(std::vector<ElementStep> steps, const NumberRange& sums, StepScale start)
      : steps_(std::move(steps)), sums_(sums), best_(start) {}

  // All steps in one line, or those up to `turn` in a line of their own.
  bool search(double slope, std::optional<int64_t> turn) {
    int last_shift = kMostShift;
    for (int shift = 0; shift <= last_shift; ++shift) {
      const int64_t near = std::max<int64_t>(1, std::llround(std::ldexp(slope, shift)));
      if (near >> kMostFactorBits != 0) break;
      for (int64_t factor = std::max<int64_t>(1, near - kNear); factor <= near + kNear; ++factor) {
        if (factor % 2 == 0) continue;  // half of it is as good
        const bool first = least_ == INT64_MAX;
        if (!(turn ? try_two_lines(factor, shift, *turn) : try_one_line(factor, shift))) continue;
        if (first && steps_.size() > 1) last_shift = std::min(kMostShift, shift + kMoreShifts);
      }
    }
    return least_ != INT64_MAX;
  }
  const StepScale& best() const { return best_; }

 private:
  bool try_one_line(int64_t factor, int shift) {
    const NumberRange offsets = offsets_of(steps_, factor, shift);
    if (offsets.low > offsets.high) return false;
    offer(factor, shift, roundest(offsets.low, offsets.high), 0, 0);
    return true;
  }
  bool try_two_lines(int64_t factor, int shift, int64_t turn) {
    const auto middle = std::partition_point(steps_.begin(), steps_.end(),
                                             [&](const ElementStep& step) { return step.element <= turn; });
    const NumberRange lower = offsets_of({steps_.begin(), middle}, factor, shift);
    const NumberRange upper = offsets_of({middle, steps_.end()}, factor, shift);
    if (lower.low > lower.high || upper.low > upper.high || lower.low > upper.high) return false;
    const int64_t offset = roundest(std::max(upper.low, lower.low), upper.high);
    offer(factor, shift, offset, turn, offset - std::min(offset, roundest(lower.low, lower.high)));
    return true;
  }
  void offer(int64_t factor, int shift, int64_t offset, int64_t turn, int64_t dip) {
    const int64_t low = (factor * sums_.low + offset - dip) >> shift,
                  high = (factor * sums_.high + offset) >> shift;
    const bool clips = low < best_.low || high > best_.high;
    const int64_t cost =
        (digit_count(factor) - 1) * (range_bits(sums_) + 4) + (clips ? 10 + range_bits({low, high}) : 0);
    if (cost >= least_) return;
    least_ = cost;
    best_.factor = factor, best_.offset = offset, best_.shift = shift;
    best_.turn = turn, best_.dip = dip;
  }

  std::vector<ElementStep> steps_;
  NumberRange sums_;
  StepScale best_;
  int64_t least_ = INT64_MAX;
};

}  // namespace

int64_t StepScale::element_of(int64_t sum) const {
  if (low == high) return low;
  int64_t value = (sum * factor + offset) >> shift;
  if (value <= turn) value = (sum * factor + offset - dip) >> shift;
  return std::clamp(value, low, high);
}

StepScale fit_steps(const std::function<int64_t(int64_t)>& element, const NumberRange& sums, double slope,
                    int64_t turn) {
  StepScale flat;
  flat.low = element(sums.low), flat.high = element(sums.high);
  flat.offset = flat.low;
  if (flat.low == flat.high) return flat;
  std::vector<ElementStep> steps = element_steps(element, sums.low, sums.high);
  // One step can be taken by any slope: by that which needs no clip.
  if (steps.size() == 1) slope = 0;
  StepFit fit(std::move(steps), sums, flat);
  if (fit.search(slope, std::nullopt) || fit.search(slope, turn)) return fit.best();
  throw Error(ErrorKind::kUnsupported, "a scale whose steps no factor of 31 bits has in their places",
              "quantise the model first, `tilewright quantize --scales power-of-two`");
}

}  // namespace tilewright::pipeline
