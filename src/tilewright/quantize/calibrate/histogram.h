// What calibration records about one value: extremes and a histogram that widens automatically.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tilewright {

// Bins of equal width over [-limit, limit), limit a power of two. A number beyond the limit doubles it as
// often as needed, which merges neighbouring bins exactly: the result does not depend on the order of the
// numbers nor on how they were divided among several histograms.
class Histogram {
 public:
  static constexpr int kBins = 4096;  // at least 1024 of them on the longer side of zero

  void add(std::span<const float> numbers);
  void merge(const Histogram& other);

  bool empty() const { return count_ == 0; }
  int64_t count() const { return count_; }
  float low() const { return low_; }
  float high() const { return high_; }
  double bin_width() const { return limit_ * 2 / kBins; }
  double bin_centre(int bin) const { return (bin - kBins / 2 + 0.5) * bin_width(); }
  const std::vector<int64_t>& bins() const { return bins_; }
  // Numbers that are NaN or infinite are counted here and nowhere else.
  int64_t not_finite() const { return not_finite_; }

 private:
  void widen(double limit);

  std::vector<int64_t> bins_;
  double limit_ = 0;  // 0: no bins yet
  int64_t count_ = 0;
  int64_t not_finite_ = 0;
  float low_ = std::numeric_limits<float>::infinity();
  float high_ = -std::numeric_limits<float>::infinity();
};

}  // namespace tilewright
