// Words of a user that stand for one of several values.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright {

template <typename T>
struct Choice {
  const char* word;
  T value;
};

// The value of `word`. If no choice has it, the first one's, after adding to `problems` (invalid input) that
// `option` has no such value, naming those that it has.
template <typename T>
T choose(const char* option, const std::string& word, std::initializer_list<Choice<T>> choices,
         Diagnostics& problems) {
  std::vector<std::string> words;
  for (const Choice<T>& choice : choices) {
    if (word == choice.word) return choice.value;
    words.emplace_back(choice.word);
  }
  problems.error(ErrorKind::kInvalidInput, option, "", "there is no '" + word + "'",
                 words_hint(word, words, "choose one of"));
  return choices.begin()->value;
}

}  // namespace tilewright
