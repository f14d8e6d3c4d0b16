// A formula in conjunctive normal form while it is built. Literals are variables from 1, negative: negated.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"

namespace tilewright::cgra {

class Cnf {
 public:
  // `deadline`, if any, outlives this. Adding a clause throws Expired when it is over, or when the formula
  // leaves its memory limit, which ends it (not its whole).
  explicit Cnf(const Deadline* deadline = nullptr) : deadline_(deadline), watch_(deadline) {}

  // A fresh one.
  int variable() { return ++variables_; }
  void clause(std::span<const int> literals);
  void clause(std::initializer_list<int> literals) {
    clause(std::span<const int>(literals.begin(), literals.size()));
  }
  // Cardinality: pairs up to 5 literals, then the sequential counter (Sinz, CP 2005), whose auxiliary
  // variables only ever follow from the literals: dropping literals never makes the formula false.
  void at_most_one(std::span<const int> literals) { at_most(1, literals); }
  void at_most(int most, std::span<const int> literals);

  // Throws Expired if this much more memory does not fit: for tables in addition to the clauses.
  void room_for(double bytes) const;
  // For loops that add few clauses.
  void check() const {
    if (deadline_) deadline_->check();
  }
  const Deadline* deadline() const { return deadline_; }

  int variables() const { return variables_; }
  // All clauses in a row, each ended by 0.
  const std::vector<int>& literals() const { return literals_; }
  int clauses() const { return clauses_; }

 private:
  void grow(size_t literals);

  const Deadline* deadline_;
  DeadlineWatch watch_;
  int variables_ = 0, clauses_ = 0;
  std::vector<int> literals_;
};

// "p cnf VARIABLES CLAUSES" and a line per clause.
std::string dimacs(const Cnf& cnf);

}  // namespace tilewright::cgra
