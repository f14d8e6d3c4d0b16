// A satisfiability solver (CaDiCaL) that takes growing formulas and solves them under assumptions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tilewright/cgra/sat/cnf.h"

namespace tilewright::cgra {

enum class Satisfiable : uint8_t { kYes, kNo, kUnknown };

struct SatLimits {
  const Deadline* deadline = nullptr;  // time and memory
  int64_t conflicts = -1;              // -1: no limit; the same result on any machine
};

class SatSolver {
 public:
  SatSolver();
  ~SatSolver();
  SatSolver(SatSolver&&) noexcept;
  SatSolver& operator=(SatSolver&&) noexcept;

  // The clauses that `cnf` gained since the last call; always the same formula. Throws Expired as Cnf::clause
  // does.
  void add(const Cnf& cnf, const Deadline* deadline = nullptr);
  // An option of CaDiCaL ("seed", "phase", "chrono", ...), before the first clause. False: it has no such
  // option.
  bool option(const char* name, int value);
  // Writes a DRAT proof (text) of what follows to a file, from before the first clause on. False: the file
  // cannot be written.
  bool trace_proof(const std::string& path);
  // Completes the file.
  void close_proof();
  // The polarity in which decisions try the variable of `literal` first.
  void prefer(int literal);
  // kUnknown where a limit came first, or where add() was stopped.
  Satisfiable solve(std::span<const int> assumptions = {}, const SatLimits& limits = {});
  // After kYes: whether the literal holds.
  bool value(int literal) const;
  // After kNo: whether the assumption takes part in the contradiction.
  bool failed(int assumption) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::cgra
