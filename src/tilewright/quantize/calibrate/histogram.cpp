// Finds the extremes of a span first, so that its bins are widened before any number is counted. Widening
// adds neighbouring bins in pairs, once per doubling of the limit.
#include "tilewright/quantize/calibrate/histogram.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

// The smallest power of two above `magnitude`.
double limit_above(double magnitude) {
  if (magnitude == 0) return 0x1p-126;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, std::max(exponent, -126));
}

}  // namespace

void Histogram::widen(double limit) {
  if (limit_ == 0) {
    bins_.assign(kBins, 0);
    limit_ = limit;
    return;
  }
  for (; limit_ < limit; limit_ *= 2) {
    // Two neighbours become one, on both sides of the middle.
    std::vector<int64_t> merged(kBins, 0);
    for (int bin = 0; bin < kBins; ++bin) merged[size_t(kBins / 4 + bin / 2)] += bins_[size_t(bin)];
    bins_ = std::move(merged);
  }
}

void Histogram::add(std::span<const float> numbers) {
  float low = low_, high = high_;
  bool finite = true;
  for (float x : numbers) {
    finite &= std::isfinite(x);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (!finite) {
    std::vector<float> kept;
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(kept),
                 [](float x) { return std::isfinite(x); });
    not_finite_ += int64_t(numbers.size() - kept.size());
    add(kept);
    return;
  }
  if (numbers.empty()) return;
  low_ = low;
  high_ = high;
  count_ += int64_t(numbers.size());
  widen(limit_above(std::max(std::fabs(double(low)), std::fabs(double(high)))));
  const double per_unit = 1 / bin_width();
  for (float x : numbers) ++bins_[size_t(int(std::floor(x * per_unit)) + kBins / 2)];
}

void Histogram::merge(const Histogram& other) {
  not_finite_ += other.not_finite_;
  if (other.empty()) return;
  Histogram wide = other;
  widen(other.limit_);
  wide.widen(limit_);
  for (size_t bin = 0; bin < bins_.size(); ++bin) bins_[bin] += wide.bins_[bin];
  count_ += other.count_;
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
}

}  // namespace tilewright
