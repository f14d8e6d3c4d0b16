// Signed digits: integers as sums of +2^i and -2^i, as few as there can be. Where several sums are equally
// short (3 = 4 - 1 = 2 + 1), all of their digits are offered.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace tilewright::pipeline {

struct Digit {
  int shift = 0;
  bool negative = false;
  int64_t value() const { return negative ? -(int64_t{1} << shift) : int64_t{1} << shift; }
  bool operator==(const Digit&) const = default;
};

// The number of digits: the weight of the non-adjacent form.
inline int digit_count(int64_t value) {
  const uint64_t x = uint64_t(std::abs(value));
  return std::popcount((x + (x >> 1)) ^ (x >> 1));
}

// The non-adjacent form, lowest digit first.
template <typename Visit>
void for_each_digit(int64_t value, Visit&& visit) {
  for (int shift = 0; value != 0; ++shift, value >>= 1) {
    if ((value & 1) == 0) continue;
    const bool negative = (value & 3) == 3;
    visit(Digit{shift, negative});
    value += negative ? 1 : -1;
  }
}

// Digits as masks of shifts.
struct DigitSet {
  uint32_t positive = 0, negative = 0;
  bool has(const Digit& digit) const {
    return ((digit.negative ? negative : positive) >> digit.shift & 1) != 0;
  }
  uint32_t of_sign(bool is_negative) const { return is_negative ? negative : positive; }
};

template <typename Visit>
void for_each_digit(const DigitSet& set, Visit&& visit) {
  for (const bool negative : {false, true}) {
    for (uint32_t left = set.of_sign(negative); left != 0; left &= left - 1) {
      visit(Digit{std::countr_zero(left), negative});
    }
  }
}

// The digits by which a number can begin: those that leave one digit less. With `all` those of every shortest
// sum, otherwise of the non-adjacent form alone. Numbers below 2^24.
class DigitChoices {
 public:
  explicit DigitChoices(bool all) : all_(all), known_(2 * kKnown + 1) {}
  DigitSet of(int64_t value) {
    if (value < -kKnown || value > kKnown) return compute(value);
    Entry& entry = known_[size_t(value + kKnown)];
    if (!entry.computed) entry = {compute(value), true};
    return entry.set;
  }

 private:
  static constexpr int64_t kKnown = 1 << 12;
  struct Entry {
    DigitSet set;
    bool computed = false;
  };

  DigitSet compute(int64_t value) const {
    DigitSet set;
    if (!all_) {
      for_each_digit(value, [&](Digit digit) {
        (digit.negative ? set.negative : set.positive) |= uint32_t{1} << digit.shift;
      });
      return set;
    }
    const int count = digit_count(value);
    for (int shift = 0; shift < 26; ++shift) {
      const uint32_t bit = uint32_t{1} << shift;
      if (digit_count(value - int64_t(bit)) == count - 1) set.positive |= bit;
      if (digit_count(value + int64_t(bit)) == count - 1) set.negative |= bit;
    }
    return set;
  }

  bool all_;
  std::vector<Entry> known_;
};

}  // namespace tilewright::pipeline
