// Clauses and cardinality constraints. Sequential counter (Sinz, "Towards an Optimal CNF Encoding of Boolean
// Cardinality Constraints", CP 2005): register j after literal i says that more than j of the first i
// literals hold.
#include "tilewright/cgra/sat/cnf.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tilewright::cgra {

// Doubles the room, where there is memory for the old and the new one.
void Cnf::grow(size_t literals) {
  const size_t room = std::max(2 * literals_.capacity(), literals);
  room_for(double(room) * sizeof(int));
  literals_.reserve(room);
}

void Cnf::room_for(double bytes) const {
  if (!deadline_ || deadline_->fits(bytes)) return;
  deadline_->expire(Ending::kMemory);
  throw Expired();
}

void Cnf::clause(std::span<const int> literals) {
  watch_.check();
  if (literals_.size() + literals.size() + 1 > literals_.capacity())
    grow(literals_.size() + literals.size() + 1);
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  literals_.push_back(0);
  ++clauses_;
}

void Cnf::at_most(int most, std::span<const int> literals) {
  const int count = int(literals.size());
  if (most < 0) {
    clause({});
    return;
  }
  if (count <= most) return;
  if (most == 0) {
    for (const int literal : literals) clause({-literal});
    return;
  }
  if (most == 1 && count <= 5) {
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < i; ++j) clause({-literals[i], -literals[j]});
    }
    return;
  }
  std::vector<int> before(most, 0), after(most, 0);  // 0: never true
  for (int i = 0; i < count; ++i) {
    if (before.back() != 0) clause({-literals[i], -before.back()});
    if (i + 1 == count) return;
    for (int j = 0; j < most; ++j) {
      after[j] = j <= i ? variable() : 0;
      if (after[j] == 0) continue;
      if (before[j] != 0) clause({-before[j], after[j]});
      if (j == 0) {
        clause({-literals[i], after[j]});
      } else if (before[j - 1] != 0) {
        clause({-literals[i], -before[j - 1], after[j]});
      }
    }
    before = after;
  }
}

std::string dimacs(const Cnf& cnf) {
  std::string text = fmt::format("p cnf {} {}\n", cnf.variables(), cnf.clauses());
  for (const int literal : cnf.literals()) {
    fmt::format_to(std::back_inserter(text), "{}{}", literal, literal == 0 ? '\n' : ' ');
  }
  return text;
}

}  // namespace tilewright::cgra
