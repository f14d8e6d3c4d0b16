// Damaged YAML of Timeloop.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {

// A line dropped, repeated or swapped; a character or a number changed.
inline std::string damaged(const std::string& text, Random& random) {
  std::string result = text;
  const int64_t edits = random.between(1, 4);
  for (int64_t i = 0; i < edits && !result.empty(); ++i) {
    const size_t at = size_t(random.between(0, int64_t(result.size()) - 1));
    const size_t line = result.rfind('\n', at) + 1,
                 end = std::min(result.find('\n', at), result.size() - 1) + 1;
    switch (random.between(0, 5)) {
      case 0:
        result.erase(line, end - line);
        break;
      case 1:
        result.insert(line, result.substr(line, end - line));
        break;
      case 2:
        result[at] = "[]{}:,-&*!\n 019aNP\"'"[random.between(0, 20)];
        break;
      case 3:
        result.erase(at, size_t(random.between(1, 5)));
        break;
      case 4: {
        const size_t digit = result.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const char* numbers[] = {"0", "-1", "99999999999999999999", "1e300", "nan", "3.5", "x"};
        result.replace(digit, result.find_first_not_of("0123456789", digit) - digit,
                       numbers[random.between(0, 6)]);
        break;
      }
      default:
        result.insert(at, result.substr(line, at - line));
        break;
    }
  }
  return result;
}

// One file of a set damaged, `count` times: a message or a result, never more than 3 of 4 results.
inline void expect_messages_for_damage(const std::vector<std::vector<TimeloopText>>& sets, int count) {
  int accepted = 0, refused = 0;
  for (int i = 1; i <= count; ++i) {
    const uint64_t seed = uint64_t(i);
    Random random(seed);
    std::vector<TimeloopText> texts = sets[seed % sets.size()];
    std::string& text = texts[size_t(random.between(0, int64_t(texts.size()) - 1))].text;
    text = damaged(text, random);
    try {
      import_timeloop(texts);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << "seed " << seed << ": " << error.what();
      ++refused;
    }
  }
  fmt::print("{} damaged sets: {} refused, {} read\n", accepted + refused, refused, accepted);
  EXPECT_GT(refused, count / 4);
}

}  // namespace tilewright
