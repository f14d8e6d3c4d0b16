// What a search minimises. A value is any type with < and ==: an integer, a double, Lexicographic (energy,
// then cycles), or an array of objectives for Pareto searches. Comparison is exact: a search that must prove
// an optimum should be given integers, since a bound that differs from a value by rounding alone either
// prunes a solution or leaves a whole plateau of equal ones to visit.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>

namespace tilewright {

template <typename T>
concept SearchValue = std::copyable<T> && requires(const T& a, const T& b) {
  { a < b } -> std::convertible_to<bool>;
  { a == b } -> std::convertible_to<bool>;
};

// Smaller primary first, then smaller secondary. Nests for three and more.
template <typename Primary, typename Secondary>
struct Lexicographic {
  Primary primary{};
  Secondary secondary{};
  friend constexpr auto operator<=>(const Lexicographic&, const Lexicographic&) = default;
};

// The (primary) objective as a number, for gaps and acceptance probabilities only: never for comparing.
template <typename T>
requires requires(const T& value) { static_cast<double>(value); }
double as_double(const T& value) { return static_cast<double>(value); }
template <typename Primary, typename Secondary>
double as_double(const Lexicographic<Primary, Secondary>& value) {
  return as_double(value.primary);
}

// The tighter of two lower bounds of the same thing; objective by objective for arrays.
template <SearchValue T>
T tighter(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T, size_t N>
std::array<T, N> tighter(std::array<T, N> a, const std::array<T, N>& b) {
  for (size_t i = 0; i < N; ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

// The best lower bound of both of two things; objective by objective for arrays.
template <SearchValue T>
T lower(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T, size_t N>
std::array<T, N> lower(std::array<T, N> a, const std::array<T, N>& b) {
  for (size_t i = 0; i < N; ++i) a[i] = std::min(a[i], b[i]);
  return a;
}

// Whether `bound` is at most `value`; in every objective for arrays.
template <SearchValue T>
bool bounds_from_below(const T& bound, const T& value) {
  return !(value < bound);
}
template <typename T, size_t N>
bool bounds_from_below(const std::array<T, N>& bound, const std::array<T, N>& value) {
  for (size_t i = 0; i < N; ++i) {
    if (value[i] < bound[i]) return false;
  }
  return true;
}

}  // namespace tilewright
