// The tokens of an expression: names, numbers and signs with blanks between them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

bool is_digit(char c);
bool is_name_start(char c);  // a letter or '_'
// Letters, digits and underscores that do not begin with a digit.
bool is_name(std::string_view text);

// What is wrong with an expression, and the index of the character. Readers make an Error of it that says
// where the expression stands.
struct ExpressionProblem {
  size_t at = 0;
  std::string message, hint;
};

// A cursor over `text`, which outlives it.
class ExpressionText {
 public:
  explicit ExpressionText(std::string_view text) : text_(text) {}

  // The next token, which is not taken: a name; digits and what is glued to them; == != <= >= << >> or :=;
  // else one character. Empty at the end.
  std::string_view token();
  std::string_view take();
  bool take(std::string_view sign);
  // The number at the cursor as std::from_chars reads it; nullopt where there is none.
  template <typename Number, typename... Format>
  std::optional<Number> take_number(Format... format) {
    const std::string_view left = text_.substr(size_t(token().data() - text_.data()));
    Number number{};
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), number, format...);
    if (error != std::errc()) return std::nullopt;
    at_ = size_t(end - text_.data());
    return number;
  }

  // These throw an ExpressionProblem.
  void expect(std::string_view sign);
  void expect_end();
  [[noreturn]] void fail(const std::string& message) const { throw ExpressionProblem{at_, message, ""}; }
  [[noreturn]] void fail_at(std::string_view token, const std::string& message,
                            const std::string& hint = {}) const {
    throw ExpressionProblem{size_t(token.data() - text_.data()), message, hint};
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tilewright
