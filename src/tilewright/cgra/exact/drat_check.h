// A checker of proofs of unsatisfiability in the DRAT format, for formulas in DIMACS form. It knows neither
// the solver nor how formulas are made.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

struct DratCheck {
  bool proven = false;
  std::string problem;  // where not proven: the first lemma that does not follow, or what is missing
  int variables = 0;
  int64_t clauses = 0, lemmas = 0, deletions = 0;
  int64_t by_resolution = 0;  // lemmas that needed more than unit propagation
};

// `formula`: DIMACS text ("c" comments, "p cnf V C", clauses ended by 0). `proof`: DRAT text (lemmas, "d" in
// front of deletions). Lemmas are checked one after the other, up to the first contradiction; lemmas after
// it are not read. Errors (invalid input): a text that is not of its form, with the line. Throws Expired when
// the time of `deadline`, if any, is over.
DratCheck check_drat(const std::string& formula, const std::string& proof,
                     const Deadline* deadline = nullptr);

}  // namespace tilewright::cgra
