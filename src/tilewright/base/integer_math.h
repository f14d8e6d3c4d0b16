// The integer arithmetic of tiles, words and addresses.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tilewright {

// 64 bits, signed as T is.
template <std::integral T>
using WideInteger = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

// The least number of parts of size b > 0 that hold a >= 0. A negative a above -b gives 0, too.
template <std::integral T>
constexpr WideInteger<T> ceil_div(T a, std::type_identity_t<WideInteger<T>> b) {
  return (WideInteger<T>(a) + b - 1) / b;
}

// a / b rounded down, b != 0.
constexpr int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// The least multiple of quantum > 0 that is no less than value >= 0.
template <std::integral T>
constexpr WideInteger<T> round_up(T value, std::type_identity_t<WideInteger<T>> quantum) {
  return ceil_div(value, quantum) * quantum;
}

constexpr bool is_power_of_two(int64_t value) { return value > 0 && std::has_single_bit(uint64_t(value)); }

// The exponent of the largest power of two up to value > 0.
constexpr int floor_log2(int64_t value) { return std::bit_width(uint64_t(value)) - 1; }

}  // namespace tilewright
