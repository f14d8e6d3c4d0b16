#include "tilewright/base/expression/expression_parser.h"

#include <gtest/gtest.h>

#include <vector>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

struct Letter {
  std::string_view sign;
  int strength;
};
constexpr Letter kLetters[] = {{"<", 0}, {"<<", 1}, {"+", 2}, {"-", 2}, {"*", 3}};

// Writes every operation with its parentheses; names may have an argument.
class Bracketed : ExpressionParser<std::string, Letter> {
 public:
  explicit Bracketed(std::string_view text) : ExpressionParser(text, kLetters, "-~") {}
  std::string run() {
    std::string value = expression();
    text_.expect_end();
    return value;
  }

 private:
  std::string apply(const Letter& op, std::string left, std::string right) override {
    return "(" + left + std::string(op.sign) + right + ")";
  }
  std::string apply_sign(char sign, std::string operand) override {
    return "(" + std::string(1, sign) + operand + ")";
  }
  std::string name(std::string_view name) override {
    if (!text_.take("[")) return std::string(name);
    std::string index = expression();
    text_.expect("]");
    return std::string(name) + "[" + index + "]";
  }
  std::optional<std::string> number() override {
    const auto number = text_.take_number<int>();
    return number ? std::optional<std::string>(std::to_string(*number)) : std::nullopt;
  }
};

// "column: what is wrong" where something is.
std::string bracketed(const std::string& text) {
  try {
    return Bracketed(text).run();
  } catch (const ExpressionProblem& problem) {
    return std::to_string(problem.at) + ": " + problem.message;
  }
}

TEST(ExpressionParser, StrongerSignsBindFirstAndEqualOnesToTheLeft) {
  EXPECT_EQ(bracketed("a+b*c"), "(a+(b*c))");
  EXPECT_EQ(bracketed("(a+b)*c"), "((a+b)*c)");
  EXPECT_EQ(bracketed("a-b+c-1"), "(((a-b)+c)-1)");
  EXPECT_EQ(bracketed("a<b<<c+d*e<f"), "((a<(b<<(c+(d*e))))<f)");
  EXPECT_EQ(bracketed("a*b<<c"), "((a*b)<<c)");
  EXPECT_EQ(bracketed(" \t~ - x_1 *-2\n"), "((~(-x_1))*(-2))");
  EXPECT_EQ(bracketed("y[i+1]*y[(2)]"), "(y[(i+1)]*y[2])");
}

TEST(ExpressionParser, ProblemsSayWhere) {
  EXPECT_EQ(bracketed(""), "0: the expression ends too early");
  EXPECT_EQ(bracketed("a + "), "4: the expression ends too early");
  EXPECT_EQ(bracketed("a + *"), "4: a number, a name or '(' is expected");
  EXPECT_EQ(bracketed("a  bc"), "3: 'bc' is not expected here");
  EXPECT_EQ(bracketed("a <= b"), "2: '<=' is not expected here");
  EXPECT_EQ(bracketed("(a "), "3: ')' is expected");
  EXPECT_EQ(bracketed("a[1)"), "3: ']' is expected");
  EXPECT_EQ(bracketed(std::string("a\0b", 3)), std::string("1: '\0' is not expected here", 27));
}

TEST(ExpressionParser, DepthIsBounded) {
  const auto nested = [](int depth) {
    return std::string(size_t(depth), '(') + "a" + std::string(size_t(depth), ')');
  };
  EXPECT_EQ(bracketed(nested(kDeepestExpression)), "a");
  EXPECT_EQ(bracketed(nested(kDeepestExpression + 1)), "101: nested deeper than 100");
  EXPECT_EQ(bracketed(std::string(100000, '-')), "101: nested deeper than 100");
  // Side by side it may be as long as it likes.
  std::string sum = nested(100);
  for (int i = 0; i < 1000; ++i) sum += "+" + nested(50);
  EXPECT_EQ(bracketed(sum).substr(0, 3), "(((");
}

// What is printed reads back as it is.
TEST(ExpressionParser, RandomTextsAreReadOrRefused) {
  const std::vector<std::string> tokens = {"a", "b1", "12", "+", "-", "*", "<", "<<",
                                           "~", "(",  ")",  "[", "]", " ", "$"};
  Random random(5);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int64_t k = random.between(1, 9); k > 0; --k)
      text += tokens[size_t(random.between(0, int64_t(tokens.size()) - 1))];
    const std::string once = bracketed(text);
    if (once.find(": ") != std::string::npos) continue;
    ++read;
    ASSERT_EQ(bracketed(once), once) << text;
  }
  EXPECT_GT(read, 500);
}

TEST(ExpressionText, TokensAreAsLongAsTheyCanBe) {
  ExpressionText text("x1<=12ab:=\xff >>>");
  for (const char* token : {"x1", "<=", "12ab", ":=", "\xff", ">>", ">", ""}) EXPECT_EQ(text.take(), token);
  EXPECT_TRUE(is_name("_a1"));
  for (const char* none : {"", "1a", "a-b", "a "}) EXPECT_FALSE(is_name(none)) << none;
}

}  // namespace
}  // namespace tilewright
