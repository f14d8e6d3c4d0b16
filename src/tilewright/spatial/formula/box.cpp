// Narrowing: each row "sum of terms <= limit" bounds every atom that stands in it, because the other terms
// cannot fall below their lower bounds; bounds of sub-expressions are then projected onto the variables by
// walking the graph backwards (the HC4 revision of interval constraint solvers).
#include "tilewright/spatial/formula/box.h"

#include <algorithm>
#include <limits>

namespace tilewright::study {
namespace {

// Rounding of a sum, relative to its terms, and of one derived bound, relative to itself.
constexpr double kSumSlack = 1e-13, kBoundSlack = 1e-10;

double whole_below(double x) { return std::floor(x + kBoundSlack * std::max(1.0, std::abs(x))); }
double whole_above(double x) { return std::ceil(x - kBoundSlack * std::max(1.0, std::abs(x))); }

Interval widened(Interval x) {
  return {x.low - kBoundSlack * std::abs(x.low), x.high + kBoundSlack * std::abs(x.high)};
}

// Intersects; keeps `x` where the result would come from a NaN.
bool intersect(Interval& x, Interval with) {
  if (with.low > x.low) x.low = with.low;
  if (with.high < x.high) x.high = with.high;
  return x.low <= x.high;
}

// What operands a and b of a node can be, given that its value lies in `t`.
bool project_operands(FormulaOperation operation, Interval t, Interval& a, Interval* b) {
  const auto derive = [](FormulaOperation op, Interval x, Interval y) {
    return widened(apply_operation(op, x, y));
  };
  switch (operation) {
    case FormulaOperation::kAdd:
      return intersect(a, derive(FormulaOperation::kSubtract, t, *b)) &&
             intersect(*b, derive(FormulaOperation::kSubtract, t, a));
    case FormulaOperation::kSubtract:
      return intersect(a, derive(FormulaOperation::kAdd, t, *b)) &&
             intersect(*b, derive(FormulaOperation::kSubtract, a, t));
    case FormulaOperation::kMultiply:
      return intersect(a, derive(FormulaOperation::kDivide, t, *b)) &&
             intersect(*b, derive(FormulaOperation::kDivide, t, a));
    case FormulaOperation::kDivide:
      return intersect(a, derive(FormulaOperation::kMultiply, t, *b)) &&
             intersect(*b, derive(FormulaOperation::kDivide, a, t));
    case FormulaOperation::kMinimum:
      return intersect(a, {t.low, kInfinity}) && intersect(*b, {t.low, kInfinity});
    case FormulaOperation::kMaximum:
      return intersect(a, {-kInfinity, t.high}) && intersect(*b, {-kInfinity, t.high});
    case FormulaOperation::kCeil:
      return intersect(a, {whole_above(t.low) - 1, whole_below(t.high)});
    case FormulaOperation::kFloor:
      return intersect(a, {whole_above(t.low), whole_below(t.high) + 1});
    default:
      return true;
  }
}

}  // namespace

BoxNarrower::BoxNarrower(const BoxProblem& problem) : problem_(problem), variables_(problem.upper.size()) {
  for (const Polynomial& form : problem.objective) objective_uses_.push_back(uses_of(form));
  for (const PolynomialLimit& limit : problem.hold) rows_.push_back({&limit, uses_of(limit.polynomial)});
  nodes_.resize(problem.atom_graph.nodes().size());
  atoms_.resize(problem.atoms.size());
}

std::vector<BoxNarrower::AtomUses> BoxNarrower::uses_of(const Polynomial& polynomial) {
  std::vector<AtomUses> result;
  for (size_t t = 0; t < polynomial.terms.size(); ++t) {
    const std::vector<Factor>& factors = polynomial.terms[t].factors;
    for (size_t f = 0; f < factors.size(); ++f) {
      if (std::abs(factors[f].power) != 1) continue;
      const auto same = [&](const AtomUses& u) {
        return u.atom == factors[f].atom && u.power == factors[f].power;
      };
      auto at = std::find_if(result.begin(), result.end(), same);
      if (at == result.end()) at = result.insert(at, {factors[f].atom, factors[f].power, {}});
      at->uses.push_back({t, f});
    }
  }
  return result;
}

void BoxNarrower::refresh(const Box& box) {
  evaluate(problem_.atom_graph, std::span(box.data(), variables_), nodes_);
  for (size_t k = 0; k < atoms_.size(); ++k) atoms_[k] = nodes_[size_t(problem_.atoms[k])];
  for (const AtomSum& entry : problem_.atom_sums) {
    // Rounding may part two bounds of the same number.
    const Interval sum = entry.sum.bounds(atoms_);
    Interval& atom = atoms_[size_t(entry.atom)];
    const Interval both{std::max(atom.low, sum.low), std::min(atom.high, sum.high)};
    if (both.low <= both.high) atom = both;
  }
}

double BoxNarrower::objective_bound(const Box& box) {
  refresh(box);
  double bound = -kInfinity;
  for (const Polynomial& form : problem_.objective) bound = std::max(bound, form.bounds(atoms_).low);
  return bound;
}

std::span<const Interval> BoxNarrower::atom_bounds(const Box& box) {
  refresh(box);
  return atoms_;
}

bool BoxNarrower::tighten(int atom, double low, double high) {
  Interval& x = atoms_[size_t(atom)];
  if (size_t(atom) < variables_) {
    low = whole_above(low);
    high = whole_below(high);
  } else {
    const Interval wide = widened({low, high});
    low = wide.low;
    high = wide.high;
  }
  if (low > x.low || high < x.high) {
    x.low = std::max(x.low, low);
    x.high = std::min(x.high, high);
    tightened_ = true;
  }
  return x.low <= x.high;
}

bool BoxNarrower::narrow_row(const Polynomial& polynomial, double limit, const std::vector<AtomUses>& atoms) {
  terms_.resize(polynomial.terms.size());
  double sum = 0, scale = std::abs(limit);
  for (size_t t = 0; t < terms_.size(); ++t) {
    terms_[t] = term_bounds(polynomial.terms[t], atoms_);
    sum += terms_[t].low;
    scale += std::abs(terms_[t].low);
  }
  const double room = limit + kSumSlack * scale;
  if (sum > room) return false;
  if (!(sum > -kInfinity)) return true;
  for (const AtomUses& atom : atoms) {
    const Interval range = atoms_[size_t(atom.atom)];
    // The argument below needs x >= 0, and 1/x needs x > 0.
    if (range.low == range.high || range.low < 0 || (atom.power < 0 && range.low == 0)) continue;
    // rest * x + others <= room, with rest and others at their lower bounds.
    double rest = 0, others = sum;
    for (const Use& use : atom.uses) {
      rest += rest_bounds(polynomial.terms[use.term], use.factor, atoms_).low;
      others -= terms_[use.term].low;
    }
    if (rest == 0 || !std::isfinite(rest) || !std::isfinite(others)) continue;
    const double edge = (room - others) / rest;
    double low = -kInfinity, high = kInfinity;
    if (atom.power > 0) {
      (rest > 0 ? high : low) = edge;
    } else if (rest > 0 && edge > 0) {
      low = 1 / edge;
    } else if (rest < 0 && edge > 0) {
      high = 1 / edge;
    } else if (rest > 0) {
      return false;  // rest / x <= edge <= 0 with x > 0
    }
    if (!tighten(atom.atom, low, high)) return false;
  }
  return true;
}

bool BoxNarrower::project(Box& box) {
  for (size_t k = 0; k < atoms_.size(); ++k) {
    if (!intersect(nodes_[size_t(problem_.atoms[k])], atoms_[k])) return false;
  }
  const std::vector<ExpressionNode>& nodes = problem_.atom_graph.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    const ExpressionNode& n = nodes[i];
    if (n.operation == FormulaOperation::kConstant) continue;
    if (n.operation == FormulaOperation::kSymbol) {
      Interval& x = box[size_t(n.a)];
      x.low = std::max(x.low, whole_above(nodes_[i].low));
      x.high = std::min(x.high, whole_below(nodes_[i].high));
      if (x.low > x.high) return false;
      continue;
    }
    if (!project_operands(n.operation, nodes_[i], nodes_[size_t(n.a)],
                          n.b < 0 ? nullptr : &nodes_[size_t(n.b)])) {
      return false;
    }
  }
  return true;
}

bool BoxNarrower::narrow(Box& box, double cut, int most_rounds) {
  for (int round = 0; round < most_rounds; ++round) {
    refresh(box);
    tightened_ = false;
    for (const Row& row : rows_) {
      if (!narrow_row(row.limit->polynomial, row.limit->limit, row.atoms)) return false;
    }
    for (size_t k = 0; cut < kInfinity && k < objective_uses_.size(); ++k) {
      if (!narrow_row(problem_.objective[k], cut, objective_uses_[k])) return false;
    }
    if (!tightened_) return true;
    const Box before = box;
    if (!project(box)) return false;
    bool changed = false;
    for (size_t v = 0; v < variables_; ++v) {
      changed |= box[v].low != before[v].low || box[v].high != before[v].high;
    }
    if (!changed) return true;
  }
  return true;
}

}  // namespace tilewright::study
