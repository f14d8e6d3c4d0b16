// The scalar rules of wide fixed point, defined once (docs/reference/arithmetic.md): an i32 stands for
// integer / 2^fraction, sums are kept in 64 bits. With a fraction of 22 this is Q10.22, the number type of
// Hadjis and Olukotun (FPL 2019). Reference kernels, host engine, simulators and RTL compute exactly this.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilewright {

inline constexpr int kMostFraction = 30;

// Where an operator's result saturates; the defaults are the ends of the type.
struct FixedClip {
  int32_t low = INT32_MIN;
  int32_t high = INT32_MAX;
  bool operator==(const FixedClip&) const = default;
};

// The last step of FixedConv, FixedGemm and FixedAveragePool: the accumulator, a sum modulo 2^64 taken as
// signed, divided by 2^fraction, rounded half up, clipped. The rounding constant is part of the sum, so it
// wraps with it. fraction: 0..30.
constexpr int32_t fixed_finish(uint64_t accumulator, int fraction, FixedClip clip = {}) {
  const uint64_t half = fraction == 0 ? 0 : uint64_t{1} << (fraction - 1);
  const int64_t value = int64_t(accumulator + half) >> fraction;
  return value < clip.low ? clip.low : value > clip.high ? clip.high : int32_t(value);
}

// The accumulator that a bias starts: bias * 2^fraction.
constexpr uint64_t fixed_bias(int32_t bias, int fraction) { return uint64_t(int64_t(bias)) << fraction; }
// One product, exact.
constexpr uint64_t fixed_product(int32_t a, int32_t b) { return uint64_t(int64_t(a) * b); }

constexpr int32_t fixed_add(int32_t a, int32_t b, FixedClip clip = {}) {
  const int64_t sum = int64_t(a) + b;
  return sum < clip.low ? clip.low : sum > clip.high ? clip.high : int32_t(sum);
}

// The nearest i32 to real * 2^fraction, ties up, saturated; NaN gives 0.
int32_t fixed_encode(double real, int fraction);
// fixed / 2^fraction, rounded to the nearest float, ties to even.
float fixed_decode(int32_t fixed, int fraction);
// round(2^fraction / elements): what FixedAveragePool multiplies the sum of a window of `elements` by.
int32_t fixed_average_multiplier(int64_t elements, int fraction);

// A function as 512 straight pieces of 2^input_shift integers each: table[i] is its value at
// (i - 256) * 2^input_shift.
inline constexpr int kFixedTableSize = 513;
inline constexpr int kMostInputShift = 23;  // the pieces then cover every i32
// Piecewise linear: x is clamped to the table's range, [-2^(8 + input_shift), 2^(8 + input_shift)). The table
// has kFixedTableSize entries, input_shift is 0..23.
int32_t fixed_lookup(int32_t x, std::span<const int32_t> table, int input_shift);
// The table of a real function; its values are encoded with fixed_encode.
std::vector<int32_t> fixed_table(const std::function<double(double)>& function, int fraction,
                                 int input_shift);

}  // namespace tilewright
