// A box of the search space and the narrowing of its ranges.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "tilewright/spatial/formula/box_search.h"

namespace tilewright::study {

// Ranges of the variables, whole numbers.
using Box = std::array<Interval, kMostVariables>;

// Narrows boxes; holds the scratch memory for it.
class BoxNarrower {
 public:
  explicit BoxNarrower(const BoxProblem& problem);

  // The best lower bound of the objective over `box`.
  double objective_bound(const Box& box);
  // Narrows `box` by the constraints, and by objective <= cut when that is finite, until little changes.
  // Returns false when nothing is left. Afterwards the bounds of all atoms are those of the box or wider.
  bool narrow(Box& box, double cut, int most_rounds);
  // Bounds of the atoms over `box`, for Polynomial::bounds.
  std::span<const Interval> atom_bounds(const Box& box);

 private:
  struct Use {
    size_t term, factor;
  };
  // The terms in which one atom stands with power 1 (or -1).
  struct AtomUses {
    int atom = 0, power = 1;
    std::vector<Use> uses;
  };
  struct Row {
    const PolynomialLimit* limit = nullptr;
    std::vector<AtomUses> atoms;
  };

  static std::vector<AtomUses> uses_of(const Polynomial& polynomial);
  bool narrow_row(const Polynomial& polynomial, double limit, const std::vector<AtomUses>& atoms);
  bool tighten(int atom, double low, double high);
  bool project(Box& box);
  void refresh(const Box& box);

  const BoxProblem& problem_;
  size_t variables_;
  std::vector<Row> rows_;
  std::vector<std::vector<AtomUses>> objective_uses_;
  std::vector<Interval> nodes_, atoms_, terms_;
  bool tightened_ = false;
};

}  // namespace tilewright::study
