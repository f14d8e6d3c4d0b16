// Proofs as files: "no mapping of at most h clocks" as a formula with a proof that check_drat accepts.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>

#include "tilewright/cgra/exact/drat_check.h"
#include "tilewright/cgra/problem/problem.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {

struct RefutationOptions {
  // Only what the rules say: no derived windows of time, no counting clauses, no symmetry broken. Longer
  // proofs, out of reach for wide fans and full arrays.
  bool plain = true;
  SatLimits limits;
};

struct Refutation {
  Satisfiable answer = Satisfiable::kUnknown;  // kNo: refuted, and `check` says what the checker says
  DratCheck check;
  std::filesystem::path formula, proof;
  int64_t proof_bytes = 0;
  double solve_seconds = 0, check_seconds = 0;  // wall
};

// Instead of a horizon: no mapping of any length (TimeBounds::any_length).
inline constexpr int kAnyLength = std::numeric_limits<int>::min();

// Writes NAME-ii<II>-<horizon>.cnf and .drat into `folder`, which exists (NAME: the graph's, letters other
// than A-Z a-z 0-9 . _ - replaced by _; "any" for kAnyLength), solves from nothing, and has the proof checked
// from the files. If the gaps of edges contradict each other for any length, the formula holds only the rules
// on tiles and slots, and the answer is kUnknown where these can be kept. `problem` is in the placement tier.
// Errors (invalid input): problem.verify's; files that cannot be written.
Refutation refute(const MappingProblem& problem, int horizon, const std::filesystem::path& folder,
                  const RefutationOptions& options = {});

}  // namespace tilewright::cgra
