// Choices whose losses and needs add up. Variables have a few values each; a term reads some of them and
// offers, for their values, ways to pay: a loss and what each needs of limited resources. Bits of a network's
// values are such variables, its layers such terms.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tilewright/search/deadline.h"

namespace tilewright {

struct SeparableProblem {
  static constexpr size_t kMostNeeds = 4;
  using Needs = std::array<double, kMostNeeds>;  // those that `limits` does not have are 0
  struct Option {
    double loss = 0;
    Needs needs{};
  };
  struct Term {
    std::vector<int> variables;  // different ones, or none
    // By the variables' values, the first one's counting fastest. No options: these values do not go
    // together.
    std::vector<std::vector<Option>> options;
  };
  std::vector<int> values;  // of each variable: 0 .. values - 1
  std::vector<Term> terms;
  std::vector<double> limits;  // of the sum of each need, 1 to kMostNeeds
};

struct SeparableSolution {
  double loss = 0;
  SeparableProblem::Needs needs{};
  std::vector<int> values;   // by variable; 0 where no term reads it
  std::vector<int> options;  // by term
};

struct SeparableFront {
  // Within the limits, by rising loss; each needs less of something than all before it.
  std::vector<SeparableSolution> solutions;
  bool exact = true;  // nothing was thinned: all solutions that no other one covers, one of those alike
};

// Variables are eliminated one after the other, those with the fewest neighbours first, with fronts of loss
// and needs instead of single values. Fronts of more than `most_kept` points are thinned: of those whose
// needs are nearly alike, the one with the least loss stays. Time grows with the values of a variable to the
// power of the neighbours that it has when it goes: chains and residual branches are quick. Throws Expired.
SeparableFront solve_separable(const SeparableProblem& problem, size_t most_kept = 1000,
                               const Deadline* deadline = nullptr);

}  // namespace tilewright
