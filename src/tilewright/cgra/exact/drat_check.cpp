// Forward checking. A lemma follows by reverse unit propagation (Goldberg and Novikov, DATE 2003): its
// negation, propagated with two watched literals per clause, ends in a contradiction; otherwise it must be a
// resolution asymmetric tautology on its first literal (Heule, Hunt, Wetzler, CADE 2013). Units stay assigned
// between lemmas; deleting the reason of one is ignored, as in other checkers.
#include "tilewright/cgra/exact/drat_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::cgra {
namespace {

using Clause = std::vector<int>;

class TextReader {
 public:
  TextReader(const std::string& text, const char* what)
      : at_(text.data()), end_(text.data() + text.size()), what_(what) {}

  // The next word of the text, empty at its end.
  std::string_view word() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t'))
      line_ += *at_++ == '\n';
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\n' && *at_ != '\r' && *at_ != '\t') ++at_;
    return {begin, size_t(at_ - begin)};
  }
  void skip_line() {
    while (at_ != end_ && *at_ != '\n') ++at_;
  }
  int number(std::string_view word) const {
    int value = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || rest != word.data() + word.size())
      fail(fmt::format("'{}' is not a number", word));
    return value;
  }
  // Literals up to 0, the first of them already read.
  Clause clause(std::string_view first, int variables) {
    Clause literals;
    for (std::string_view next = first;; next = word()) {
      if (next.empty()) fail("a clause without its 0");
      const int literal = number(next);
      if (literal == 0) return literals;
      if (std::abs(literal) > variables) fail(fmt::format("literal {} of {} variables", literal, variables));
      literals.push_back(literal);
    }
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}, line {}: {}", what_, line_, message));
  }

 private:
  const char* at_;
  const char* end_;
  const char* what_;
  int line_ = 1;
};

class DratChecker {
 public:
  explicit DratChecker(int variables)
      : value_(size_t(2 * variables + 2), 0), reason_(size_t(variables + 1), -1), watch_(value_.size()) {}

  bool contradiction() const { return contradiction_; }
  void add(const Clause& literals);
  void remove(const Clause& literals);
  bool by_propagation(const Clause& lemma);
  bool by_resolution(const Clause& lemma);

 private:
  static size_t index(int literal) { return size_t(literal > 0 ? 2 * literal : -2 * literal + 1); }
  bool holds(int literal) const { return value_[index(literal)] > 0; }
  bool fails(int literal) const { return value_[index(literal)] < 0; }
  void assign(int literal, int reason) {
    value_[index(literal)] = 1;
    value_[index(-literal)] = -1;
    reason_[size_t(std::abs(literal))] = reason;
    trail_.push_back(literal);
  }
  bool propagate();
  bool visit(int clause, int literal);
  bool assume_negation(const Clause& lemma);
  void undo(size_t size);
  static uint64_t hash(const Clause& sorted);
  static Clause sorted_form(Clause literals);

  std::vector<Clause> clauses_;  // empty: deleted; the two watched literals in front
  std::vector<int8_t> value_;    // by literal: 1 true, -1 false
  std::vector<int> reason_, trail_;
  std::vector<std::vector<int>> watch_;  // by literal: clauses that watch it
  std::unordered_multimap<uint64_t, int> by_hash_;
  size_t done_ = 0;  // of the trail
  bool contradiction_ = false;
};

