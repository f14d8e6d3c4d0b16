#include "tilewright/quantize/calibrate/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::vector<float> normal_numbers(int count, uint64_t seed, double scale) {
  Random random(seed);
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.uniform();
    numbers.push_back(float(sum * scale));
  }
  return numbers;
}

TEST(Histogram, CountsEverythingNearWhereItIs) {
  Histogram h;
  const std::vector<float> numbers{0.0f, 0.5f, -1.5f, 3.0f};
  h.add(numbers);
  EXPECT_EQ(h.count(), 4);
  EXPECT_EQ(h.low(), -1.5f);
  EXPECT_EQ(h.high(), 3.0f);
  EXPECT_EQ(std::accumulate(h.bins().begin(), h.bins().end(), int64_t{0}), 4);
  for (int bin = 0; bin < Histogram::kBins; ++bin) {
    if (h.bins()[size_t(bin)] == 0) continue;
    double nearest = 1e9;
    for (float x : numbers) nearest = std::min(nearest, std::fabs(x - h.bin_centre(bin)));
    EXPECT_LE(nearest, h.bin_width() / 2);
  }
}

TEST(Histogram, DoesNotDependOnOrderOrSplitting) {
  const std::vector<float> small = normal_numbers(5000, 1, 0.01), large = normal_numbers(5000, 2, 30);
  Histogram forward, backward, left, right;
  forward.add(small), forward.add(large);
  backward.add(large), backward.add(small);
  left.add(small), right.add(large);
  left.merge(right);
  EXPECT_EQ(forward.bins(), backward.bins());
  EXPECT_EQ(forward.bins(), left.bins());
  EXPECT_EQ(forward.bin_width(), left.bin_width());
  EXPECT_EQ(forward.count(), left.count());
  EXPECT_EQ(forward.low(), left.low());
}

TEST(Histogram, SetsNumbersAsideThatAreNotFinite) {
  Histogram h;
  h.add(std::vector<float>{1.0f, std::nanf(""), -INFINITY, 2.0f});
  EXPECT_EQ(h.not_finite(), 2);
  EXPECT_EQ(h.count(), 2);
  EXPECT_EQ(h.high(), 2.0f);
}

TEST(Histogram, TakesExtremes) {
  Histogram h;
  h.add(std::vector<float>{0.0f, 0.0f});
  h.add(std::vector<float>{3.4e38f, -3.4e38f, 1e-40f});
  EXPECT_EQ(h.count(), 5);
  EXPECT_EQ(h.low(), -3.4e38f);
}

}  // namespace
}  // namespace tilewright
