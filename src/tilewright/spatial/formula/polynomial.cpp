// Expansion into sums of products, bottom up over the node list, so that no depth of nesting costs stack.
#include "tilewright/spatial/formula/polynomial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tilewright::study {
namespace {

// Beyond this many terms a product stays one atom: bounds get looser, never wrong.
constexpr size_t kMostTerms = 200;
constexpr int kMostPower = 8;

Polynomial merged(std::vector<Term> terms) {
  std::map<std::vector<Factor>, double> sums;
  for (Term& term : terms) sums[std::move(term.factors)] += term.coefficient;
  Polynomial result;
  for (const auto& entry : sums) {
    if (entry.second != 0) result.terms.push_back({entry.second, entry.first});
  }
  return result;
}

std::optional<Term> polynomial_product(const Term& a, const Term& b, int sign_of_b) {
  Term result;
  result.coefficient = sign_of_b > 0 ? a.coefficient * b.coefficient : a.coefficient / b.coefficient;
  size_t i = 0, j = 0;
  while (i < a.factors.size() || j < b.factors.size()) {
    Factor factor;
    if (j == b.factors.size() || (i < a.factors.size() && a.factors[i].atom < b.factors[j].atom)) {
      factor = a.factors[i++];
    } else if (i == a.factors.size() || b.factors[j].atom < a.factors[i].atom) {
      factor = {b.factors[j].atom, sign_of_b * b.factors[j].power};
      ++j;
    } else {
      factor = {a.factors[i].atom, a.factors[i].power + sign_of_b * b.factors[j].power};
      ++i;
      ++j;
    }
    if (std::abs(factor.power) > kMostPower) return {};
    if (factor.power != 0) result.factors.push_back(factor);
  }
  if (!std::isfinite(result.coefficient)) return {};
  return result;
}

// nullopt: too large to expand.
std::optional<Polynomial> polynomial_product(const Polynomial& a, const Polynomial& b, int sign_of_b) {
  if (a.terms.size() * b.terms.size() > kMostTerms) return {};
  std::vector<Term> terms;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      std::optional<Term> xy = polynomial_product(x, y, sign_of_b);
      if (!xy) return {};
      terms.push_back(std::move(*xy));
    }
  }
  return merged(std::move(terms));
}

Interval multiply(Interval a, Interval b) {
  if (a.low >= 0 && b.low >= 0) return {bounded_product(a.low, b.low), bounded_product(a.high, b.high)};
  return apply_operation(FormulaOperation::kMultiply, a, b);
}

}  // namespace

Interval power_bounds(Interval base, int power) {
  Interval result = base;
  for (int k = 1; k < std::abs(power); ++k) result = multiply(result, base);
  if (power < 0) result = apply_operation(FormulaOperation::kDivide, Interval{1, 1}, result);
  return result;
}

Interval rest_bounds(const Term& term, size_t skipped, std::span<const Interval> atoms) {
  Interval result{1, 1};
  for (size_t k = 0; k < term.factors.size(); ++k) {
    if (k == skipped) continue;
    result = multiply(result, power_bounds(atoms[size_t(term.factors[k].atom)], term.factors[k].power));
  }
  const double c = term.coefficient;
  if (c >= 0) return {bounded_product(c, result.low), bounded_product(c, result.high)};
  return {bounded_product(c, result.high), bounded_product(c, result.low)};
}

Interval term_bounds(const Term& term, std::span<const Interval> atoms) {
  return rest_bounds(term, term.factors.size(), atoms);
}

Interval Polynomial::bounds(std::span<const Interval> atoms) const {
  Interval sum;
  for (const Term& term : terms) {
    const Interval t = term_bounds(term, atoms);
    sum.low += t.low;
    sum.high += t.high;
  }
  if (sum.low <= sum.high) return sum;
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}

double Polynomial::value(std::span<const double> atoms) const {
  double sum = 0;
  for (const Term& term : terms) {
    double product = term.coefficient;
    for (const Factor& factor : term.factors) {
      const double base = atoms[size_t(factor.atom)];
      for (int k = 0; k < factor.power; ++k) product *= base;
      for (int k = 0; k > factor.power; --k) product /= base;
    }
    sum += product;
  }
  return sum;
}

