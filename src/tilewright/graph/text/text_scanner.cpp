// A hand-written scanner: the grammar is regular line by line.
#include "tilewright/graph/text/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tilewright {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

bool is_number(char c) { return is_word(c) || c == '+'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

void TextScanner::fail(const std::string& message) const {
  throw Error({{ErrorKind::kInvalidInput, fmt::format("line {}", line_), "", message, ""}});
}

void TextScanner::skip_spaces() {
  while (position_ < text_.size() &&
         (text_[position_] == ' ' || text_[position_] == '\t' || text_[position_] == '\r')) {
    ++position_;
  }
}

bool TextScanner::at_line_end() {
  skip_spaces();
  if (position_ < text_.size() && text_[position_] == '#') {
    position_ = std::min(text_.find('\n', position_), text_.size());
  }
  return position_ == text_.size() || text_[position_] == '\n';
}

bool TextScanner::at_end() {
  while (at_line_end()) {
    if (position_ == text_.size()) return true;
    ++position_;
    ++line_;
  }
  return false;
}

void TextScanner::end_line() {
  if (!at_line_end()) fail(fmt::format("expected the end of the line instead of '{}'", quote_rest()));
  if (position_ < text_.size()) {
    ++position_;
    ++line_;
  }
}

std::string TextScanner::quote_rest() const {
  std::string rest(text_.substr(position_, std::min<size_t>(text_.find('\n', position_) - position_, 16)));
  for (char& c : rest) c = c < ' ' || c > '~' ? '?' : c;
  return rest;
}

bool TextScanner::take(std::string_view token) {
  skip_spaces();
  if (text_.substr(position_, token.size()) != token) return false;
  position_ += token.size();
  return true;
}

void TextScanner::expect(std::string_view token) {
  if (!take(token)) fail(fmt::format("expected '{}' instead of '{}'", token, quote_rest()));
}

char TextScanner::peek() {
  skip_spaces();
  return position_ < text_.size() ? text_[position_] : '\0';
}

std::string TextScanner::word() {
  skip_spaces();
  const size_t begin = position_;
  while (position_ < text_.size() && is_word(text_[position_])) ++position_;
  if (position_ == begin) fail(fmt::format("expected a word instead of '{}'", quote_rest()));
  return std::string(text_.substr(begin, position_ - begin));
}

std::string TextScanner::number() {
  skip_spaces();
  const size_t begin = position_;
  while (position_ < text_.size() && is_number(text_[position_])) ++position_;
  if (position_ == begin) fail(fmt::format("expected a number instead of '{}'", quote_rest()));
  return std::string(text_.substr(begin, position_ - begin));
}

int64_t TextScanner::integer() {
  const size_t begin = position_;
  skip_spaces();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (error != std::errc{}) {
    position_ = begin;
    fail(fmt::format("expected an integer instead of '{}'", quote_rest()));
  }
  position_ = size_t(end - text_.data());
  return value;
}

std::string TextScanner::string() {
  expect("\"");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '\n') {
    const char c = text_[position_++];
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escaped = position_ < text_.size() ? text_[position_++] : '\0';
    if (escaped == 'x' && position_ + 2 <= text_.size() && hex_digit(text_[position_]) >= 0 &&
        hex_digit(text_[position_ + 1]) >= 0) {
      value += char(hex_digit(text_[position_]) * 16 + hex_digit(text_[position_ + 1]));
      position_ += 2;
    } else if (escaped == 'n') {
      value += '\n';
    } else if (escaped == '"' || escaped == '\\') {
      value += escaped;
    } else {
      fail("unknown escape in a string");
    }
  }
  fail("a string does not end on its line");
}

std::string_view TextScanner::until(char end) {
  const size_t begin = position_;
  const size_t found = text_.find(end, position_);
  if (found == std::string_view::npos) fail(fmt::format("'{}' is missing", end));
  line_ += int(std::count(text_.begin() + long(begin), text_.begin() + long(found), '\n'));
  position_ = found + 1;
  return text_.substr(begin, found - begin);
}

}  // namespace tilewright
