// How often each pair of terms stands in the rows of a matrix: an open hash table that is updated with every
// term that changes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tilewright/pipeline/constant/signed_digits.h"

namespace tilewright::pipeline {

// a + (b << shift) or, `opposite`, a - (b << shift), up to a common shift and sign; a <= b. Of equal nodes
// the shift is positive.
struct TermPair {
  int a = 0, b = 0, shift = 0;
  bool opposite = false;
};

using PairKey = uint64_t;

inline PairKey pair_key(int a, Digit digit_a, int b, Digit digit_b) {
  if (a > b || (a == b && digit_a.shift > digit_b.shift)) {
    std::swap(a, b);
    std::swap(digit_a, digit_b);
  }
  return uint64_t(a) << 33 | uint64_t(b) << 8 | uint64_t(digit_b.shift - digit_a.shift + 64) << 1 |
         uint64_t(digit_a.negative != digit_b.negative);
}

inline TermPair pair_of(PairKey key) {
  return {int(key >> 33), int(key >> 8 & 0x1FFFFFF), int(key >> 1 & 0x7F) - 64, (key & 1) != 0};
}

class PairCounts {
 public:
  PairCounts() : slots_(kLeast) {}

  int at(PairKey key) const { return slots_[find(key)].count; }
  void increase(PairKey key, int by) {
    Slot& slot = slots_[find(key)];
    if (slot.key == kNone) {
      slot = {key, by};
      if (++used_ * 2 > slots_.size()) rehash();
    } else {
      slot.count += by;
    }
  }
  // One less, if it is known.
  void decrease(PairKey key) {
    Slot& slot = slots_[find(key)];
    if (slot.key == key) --slot.count;
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.key != kNone) visit(slot.key, slot.count);
    }
  }
  void clear() {
    slots_.assign(kLeast, {});
    used_ = 0;
  }

 private:
  static constexpr PairKey kNone = ~PairKey{0};
  static constexpr size_t kLeast = 1024;  // slots, a power of two
  struct Slot {
    PairKey key = kNone;
    int count = 0;
  };

  size_t find(PairKey key) const {
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
    size_t i = size_t(hash) & (slots_.size() - 1);
    while (slots_[i].key != kNone && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void rehash() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.key == kNone || slot.count <= 0) continue;
      slots_[find(slot.key)] = slot;
      ++used_;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace tilewright::pipeline
