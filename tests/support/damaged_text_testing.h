// Damage to a text, for the tests of its reader. tests/fuzz has more of it, for every reader.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/base/random.h"

namespace tilewright {

// One to four times: a byte becomes another, one out of `signs` or any; up to 20 bytes are left out or
// repeated elsewhere. Never empty where `text` is not.
inline std::string damaged_text(const std::string& text, Random& random, std::string_view signs) {
  std::string damaged = text;
  const auto place = [&] { return size_t(random.between(0, int64_t(damaged.size()) - 1)); };
  for (int64_t changes = random.between(1, 4); changes > 0 && !damaged.empty(); --changes) {
    const size_t at = place(), length = size_t(random.between(1, 20));
    switch (random.between(0, 3)) {
      case 0:
        damaged[at] = char(random.between(0, 255));
        break;
      case 1:
        damaged[at] = signs[size_t(random.between(0, int64_t(signs.size()) - 1))];
        break;
      case 2:
        damaged.erase(at, length);
        break;
      default:
        damaged.insert(at, damaged.substr(place(), length));
    }
  }
  return damaged.empty() ? text.substr(0, 1) : damaged;
}

}  // namespace tilewright
