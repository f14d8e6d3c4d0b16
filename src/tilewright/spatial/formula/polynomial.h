// Sums of products over atoms: the normal form in which the search bounds a dataflow's expressions. An atom
// is a variable or a sub-expression that does not expand (ceil(C/(q*r))); a product may hold negative powers.
// Like terms are merged, so that terms that cancel between energy levels (a buffer access that saves an array
// access) also cancel in the bounds; interval arithmetic on the expression as written would lose this.
#pragma once

#include <span>
#include <vector>

#include "tilewright/spatial/formula/expression.h"

namespace tilewright::study {

struct Factor {
  int atom = 0;
  int power = 1;  // not 0
  bool operator==(const Factor&) const = default;
  auto operator<=>(const Factor&) const = default;
};

struct Term {
  double coefficient = 0;
  std::vector<Factor> factors;  // ascending atoms
};

struct Polynomial {
  std::vector<Term> terms;  // by factors, each product once

  Interval bounds(std::span<const Interval> atoms) const;
  double value(std::span<const double> atoms) const;
};

// Sum of all polynomials, each times its weight.
Polynomial weighted_sum(std::span<const Polynomial> parts, std::span<const double> weights);

// The bounds of factor^power and of a term.
Interval power_bounds(Interval base, int power);
Interval term_bounds(const Term& term, std::span<const Interval> atoms);
// The same without the factor at position `skipped`.
Interval rest_bounds(const Term& term, size_t skipped, std::span<const Interval> atoms);

// How far products are expanded. Both forms have the same values but different bounds: terms cancel only when
// everything is expanded, but a sum whose terms differ in sign has sharper bounds as one factor, x*(4*y - 3),
// than as 4*x*y - 3*x. Callers that need good bounds use both.
enum class Form : uint8_t { kDistributed, kFactored };

// An atom that is a sum in a factored product, and the sum itself, over atoms with smaller numbers.
struct AtomSum {
  int atom = 0;
  Polynomial sum;
};

// Expands nodes of a graph. Atom k is node atoms()[k].
class Expander {
 public:
  explicit Expander(const ExpressionGraph& graph) : graph_(graph) {}
  Polynomial expand(int node, Form form = Form::kDistributed);
  const std::vector<int>& atoms() const { return atoms_; }
  const std::vector<AtomSum>& atom_sums() const { return atom_sums_; }
  // The atom of a node, which becomes one if it is not one yet.
  int atom(int node);

 private:
  Polynomial expand_node(int node, Form form);
  Polynomial factor(int node, const Polynomial& other);
  Polynomial whole(int node) { return {{Term{1, {Factor{atom(node), 1}}}}}; }
  const ExpressionGraph& graph_;
  std::vector<int> atoms_;
  std::vector<AtomSum> atom_sums_;
  std::vector<std::optional<Polynomial>> known_[2];  // by form
};

}  // namespace tilewright::study
