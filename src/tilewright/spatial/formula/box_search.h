// Exact minimisation of a polynomial over whole-numbered variables under constraints: branch and bound on
// boxes. A box is a range per variable; interval arithmetic gives a lower bound of the objective over it, and
// each constraint - and the requirement to beat the best point so far - narrows its ranges. The box with the
// lowest bound is split next, so the search ends when that bound reaches the best value: bound = value is the
// proof. Nothing is assumed about the expressions (no monotonicity, no order of the variables); where they
// are monotone the bounds are simply sharp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/spatial/formula/polynomial.h"

namespace tilewright::study {

inline constexpr int kMostVariables = 12;
// Differences below this, relative to the value, count as ties.
inline constexpr double kRelativeTie = 1e-12;

struct PolynomialLimit {
  Polynomial polynomial;
  double limit = 0;  // polynomial <= limit
};

struct BoxProblem {
  std::vector<double> upper;       // variable k runs over 1..upper[k]; at most kMostVariables of them
  ExpressionGraph atom_graph;      // its symbols are the variables
  std::vector<int> atoms;          // nodes of atom_graph; atoms 0..variables-1 are the variables
  std::vector<AtomSum> atom_sums;  // sharper bounds of some atoms
  // Forms of what is minimised: equal in value, each with its bounds. At least one.
  std::vector<Polynomial> objective;
  std::vector<PolynomialLimit> hold;  // implied by `exact` (up to rounding): they narrow boxes
  ExpressionGraph exact_graph;        // its symbols are the variables
  std::vector<Comparison> exact;      // demanded of points, in exactly this form
  int exact_objective = 0;  // minimised; node of exact_graph. Points where it is not finite do not count
};

enum class BoxSearchStatus : uint8_t { kOptimal, kInfeasible, kStopped };

struct BoxSearchOptions {
  int64_t most_nodes = 1'000'000;  // then the search stops with its bound; about 200 bytes each
  // Ends with the first feasible point (a feasibility test).
  bool first_point = false;
  const Deadline* deadline = nullptr;  // also stops it
};

struct BoxSearchResult {
  BoxSearchStatus status = BoxSearchStatus::kInfeasible;
  bool has_point = false;
  std::vector<int64_t> point;  // of `value`
  double value = 0;
  double bound = 0;    // no point is below it by more than kRelativeTie; equals `value` when optimal
  int64_t nodes = 0;   // boxes taken from the queue
  int64_t pruned = 0;  // boxes discarded by their bound or by a constraint
};

// Deterministic. Among points whose values differ by less than kRelativeTie the first one found is returned.
BoxSearchResult minimise(const BoxProblem& problem, const BoxSearchOptions& options = {});

}  // namespace tilewright::study
