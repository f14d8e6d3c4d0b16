// Checks of option values. A refused value is told with what to write instead.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

namespace tilewright::cli {

// The name of the check that one_of() makes; its description lists the words with ", " between them.
inline constexpr const char* kWordsCheck = "words";

// One of `words`; others give "there is no 'x'; did you mean 'y'? choose one of: ...". The help lists them.
CLI::Validator one_of(const std::vector<std::string>& words);

// Finite numbers that `accepts` takes; others give "'x' is not WANTED".
CLI::Validator number_check(const std::string& wanted, bool (*accepts)(double));

// "1 to 8", or "at least 1" where `high` is no limit that anybody meets.
std::string range_text(int64_t low, uint64_t high);

// Integers from `low` to `high`.
template <typename T>
CLI::Validator between(T low, T high) {
  const std::string range = range_text(int64_t(low), uint64_t(high));
  return CLI::Validator(
      [low, high, range](const std::string& text) {
        T value{};
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return fits ? std::string() : fmt::format("'{}' is not an integer, {}", text, range);
      },
      range);
}
template <typename T>
CLI::Validator at_least(T low) {
  return between(low, std::numeric_limits<T>::max());
}

// "500ms", "10s", "2m", "1h"; a bare number is seconds. Other texts are refused in the option's name.
double seconds_of(const std::string& option, const std::string& text);

}  // namespace tilewright::cli
