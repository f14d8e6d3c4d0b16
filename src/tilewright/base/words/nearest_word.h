// What a user probably meant by a word that is not among those that are known.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

// The word of `known` that is fewest edits away from `word` (a letter inserted, removed, replaced, or two
// neighbours exchanged; capitals do not count, and '_' is '-'), or that begins with it; the first of several.
// Empty where more than a third of the letters, and more than one, would have to change.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

// "did you mean 'NAME'? ", or empty.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

// A hint for a word that is none of `known`: "did you mean 'b'? TITLE: a, b".
std::string words_hint(const std::string& word, const std::vector<std::string>& known,
                       const std::string& title);

}  // namespace tilewright
