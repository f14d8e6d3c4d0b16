// The grammar of expression.h. The length of the text is bounded, the depth by the shared parser.
#include "tilewright/base/expression/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tilewright/base/words/nearest_word.h"
#include "tilewright/spatial/formula/expression.h"

namespace tilewright::study {
namespace {

constexpr size_t kMostCharacters = 2000;
constexpr double kMostConstant = 1e15;

struct FormulaFunction {
  std::string_view name;
  FormulaOperation operation;
  int arguments;
};
constexpr FormulaFunction kFunctions[] = {{"ceil", FormulaOperation::kCeil, 1},
                                          {"floor", FormulaOperation::kFloor, 1},
                                          {"min", FormulaOperation::kMinimum, 2},
                                          {"max", FormulaOperation::kMaximum, 2},
                                          {"mod", FormulaOperation::kModulo, 2}};

const FormulaFunction* find_function(std::string_view name) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const FormulaFunction& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

struct FormulaOperator {
  std::string_view sign;
  int strength;
  FormulaOperation operation;
};
constexpr FormulaOperator kOperators[] = {{"+", 0, FormulaOperation::kAdd},
                                          {"-", 0, FormulaOperation::kSubtract},
                                          {"*", 1, FormulaOperation::kMultiply},
                                          {"/", 1, FormulaOperation::kDivide}};

class FormulaParser : ExpressionParser<int, FormulaOperator> {
 public:
  FormulaParser(const std::string& text, const Scope& scope, ExpressionGraph& graph)
      : ExpressionParser(text, kOperators), scope_(scope), graph_(graph) {}

  int whole_expression() {
    const int node = expression();
    text_.expect_end();
    return node;
  }

  Comparison whole_comparison() {
    Comparison comparison;
    comparison.left = expression();
    comparison.relation = relation();
    comparison.right = expression();
    text_.expect_end();
    return comparison;
  }

 private:
  Relation relation() {
    for (const Relation relation : {Relation::kLessEqual, Relation::kGreaterEqual, Relation::kLess,
                                    Relation::kGreater, Relation::kEqual}) {
      if (text_.take(relation_text(relation))) return relation;
    }
    if (text_.token() == "=") text_.fail_at(text_.token(), "'=' is not a comparison", "write '=='");
    text_.fail_at(text_.token(), "a comparison is expected", "one of <= >= < > ==");
  }

  int apply(const FormulaOperator& op, int left, int right) override {
    if (op.operation == FormulaOperation::kDivide && graph_.constant_value(right) == 0.0)
      text_.fail("division by zero");
    return graph_.apply(op.operation, left, right);
  }
  int apply_sign(char, int operand) override {
    return graph_.apply(FormulaOperation::kSubtract, graph_.constant(0), operand);
  }

  std::optional<int> number() override {
    const std::string_view token = text_.token();
    const auto value = text_.take_number<double>(std::chars_format::fixed);
    if (value ? !(*value <= kMostConstant) : !token.empty() && is_digit(token[0])) {
      text_.fail_at(token, "no number in 0..1e15");
    }
    return value ? std::optional<int>(graph_.constant(*value)) : std::nullopt;
  }

  int name(std::string_view name) override {
    if (const FormulaFunction* function = find_function(name)) return call(*function);
    const auto found = scope_.find(std::string(name));
    if (found != scope_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& entry : scope_) known.push_back(entry.first);
    text_.fail_at(name, fmt::format("unknown name '{}'", name),
                  words_hint(std::string(name), known, "known names"));
  }

  int call(const FormulaFunction& function) {
    text_.expect("(");
    const int first = expression();
    if (function.arguments == 2) text_.expect(",");
    const int second = function.arguments == 2 ? expression() : -1;
    text_.expect(")");
    return graph_.apply(function.operation, first, second);
  }

  const Scope& scope_;
  ExpressionGraph& graph_;
};

// What `parse` gives for the text; nullopt after a diagnostic.
template <typename Result>
std::optional<Result> parse_formula(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                                    ExpressionGraph& graph, Diagnostics& diagnostics,
                                    Result (FormulaParser::*parse)()) {
  const auto error = [&](const std::string& message, const std::string& hint) {
    diagnostics.error(ErrorKind::kInvalidInput, place.where, place.key, message, hint);
    return std::nullopt;
  };
  if (text.size() > kMostCharacters) {
    return error(fmt::format("longer than {} characters", kMostCharacters), "name parts under 'let'");
  }
  try {
    return (FormulaParser(text, scope, graph).*parse)();
  } catch (const ExpressionProblem& problem) {
    return error(fmt::format("column {} of '{}': {}", problem.at + 1, text, problem.message), problem.hint);
  }
}

}  // namespace

int parse_expression(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                     ExpressionGraph& graph, Diagnostics& diagnostics) {
  const auto node = parse_formula(text, place, scope, graph, diagnostics, &FormulaParser::whole_expression);
  return node ? *node : graph.constant(1);
}

Comparison parse_comparison(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                            ExpressionGraph& graph, Diagnostics& diagnostics) {
  const auto found = parse_formula(text, place, scope, graph, diagnostics, &FormulaParser::whole_comparison);
  return found ? *found : Comparison{graph.constant(1), graph.constant(1), Relation::kLessEqual};
}

bool is_expression_name(const std::string& name) { return is_name(name) && find_function(name) == nullptr; }

}  // namespace tilewright::study
