// Expression graphs: building with sharing and folding, evaluation over numbers and intervals.
#include "tilewright/spatial/formula/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::study {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr Interval kEverything{-kInfinity, kInfinity};

Interval product(Interval a, Interval b) {
  if (a.low >= 0 && b.low >= 0) return {bounded_product(a.low, b.low), bounded_product(a.high, b.high)};
  const double corners[] = {bounded_product(a.low, b.low), bounded_product(a.low, b.high),
                            bounded_product(a.high, b.low), bounded_product(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval quotient(Interval a, Interval b) {
  if (b.low <= 0 && b.high >= 0) return kEverything;
  // 1/b needs a rounding that a/b has not: divide the corners themselves.
  if (a.low >= 0 && b.low > 0) return {a.low / b.high, a.high / b.low};
  const double corners[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval remainder(Interval a, Interval b) {
  if (b.low <= 0) return kEverything;
  if (a.low == a.high && b.low == b.high) {
    const double r = a.low - b.low * std::floor(a.low / b.low);
    return {r, r};
  }
  return {0, b.high};
}

bool is_commutative(FormulaOperation operation) {
  return operation == FormulaOperation::kAdd || operation == FormulaOperation::kMultiply ||
         operation == FormulaOperation::kMinimum || operation == FormulaOperation::kMaximum;
}

}  // namespace

double apply_operation(FormulaOperation operation, double a, double b) {
  switch (operation) {
    case FormulaOperation::kAdd:
      return a + b;
    case FormulaOperation::kSubtract:
      return a - b;
    case FormulaOperation::kMultiply:
      return a * b;
    case FormulaOperation::kDivide:
      return b == 0 ? kUndefined : a / b;
    case FormulaOperation::kMinimum:
      return std::isnan(a) || std::isnan(b) ? kUndefined : std::min(a, b);
    case FormulaOperation::kMaximum:
      return std::isnan(a) || std::isnan(b) ? kUndefined : std::max(a, b);
    case FormulaOperation::kModulo:
      return a - b * std::floor(a / b);
    case FormulaOperation::kCeil:
      return std::ceil(a);
    case FormulaOperation::kFloor:
      return std::floor(a);
    case FormulaOperation::kConstant:
    case FormulaOperation::kSymbol:
      break;
  }
  return kUndefined;
}

Interval apply_operation(FormulaOperation operation, Interval a, Interval b) {
  Interval result = kEverything;
  switch (operation) {
    case FormulaOperation::kAdd:
      result = {a.low + b.low, a.high + b.high};
      break;
    case FormulaOperation::kSubtract:
      result = {a.low - b.high, a.high - b.low};
      break;
    case FormulaOperation::kMultiply:
      result = product(a, b);
      break;
    case FormulaOperation::kDivide:
      result = quotient(a, b);
      break;
    case FormulaOperation::kMinimum:
      result = {std::min(a.low, b.low), std::min(a.high, b.high)};
      break;
    case FormulaOperation::kMaximum:
      result = {std::max(a.low, b.low), std::max(a.high, b.high)};
      break;
    case FormulaOperation::kModulo:
      result = remainder(a, b);
      break;
    case FormulaOperation::kCeil:
      result = {std::ceil(a.low), std::ceil(a.high)};
      break;
    case FormulaOperation::kFloor:
      result = {std::floor(a.low), std::floor(a.high)};
      break;
    case FormulaOperation::kConstant:
    case FormulaOperation::kSymbol:
      break;
  }
  return result.low <= result.high ? result : kEverything;  // also where a NaN came up
}

int ExpressionGraph::insert(const ExpressionNode& node) {
  const auto [at, inserted] =
      known_.try_emplace({node.operation, node.a, node.b, node.value}, int(nodes_.size()));
  if (inserted) nodes_.push_back(node);
  return at->second;
}

int ExpressionGraph::constant(double value) {
  // A NaN would break the order of the table; a sign of zero would not be found again.
  if (std::isnan(value)) throw Error(ErrorKind::kInternal, "an expression constant is not a number");
  return insert({FormulaOperation::kConstant, -1, -1, value == 0 ? 0.0 : value});
}

int ExpressionGraph::symbol(int index) { return insert({FormulaOperation::kSymbol, index, -1, 0}); }

std::optional<double> ExpressionGraph::constant_value(int node) const {
  const ExpressionNode& n = nodes_[size_t(node)];
  if (n.operation != FormulaOperation::kConstant) return {};
  return n.value;
}

int ExpressionGraph::apply(FormulaOperation operation, int a, int b) {
  const std::optional<double> x = constant_value(a), y = b < 0 ? std::optional(0.0) : constant_value(b);
  if (x && y) {
    const double value = apply_operation(operation, *x, *y);
    if (std::isfinite(value)) return constant(value);
  }
  if (operation == FormulaOperation::kMultiply && ((x && *x == 1) || (y && *y == 1)))
    return x && *x == 1 ? b : a;
  if (operation == FormulaOperation::kAdd && ((x && *x == 0) || (y && *y == 0))) return x && *x == 0 ? b : a;
  if (y && *y == 1 && operation == FormulaOperation::kDivide) return a;
  if (y && *y == 0 && operation == FormulaOperation::kSubtract && b >= 0) return a;
  if (is_commutative(operation) && a > b) std::swap(a, b);
  return insert({operation, a, b, 0});
}

void evaluate(const ExpressionGraph& graph, std::span<const double> symbols, std::span<double> values) {
  const std::vector<ExpressionNode>& nodes = graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& n = nodes[i];
    if (n.operation == FormulaOperation::kConstant) {
      values[i] = n.value;
    } else if (n.operation == FormulaOperation::kSymbol) {
      values[i] = symbols[size_t(n.a)];
    } else {
      values[i] = apply_operation(n.operation, values[size_t(n.a)], n.b < 0 ? 0.0 : values[size_t(n.b)]);
    }
  }
}

void evaluate(const ExpressionGraph& graph, std::span<const Interval> symbols, std::span<Interval> values) {
  const std::vector<ExpressionNode>& nodes = graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& n = nodes[i];
    if (n.operation == FormulaOperation::kConstant) {
      values[i] = {n.value, n.value};
    } else if (n.operation == FormulaOperation::kSymbol) {
      values[i] = symbols[size_t(n.a)];
    } else {
      values[i] =
          apply_operation(n.operation, values[size_t(n.a)], n.b < 0 ? Interval{} : values[size_t(n.b)]);
    }
  }
}

ExpressionGraph substitute(const ExpressionGraph& graph, std::span<const std::optional<double>> values,
                           std::span<const int> renumber, std::span<int* const> roots) {
  const std::vector<ExpressionNode>& nodes = graph.nodes();
  std::vector<bool> needed(nodes.size(), false);
  for (const int* root : roots) needed[size_t(*root)] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    const ExpressionNode& n = nodes[i];
    if (!needed[i] || n.operation == FormulaOperation::kConstant || n.operation == FormulaOperation::kSymbol)
      continue;
    needed[size_t(n.a)] = true;
    if (n.b >= 0) needed[size_t(n.b)] = true;
  }
  ExpressionGraph result;
  std::vector<int> where(nodes.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& n = nodes[i];
    if (!needed[i]) continue;
    if (n.operation == FormulaOperation::kConstant) {
      where[i] = result.constant(n.value);
    } else if (n.operation == FormulaOperation::kSymbol) {
      const std::optional<double>& value = values[size_t(n.a)];
      where[i] = value ? result.constant(*value) : result.symbol(renumber[size_t(n.a)]);
    } else {
      where[i] = result.apply(n.operation, where[size_t(n.a)], n.b < 0 ? -1 : where[size_t(n.b)]);
    }
  }
  for (int* root : roots) *root = where[size_t(*root)];
  return result;
}

bool holds(Relation relation, double left, double right) {
  switch (relation) {
    case Relation::kLessEqual:
      return left <= right;
    case Relation::kGreaterEqual:
      return left >= right;
    case Relation::kLess:
      return left < right;
    case Relation::kGreater:
      return left > right;
    case Relation::kEqual:
      return left == right;
  }
  return false;
}

const char* relation_text(Relation relation) {
  switch (relation) {
    case Relation::kLessEqual:
      return "<=";
    case Relation::kGreaterEqual:
      return ">=";
    case Relation::kLess:
      return "<";
    case Relation::kGreater:
      return ">";
    case Relation::kEqual:
      return "==";
  }
  return "";
}

}  // namespace tilewright::study
