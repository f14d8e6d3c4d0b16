// The tokens of a text in the GraphViz language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::cgra {

struct DotToken {
  enum class Kind : uint8_t {
    kBare,    // a name without quotes, which may be a keyword
    kQuoted,  // in quotes, or HTML in angle brackets: never a keyword
    kMark,    // punctuation: one character, or an arrow
  };
  std::string text;
  int line = 1;
  Kind kind = Kind::kMark;
  bool name() const { return kind != Kind::kMark; }
};

// Comments are left out, quoted strings joined by '+' are one name. In quotes, a backslash stands for itself,
// except before a quote, a backslash or the end of a line. An unclosed quote ends with the text.
std::vector<DotToken> dot_tokens(const std::string& text);

}  // namespace tilewright::cgra
