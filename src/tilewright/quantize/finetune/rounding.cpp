// With q = round(x / scale) kept within the bounds, the result is scale * q. By x its gradient is 1 within
// the bounds and 0 beyond; by the scale it is q - x / scale within them and q beyond.
#include "tilewright/quantize/finetune/rounding.h"

#include <algorithm>

namespace tilewright {
namespace {

// Adding the constant pushes the fraction out of the mantissa; the magnitude is below 2^16 here.
float rounded_half_even(float x) {
  constexpr float kShift = 0x1.8p23f;
  return (x + kShift) - kShift;
}

float kept_within(float x, const RoundingBounds& bounds) {
  return std::min(std::max(x, bounds.low), bounds.high);
}

class RoundingStep : public TrainingStep {
 public:
  RoundingStep(size_t x, size_t y, size_t scale, const RoundingBounds& bounds)
      : x_(x), y_(y), scale_(scale), bounds_(bounds) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[x_];
    round_numbers(x.data(), (*pass.trained)[scale_][0], bounds_, int64_t(x.size()), pass.values[y_].data());
  }
  void backwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[x_];
    (*pass.trained_gradients)[scale_][0] +=
        round_backwards(x.data(), (*pass.trained)[scale_][0], bounds_, int64_t(x.size()),
                        pass.gradients[y_].data(), pass.gradients[x_].data());
  }

 private:
  size_t x_, y_, scale_;
  RoundingBounds bounds_;
};

}  // namespace

void round_numbers(const float* x, float scale, const RoundingBounds& bounds, int64_t count, float* rounded) {
  for (int64_t i = 0; i < count; ++i)
    rounded[i] = scale * rounded_half_even(kept_within(x[i] / scale, bounds));
}

float round_backwards(const float* x, float scale, const RoundingBounds& bounds, int64_t count,
                      const float* given, float* dx) {
  constexpr int64_t kLanes = 16;  // sums side by side, which vectors can hold
  float sums[kLanes] = {};
  const auto one = [&](int64_t i) {
    const float quotient = x[i] / scale, kept = kept_within(quotient, bounds);
    const bool inside = kept == quotient;
    dx[i] += inside ? given[i] : 0.0f;
    return given[i] * (rounded_half_even(kept) - (inside ? quotient : 0.0f));
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += one(i + lane);
  }
  float sum = 0;
  for (; i < count; ++i) sum += one(i);
  for (const float part : sums) sum += part;
  return sum;
}

std::unique_ptr<TrainingStep> rounding_step(const TrainingPlace& exact, const TrainingPlace& rounded,
                                            size_t scale, const RoundingBounds& bounds) {
  return std::make_unique<RoundingStep>(exact.place, rounded.place, scale, bounds);
}

}  // namespace tilewright
