// Seeded random numbers with the same stream on every platform, and the linear congruential stream that
// fills reference inputs and weight-less models.
#pragma once

#include <cstdint>

namespace tilewright {

// SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, one 64-bit word of state, any seed is good.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Uniform in [low, high], both included; low <= high.
  int64_t between(int64_t low, int64_t high) {
    const uint64_t range = uint64_t(high) - uint64_t(low) + 1;
    return range == 0 ? int64_t(next()) : int64_t(uint64_t(low) + next() % range);
  }
  // Uniform in [0, 1).
  double uniform() { return double(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_;
};

// s = s * 6364136223846793005 + 1442695040888963407 (mod 2^64), u = (s >> 40) / 2^24, exact in float32;
// the first value is the one after the first step.
class LcgStream {
 public:
  explicit LcgStream(uint64_t seed) : state_(seed) {}
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return float(state_ >> 40) * 0x1.0p-24f;
  }

 private:
  uint64_t state_;
};

}  // namespace tilewright
