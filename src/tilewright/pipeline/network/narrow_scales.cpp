// An element is floor(v * scale + 1/2) between clips, v a biased sum: it takes the value e at the first v
// with v * scale >= e - 1/2. So each step bounds the scale from two sides, and of all scales between the
// bounds the one of the smallest shift has the fewest bits.
#include "tilewright/pipeline/network/narrow_scales.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "tilewright/pipeline/network/element_steps.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::pipeline {
namespace {

// Below shifts that round twice where another channel's do.
constexpr int kMostNarrowShift = 31;
constexpr int64_t kMostNarrowSteps = 1 << 10;

struct SumRange {
  int64_t low = 0, high = 0;
};

// numerator / denominator, the denominator positive. Steps have at most 33 bits, sums 32.
struct ScaleBound {
  int64_t numerator = 0, denominator = 1;
};
bool below(const ScaleBound& a, const ScaleBound& b) {
  return __int128(a.numerator) * b.denominator < __int128(b.numerator) * a.denominator;
}

// Scales from `low` to `high`, both ends with or without themselves.
class ScaleBounds {
 public:
  // v * scale >= half / 2.
  void reaches(int64_t v, int64_t half) {
    if (v > 0) {
      raise({half, 2 * v}, true);
    } else if (v < 0) {
      lower({-half, -2 * v}, true);
    } else if (half > 0) {
      none_ = true;
    }
  }
  // v * scale < half / 2.
  void stays_below(int64_t v, int64_t half) {
    if (v > 0) {
      lower({half, 2 * v}, false);
    } else if (v < 0) {
      raise({-half, -2 * v}, false);
    } else if (half <= 0) {
      none_ = true;
    }
  }
  // The multiplier over the smallest power of two.
  std::optional<Requantization> simplest() const {
    if (none_) return std::nullopt;
    for (int shift = 0; shift <= kMostNarrowShift; ++shift) {
      const __int128 scaled_low = __int128(low_.numerator) << shift;
      __int128 multiplier = scaled_low / low_.denominator;  // of numbers that are not negative
      const bool exact = multiplier * low_.denominator == scaled_low;
      if (!exact || !with_low_) ++multiplier;
      multiplier = std::max<__int128>(multiplier, 1);
      if (multiplier > std::numeric_limits<int32_t>::max()) return std::nullopt;
      if (high_) {
        const __int128 left = multiplier * high_->denominator, right = __int128(high_->numerator) << shift;
        if (left > right || (left == right && !with_high_)) continue;
      }
      return Requantization{int32_t(multiplier), shift};
    }
    return std::nullopt;
  }

 private:
  void raise(const ScaleBound& bound, bool itself) {
    if (below(bound, low_)) return;
    with_low_ = below(low_, bound) ? itself : with_low_ && itself;
    low_ = bound;
  }
  void lower(const ScaleBound& bound, bool itself) {
    if (high_ && below(*high_, bound)) return;
    with_high_ = !high_ || below(bound, *high_) ? itself : with_high_ && itself;
    high_ = bound;
  }

  ScaleBound low_;  // scales are positive
  bool with_low_ = true;
  std::optional<ScaleBound> high_;
  bool with_high_ = true, none_ = false;
};

SumRange sums_of(const Network& network, const Layer& layer, size_t channel) {
  const NetworkTensor& in = network.tensors[size_t(layer.input)];
  const int64_t low = in.bipolar ? -1 : -(int64_t{1} << (in.bits - 1)),
                high = in.bipolar ? 1 : (int64_t{1} << (in.bits - 1)) - 1;
  SumRange range{layer.finish.bias[channel], layer.finish.bias[channel]};
  const auto add = [&](int64_t weight) {
    range.low += weight > 0 ? weight * low : weight * high;
    range.high += weight > 0 ? weight * high : weight * low;
  };
  if (layer.weights.empty()) {
    add(layer.kind == LayerKind::kAveragePool ? layer.window.rows * layer.window.columns : 1);
    return range;
  }
  const size_t inputs = layer.weights.size() / layer.finish.bias.size();
  for (size_t i = 0; i < inputs; ++i) add(layer.weights[channel * inputs + i]);
  return range;
}

std::optional<Requantization> narrowed(const LayerFinish& finish, const Requantization& scale,
                                       const SumRange& sums) {
  const auto rounded = [&](int64_t v) { return scaled(int32_t(v), scale); };
  const int64_t low = finish.clip_low - int64_t{finish.zero_point},
                high = finish.clip_high - int64_t{finish.zero_point};
  const int64_t first = clip(rounded(sums.low), low, high), last = clip(rounded(sums.high), low, high);
  if (last - first > kMostNarrowSteps) return std::nullopt;
  ScaleBounds bounds;
  if (first > low) bounds.reaches(sums.low, 2 * first - 1);
  if (last < high) bounds.stays_below(sums.high, 2 * last + 1);
  const auto element = [&](int64_t sum) -> int64_t { return clip(rounded(sum), low, high); };
  for (const ElementStep& step : element_steps(element, sums.low, sums.high)) {
    bounds.reaches(step.first_sum, 2 * step.element - 1);
    bounds.stays_below(step.first_sum - 1, 2 * step.element - 1);
  }
  return bounds.simplest();
}

}  // namespace

void narrow_scales(const Network& network, Layer& layer) {
  if (network.number != NumberType::kInteger) return;
  for (size_t channel = 0; channel < layer.finish.scale.size(); ++channel) {
    Requantization& scale = layer.finish.scale[channel];
    if (scale.multiplier == 1 && scale.shift < kTwice) continue;
    const SumRange sums = sums_of(network, layer, channel);
    constexpr int64_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
    if (sums.low < kLow || sums.high > kHigh) continue;
    const std::optional<Requantization> own = narrowed(layer.finish, scale, sums);
    if (own && (own->multiplier < scale.multiplier || scale.shift >= kTwice)) scale = *own;
  }
}

void narrow_scales(Network& network) {
  for (Layer& layer : network.layers) narrow_scales(network, layer);
}

}  // namespace tilewright::pipeline