Clause DratChecker::sorted_form(Clause literals) {
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

uint64_t DratChecker::hash(const Clause& sorted) {
  uint64_t value = 0x9E3779B97F4A7C15u;
  for (const int literal : sorted) value = (value ^ uint64_t(uint32_t(literal))) * 0xBF58476D1CE4E5B9u;
  return value ^ (value >> 29);
}

void DratChecker::undo(size_t size) {
  for (; trail_.size() > size; trail_.pop_back()) {
    value_[index(trail_.back())] = value_[index(-trail_.back())] = 0;
  }
  done_ = size;
}

// Whether the clause, one of whose watches is `literal`, now false, is no contradiction. It leaves the list
// by taking another watch, or stays.
bool DratChecker::visit(int clause, int literal) {
  Clause& literals = clauses_[size_t(clause)];
  if (literals[0] == literal) std::swap(literals[0], literals[1]);
  if (!holds(literals[0])) {
    for (size_t i = 2; i < literals.size(); ++i) {
      if (fails(literals[i])) continue;
      std::swap(literals[1], literals[i]);
      watch_[index(literals[1])].push_back(clause);
      return true;
    }
    watch_[index(literal)].push_back(clause);
    if (fails(literals[0])) return false;
    assign(literals[0], clause);
    return true;
  }
  watch_[index(literal)].push_back(clause);
  return true;
}

bool DratChecker::propagate() {
  while (done_ < trail_.size()) {
    const int literal = -trail_[done_++];
    std::vector<int> list;
    list.swap(watch_[index(literal)]);
    for (size_t i = 0; i < list.size(); ++i) {
      if (clauses_[size_t(list[i])].empty() || visit(list[i], literal)) continue;
      std::vector<int>& kept = watch_[index(literal)];
      kept.insert(kept.end(), list.begin() + long(i) + 1, list.end());
      return false;
    }
  }
  return true;
}

void DratChecker::add(const Clause& literals) {
  Clause clause = sorted_form(literals);
  const int id = int(clauses_.size());
  by_hash_.emplace(hash(clause), id);
  std::stable_partition(clause.begin(), clause.end(), [&](int literal) { return !fails(literal); });
  clauses_.push_back(clause);
  if (clause.empty() || fails(clause[0])) {
    contradiction_ = true;
    return;
  }
  if (clause.size() > 1) {
    watch_[index(clause[0])].push_back(id);
    watch_[index(clause[1])].push_back(id);
  }
  if ((clause.size() == 1 || fails(clause[1])) && !holds(clause[0])) {
    assign(clause[0], id);
    contradiction_ = !propagate();
  }
}

void DratChecker::remove(const Clause& literals) {
  const Clause sorted = sorted_form(literals);
  const auto [begin, end] = by_hash_.equal_range(hash(sorted));
  for (auto entry = begin; entry != end; ++entry) {
    Clause& clause = clauses_[size_t(entry->second)];
    if (sorted_form(clause) != sorted) continue;
    for (const int literal : clause) {
      if (holds(literal) && reason_[size_t(std::abs(literal))] == entry->second) return;
    }
    clause.clear();
    by_hash_.erase(entry);
    return;
  }
}

// Whether a contradiction follows; the trail keeps what was assumed and derived.
bool DratChecker::assume_negation(const Clause& lemma) {
  for (const int literal : lemma) {
    if (holds(literal)) return true;
    if (!fails(literal)) assign(-literal, -1);
  }
  return !propagate();
}

bool DratChecker::by_propagation(const Clause& lemma) {
  const size_t size = trail_.size();
  const bool follows = assume_negation(lemma);
  undo(size);
  return follows;
}

bool DratChecker::by_resolution(const Clause& lemma) {
  if (lemma.empty()) return false;
  const size_t size = trail_.size();
  assume_negation(lemma);
  const size_t assumed = trail_.size();
  bool follows = true;
  for (size_t i = 0; i < clauses_.size() && follows; ++i) {
    const Clause other = clauses_[i];
    if (std::find(other.begin(), other.end(), -lemma[0]) == other.end()) continue;
    Clause rest;
    for (const int literal : other) {
      if (literal != -lemma[0]) rest.push_back(literal);
    }
    follows = assume_negation(rest);
    undo(assumed);
  }
  undo(size);
  return follows;
}

}  // namespace

DratCheck check_drat(const std::string& formula, const std::string& proof, const Deadline* deadline) {
  DratCheck result;
  TextReader reader(formula, "formula");
  std::string_view word = reader.word();
  for (; word == "c"; word = reader.word()) reader.skip_line();
  if (word != "p" || reader.word() != "cnf") reader.fail("'p cnf VARIABLES CLAUSES' is expected");
  result.variables = reader.number(reader.word());
  const int64_t expected = reader.number(reader.word());
  if (result.variables < 0) reader.fail("a negative number of variables");
  DratChecker checker(result.variables);
  for (word = reader.word(); !word.empty(); word = reader.word(), ++result.clauses) {
    const Clause clause = reader.clause(word, result.variables);
    if (deadline) deadline->check();
    if (!checker.contradiction()) checker.add(clause);
  }
  if (result.clauses != expected)
    reader.fail(fmt::format("{} clauses, {} are announced", result.clauses, expected));
  TextReader steps(proof, "proof");
  while (!checker.contradiction()) {
    if (deadline) deadline->check();
    word = steps.word();
    if (word.empty()) {
      result.problem = "the proof ends without a contradiction";
      return result;
    }
    if (word == "d") {
      checker.remove(steps.clause(steps.word(), result.variables));
      ++result.deletions;
      continue;
    }
    const Clause lemma = steps.clause(word, result.variables);
    ++result.lemmas;
    if (!checker.by_propagation(lemma)) {
      ++result.by_resolution;
      if (!checker.by_resolution(lemma)) {
        result.problem = fmt::format("lemma {} does not follow", result.lemmas);
        return result;
      }
    }
    checker.add(lemma);
  }
  result.proven = true;
  return result;
}

}  // namespace tilewright::cgra
