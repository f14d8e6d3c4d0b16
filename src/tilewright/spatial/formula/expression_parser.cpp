// Recursive descent over the grammar of expression.h. The depth of nesting and the length of the text are
// bounded, so that no file exhausts the stack.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "tilewright/spatial/formula/expression.h"

namespace tilewright::study {
namespace {

constexpr int kMostNesting = 300;
constexpr size_t kMostCharacters = 2000;
constexpr double kMostConstant = 1e15;

struct Function {
  std::string_view name;
  Operation operation;
  int arguments;
};
constexpr std::array<Function, 5> kFunctions = {{{"ceil", Operation::kCeil, 1},
                                                 {"floor", Operation::kFloor, 1},
                                                 {"min", Operation::kMinimum, 2},
                                                 {"max", Operation::kMaximum, 2},
                                                 {"mod", Operation::kModulo, 2}}};

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

// Thrown inside the parser only; its entry points turn it into a diagnostic.
struct Complaint {
  std::string message, hint;
};

class Parser {
 public:
  Parser(const std::string& text, const Scope& scope, ExpressionGraph& graph)
      : text_(text), scope_(scope), graph_(graph) {
    if (text.size() > kMostCharacters) {
      throw Complaint{fmt::format("longer than {} characters", kMostCharacters), "name parts under 'let'"};
    }
  }

  int whole_expression() {
    const int node = sum(0);
    expect_end();
    return node;
  }

  Comparison whole_comparison() {
    Comparison comparison;
    comparison.left = sum(0);
    comparison.relation = relation();
    comparison.right = sum(0);
    expect_end();
    return comparison;
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    throw Complaint{fmt::format("column {} of '{}': {}", at_ + 1, text_, message), hint};
  }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}' is expected", c));
  }

  void expect_end() {
    if (peek() != '\0' || at_ < text_.size()) fail("the expression should end here");
  }

  Relation relation() {
    const char first = peek();
    const bool equal = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
    if (first == '=' && !equal) fail("'=' is no comparison", "write '=='");
    if (first != '<' && first != '>' && first != '=') fail("a comparison is expected", "one of <= >= < > ==");
    at_ += equal ? 2 : 1;
    if (first == '=') return Relation::kEqual;
    if (first == '<') return equal ? Relation::kLessEqual : Relation::kLess;
    return equal ? Relation::kGreaterEqual : Relation::kGreater;
  }

  int sum(int depth) {
    int left = product(depth + 1);
    for (;;) {
      if (take('+')) {
        left = graph_.apply(Operation::kAdd, left, product(depth + 1));
      } else if (take('-')) {
        left = graph_.apply(Operation::kSubtract, left, product(depth + 1));
      } else {
        return left;
      }
    }
  }

  int product(int depth) {
    int left = unary(depth + 1);
    for (;;) {
      if (take('*')) {
        left = graph_.apply(Operation::kMultiply, left, unary(depth + 1));
      } else if (take('/')) {
        const int right = unary(depth + 1);
        if (graph_.constant_value(right) == 0.0) fail("division by zero");
        left = graph_.apply(Operation::kDivide, left, right);
      } else {
        return left;
      }
    }
  }

  int unary(int depth) {
    if (depth > kMostNesting) fail("nested too deeply");
    if (take('-')) return graph_.apply(Operation::kSubtract, graph_.constant(0), unary(depth + 1));
    if (take('(')) {
      const int inner = sum(depth + 1);
      expect(')');
      return inner;
    }
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return name(depth);
    if (c == '\0') fail("the expression ends too early");
    fail(fmt::format("'{}' is not expected here", c));
  }

  int number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, failed] =
        std::from_chars(begin, text_.data() + text_.size(), value, std::chars_format::fixed);
    if (failed != std::errc() || !(value <= kMostConstant)) fail("no number in 0..1e15");
    at_ += size_t(end - begin);
    return graph_.constant(value);
  }

  int name(int depth) {
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const std::string word = text_.substr(from, at_ - from);
    if (const Function* function = find_function(word)) return call(*function, depth);
    const auto found = scope_.find(word);
    if (found != scope_.end()) return found->second;
    at_ = from;
    std::string known;
    for (const auto& entry : scope_) known += (known.empty() ? "" : ", ") + entry.first;
    fail(fmt::format("unknown name '{}'", word), "known names: " + known);
  }

  int call(const Function& function, int depth) {
    expect('(');
    const int first = sum(depth + 1);
    int second = -1;
    if (function.arguments == 2) {
      expect(',');
      second = sum(depth + 1);
    }
    expect(')');
    return graph_.apply(function.operation, first, second);
  }

  const std::string& text_;
  const Scope& scope_;
  ExpressionGraph& graph_;
  size_t at_ = 0;
};

}  // namespace

int parse_expression(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                     ExpressionGraph& graph, Diagnostics& diagnostics) {
  try {
    return Parser(text, scope, graph).whole_expression();
  } catch (const Complaint& complaint) {
    diagnostics.error(ErrorKind::kInvalidInput, place.where, place.key, complaint.message, complaint.hint);
    return graph.constant(1);
  }
}

Comparison parse_comparison(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                            ExpressionGraph& graph, Diagnostics& diagnostics) {
  try {
    return Parser(text, scope, graph).whole_comparison();
  } catch (const Complaint& complaint) {
    diagnostics.error(ErrorKind::kInvalidInput, place.where, place.key, complaint.message, complaint.hint);
    return {graph.constant(1), graph.constant(1), Relation::kLessEqual};
  }
}

bool is_expression_name(const std::string& name) {
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return find_function(name) == nullptr;
}

}  // namespace tilewright::study
