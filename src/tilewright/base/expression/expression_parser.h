// The grammar that all expressions share:
//   expression := unary {OPERATOR unary}        the operators of the language, each with its strength, to the
//   left unary      := SIGN unary | "(" expression ")" | NAME ... | NUMBER
// A language derives from ExpressionParser and builds what it wants of the parts: a number, nodes of a graph,
// a tree.
#pragma once

#include <span>
#include <utility>

#include "tilewright/base/expression/expression_text.h"

namespace tilewright {

// Of parentheses, signs and arguments in one another: no file exhausts the stack.
inline constexpr int kDeepestExpression = 100;

// An `Operator` has a `sign` and a `strength` of at least 0; those of higher strength bind first. Problems
// are thrown as ExpressionProblem.
template <typename Value, typename Operator>
class ExpressionParser {
 public:
  virtual ~ExpressionParser() = default;

 protected:
  ExpressionParser(std::string_view text, std::span<const Operator> operators,
                   std::string_view unary_signs = "-")
      : text_(text), operators_(operators), unary_signs_(unary_signs) {}

  // What parentheses hold.
  virtual Value expression() { return operators_from(0); }
  virtual Value apply(const Operator& op, Value left, Value right) = 0;
  virtual Value apply_sign(char sign, Value operand) = 0;
  // The name has been taken; a language with functions takes their arguments.
  virtual Value name(std::string_view name) = 0;
  // Takes the number at the cursor; nullopt where there is none.
  virtual std::optional<Value> number() = 0;

  // An expression of operators of at least this strength.
  Value operators_from(int strength) {
    Value left = unary();
    while (const Operator* op = operator_of(text_.token(), strength)) {
      text_.take();
      left = apply(*op, std::move(left), operators_from(op->strength + 1));
    }
    return left;
  }

  // Counts one level of nesting for as long as it lives.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : depth_(parser.depth_) {
      if (depth_ > kDeepestExpression) {
        parser.text_.fail("nested deeper than " + std::to_string(kDeepestExpression));
      }
      ++depth_;
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  ExpressionText text_;

 private:
  Value unary() {
    const Level level(*this);
    for (size_t i = 0; i < unary_signs_.size(); ++i) {
      if (text_.take(unary_signs_.substr(i, 1))) return apply_sign(unary_signs_[i], unary());
    }
    if (text_.take("(")) {
      Value inner = expression();
      text_.expect(")");
      return inner;
    }
    if (is_name(text_.token())) return name(text_.take());
    if (std::optional<Value> value = number()) return std::move(*value);
    text_.fail(text_.token().empty() ? "the expression ends too early"
                                     : "a number, a name or '(' is expected");
  }

  const Operator* operator_of(std::string_view sign, int strength) const {
    for (const Operator& op : operators_) {
      if (op.sign == sign && op.strength >= strength) return &op;
    }
    return nullptr;
  }

  std::span<const Operator> operators_;
  std::string_view unary_signs_;
  int depth_ = 0;
};

}  // namespace tilewright
