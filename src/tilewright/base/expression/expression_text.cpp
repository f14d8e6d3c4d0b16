// Bytes outside of ASCII are signs that no grammar has.
#include "tilewright/base/expression/expression_text.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr std::string_view kLongSigns[] = {"==", "!=", "<=", ">=", "<<", ">>", ":="};

bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_part);
}

std::string_view ExpressionText::token() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n\v\f", at_), text_.size());
  const std::string_view left = text_.substr(at_);
  if (left.empty()) return left;
  size_t length = 1;
  if (is_name_part(left[0])) {
    length = size_t(std::find_if_not(left.begin(), left.end(), is_name_part) - left.begin());
  } else if (std::find(std::begin(kLongSigns), std::end(kLongSigns), left.substr(0, 2)) !=
             std::end(kLongSigns)) {
    length = 2;
  }
  return left.substr(0, length);
}

std::string_view ExpressionText::take() {
  const std::string_view next = token();
  at_ += next.size();
  return next;
}

bool ExpressionText::take(std::string_view sign) {
  if (token() != sign) return false;
  at_ += sign.size();
  return true;
}

void ExpressionText::expect(std::string_view sign) {
  if (!take(sign)) fail("'" + std::string(sign) + "' is expected");
}

void ExpressionText::expect_end() {
  if (const std::string_view next = token(); !next.empty())
    fail("'" + std::string(next) + "' is not expected here");
}

}  // namespace tilewright
