// The texts that refuse values of options.
#include "tilewright/cli/options/word_checks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/flow/target/limit_words.h"

namespace tilewright::cli {

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return fmt::format("there is no '{}'; {}", text, words_hint(text, words, "choose one of"));
      },
      fmt::format("{}", fmt::join(words, ", ")), kWordsCheck);
}

CLI::Validator number_check(const std::string& wanted, bool (*accepts)(double)) {
  return CLI::Validator(
      [wanted, accepts](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && accepts(value);
        return fits ? std::string() : "'" + text + "' is not " + wanted;
      },
      "");
}

std::string range_text(int64_t low, uint64_t high) {
  constexpr uint64_t kMuch = uint64_t{1} << 20;
  return high >= kMuch ? fmt::format("at least {}", low) : fmt::format("{} to {}", low, high);
}

double seconds_of(const std::string& option, const std::string& text) {
  try {
    return seconds_in(text);
  } catch (const Error& error) {
    throw CLI::ValidationError(option, error.what());
  }
}

}  // namespace tilewright::cli
