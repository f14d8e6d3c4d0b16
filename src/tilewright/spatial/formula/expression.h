// Arithmetic expressions of a dataflow file: text to a shared graph of operations that is evaluated front to
// back, over numbers and over intervals. Equal sub-expressions are one node, operands come before their
// users, so the node list is the program.
//
//   comparison := sum ("<=" | ">=" | "<" | ">" | "==") sum
//   sum        := product (("+" | "-") product)*
//   product    := unary (("*" | "/") unary)*
//   unary      := "-" unary | number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
//   function   := ceil | floor (one argument), min | max | mod (two)
//
// Values are IEEE doubles. ceil(a/b) of whole numbers below 2^52 is exact: the quotient of two such numbers
// rounds to a whole number only when it is one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::study {

struct Interval {
  double low = 0, high = 0;
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// 0 * infinity counts as 0: an unbounded factor of a zero adds nothing that a bound has to cover.
inline double bounded_product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

enum class FormulaOperation : uint8_t {
  kConstant,
  kSymbol,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMinimum,
  kMaximum,
  kModulo,  // a - b * floor(a / b)
  kCeil,
  kFloor,
};

struct ExpressionNode {
  FormulaOperation operation = FormulaOperation::kConstant;
  int a = -1, b = -1;  // operands; of a symbol, `a` is its index
  double value = 0;    // of a constant
};

class ExpressionGraph {
 public:
  // Each returns the node, an old one where it exists; operations on constants are folded, except when the
  // result would not be finite.
  int constant(double value);
  int symbol(int index);
  int apply(FormulaOperation operation, int a, int b = -1);

  const std::vector<ExpressionNode>& nodes() const { return nodes_; }
  std::optional<double> constant_value(int node) const;

 private:
  int insert(const ExpressionNode& node);
  std::vector<ExpressionNode> nodes_;
  std::map<std::tuple<FormulaOperation, int, int, double>, int> known_;
};

// The result of `operation`; NaN where it has none (also when an operand is NaN), infinite on overflow.
double apply_operation(FormulaOperation operation, double a, double b);
// An interval that holds every finite value of `operation` on values of `a` and `b` (up to rounding);
// unbounded where the operation is not defined throughout.
Interval apply_operation(FormulaOperation operation, Interval a, Interval b);

// Values of all nodes, given those of the symbols. Every span is as long as nodes() resp. the symbols.
void evaluate(const ExpressionGraph& graph, std::span<const double> symbols, std::span<double> values);
void evaluate(const ExpressionGraph& graph, std::span<const Interval> symbols, std::span<Interval> values);

// A new graph with only what `roots` need, the symbols that have a value replaced by it; `roots` are changed
// to the nodes of the new graph. Symbol k without a value becomes symbol renumber[k].
ExpressionGraph substitute(const ExpressionGraph& graph, std::span<const std::optional<double>> values,
                           std::span<const int> renumber, std::span<int* const> roots);

// The meaning of names while parsing.
using Scope = std::map<std::string, int>;  // name -> node

enum class Relation : uint8_t { kLessEqual, kGreaterEqual, kLess, kGreater, kEqual };
struct Comparison {
  int left = 0, right = 0;  // nodes
  Relation relation = Relation::kLessEqual;
};
bool holds(Relation relation, double left, double right);
const char* relation_text(Relation relation);

// Where an expression stands, for messages.
struct ExpressionPlace {
  std::string where;  // "rs.yaml:12"
  std::string key;    // "accesses.dram.weight"
};

// The node of `text`. On an error (syntax, unknown name with the names there are, wrong number of arguments,
// nesting deeper than 100 parentheses, longer than 2,000 characters) adds a diagnostic and returns the
// constant 1.
int parse_expression(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                     ExpressionGraph& graph, Diagnostics& diagnostics);
Comparison parse_comparison(const std::string& text, const ExpressionPlace& place, const Scope& scope,
                            ExpressionGraph& graph, Diagnostics& diagnostics);
// Whether a name may occur in an expression: a letter, then letters, digits, underscores; not a function.
bool is_expression_name(const std::string& name);

}  // namespace tilewright::study
