// Tokens of the text form of graphs, with line numbers for errors. Never reads past the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/base/error.h"

namespace tilewright {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  // Errors (invalid input): "line 3: expected ..." at the current place.
  [[noreturn]] void fail(const std::string& message) const;

  bool at_end();                      // after spaces, line ends and comments
  bool at_line_end();                 // after spaces and a comment; does not take the line end
  void end_line();                    // takes a line end, or fails
  bool take(std::string_view token);  // the exact characters, after spaces; false if others are there
  void expect(std::string_view token);
  char peek();           // next character after spaces; 0 at the end
  std::string word();    // letters, digits, _ . -; fails when empty
  std::string string();  // "quoted", escapes resolved
  int64_t integer();
  std::string number();  // the characters of a number, hexadecimal or decimal, inf, nan; fails when empty
  std::string_view until(char end);  // everything up to `end`, which is taken; lines are counted
  size_t remaining() const { return text_.size() - position_; }

 private:
  void skip_spaces();
  std::string quote_rest() const;  // the start of what follows, for messages
  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
};

}  // namespace tilewright