Polynomial weighted_sum(std::span<const Polynomial> parts, std::span<const double> weights) {
  std::vector<Term> terms;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const Term& term : parts[i].terms) {
      terms.push_back({term.coefficient * weights[i], term.factors});
    }
  }
  return merged(std::move(terms));
}

int Expander::atom(int node) {
  const auto at = std::find(atoms_.begin(), atoms_.end(), node);
  if (at != atoms_.end()) return int(at - atoms_.begin());
  atoms_.push_back(node);
  return int(atoms_.size()) - 1;
}

Polynomial Expander::expand(int node, Form form) {
  // Which nodes the expansion of `node` will ask for.
  std::vector<std::optional<Polynomial>>& known = known_[size_t(form)];
  std::vector<bool> needed(size_t(node) + 1, false);
  needed[size_t(node)] = true;
  known.resize(graph_.nodes().size());
  for (size_t i = size_t(node) + 1; i-- > 0;) {
    if (!needed[i] || known[i]) continue;
    const ExpressionNode& n = graph_.nodes()[i];
    const bool expands =
        n.operation == FormulaOperation::kAdd || n.operation == FormulaOperation::kSubtract ||
        n.operation == FormulaOperation::kMultiply || n.operation == FormulaOperation::kDivide;
    if (!expands) continue;
    needed[size_t(n.a)] = needed[size_t(n.b)] = true;
  }
  for (size_t i = 0; i <= size_t(node); ++i) {
    if (needed[i] && !known[i]) known[i] = expand_node(int(i), form);
  }
  return *known[size_t(node)];
}

// The factor that `node` is in a factored product with `other`.
Polynomial Expander::factor(int node, const Polynomial& other) {
  const Polynomial& sum = *known_[size_t(Form::kFactored)][size_t(node)];
  const bool other_varies = std::any_of(other.terms.begin(), other.terms.end(),
                                        [](const Term& term) { return !term.factors.empty(); });
  const auto negative = [](const Term& term) { return term.coefficient < 0; };
  const bool mixed = std::any_of(sum.terms.begin(), sum.terms.end(), negative) &&
                     !std::all_of(sum.terms.begin(), sum.terms.end(), negative);
  if (!mixed || !other_varies) return sum;
  Polynomial one = whole(node);
  const int atom = one.terms[0].factors[0].atom;
  const bool known = std::any_of(atom_sums_.begin(), atom_sums_.end(),
                                 [&](const AtomSum& entry) { return entry.atom == atom; });
  if (!known) atom_sums_.push_back({atom, sum});
  return one;
}

Polynomial Expander::expand_node(int node, Form form) {
  const ExpressionNode& n = graph_.nodes()[size_t(node)];
  const std::vector<std::optional<Polynomial>>& known = known_[size_t(form)];
  switch (n.operation) {
    case FormulaOperation::kConstant:
      return n.value == 0 ? Polynomial{} : Polynomial{{Term{n.value, {}}}};
    case FormulaOperation::kAdd:
    case FormulaOperation::kSubtract: {
      const Polynomial parts[] = {*known[size_t(n.a)], *known[size_t(n.b)]};
      const double weights[] = {1, n.operation == FormulaOperation::kAdd ? 1.0 : -1.0};
      Polynomial sum = weighted_sum(parts, weights);
      return sum.terms.size() <= kMostTerms ? sum : whole(node);
    }
    case FormulaOperation::kMultiply: {
      Polynomial a = *known[size_t(n.a)], b = *known[size_t(n.b)];
      if (form == Form::kFactored) {
        a = factor(n.a, b);
        b = factor(n.b, a);
      }
      std::optional<Polynomial> expanded = polynomial_product(a, b, 1);
      return expanded ? *std::move(expanded) : whole(node);
    }
    case FormulaOperation::kDivide: {
      const Polynomial& divisor = *known[size_t(n.b)];
      if (divisor.terms.size() != 1) return whole(node);
      std::optional<Polynomial> expanded = polynomial_product(*known[size_t(n.a)], divisor, -1);
      return expanded ? *std::move(expanded) : whole(node);
    }
    default:
      return whole(node);
  }
}

}  // namespace tilewright::study
