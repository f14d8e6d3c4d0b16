// CaDiCaL (Biere, Fazekas, Fleury, Heisinger 2020) behind the project's own interface, with a deadline.
#include "tilewright/cgra/sat/solver.h"

#include <algorithm>
#include <cadical.hpp>
#include <optional>

namespace tilewright::cgra {
namespace {

// What the solver takes for a formula, about: clauses with their watches, and its tables of variables.
constexpr double kClauseBytes = 90, kVariableBytes = 350;

class Stopper : public CaDiCaL::Terminator {
 public:
  explicit Stopper(const Deadline& deadline) : deadline_(deadline) {}
  bool terminate() override { return deadline_.over(); }

 private:
  const Deadline& deadline_;
};

}  // namespace

struct SatSolver::State {
  CaDiCaL::Solver solver;
  size_t taken = 0;
  int clauses = 0, variables = 0;
};

SatSolver::SatSolver() : state_(std::make_unique<State>()) {
  state_->solver.set("quiet", 1);  // else it prints a line where a clause is false from the start
}
SatSolver::~SatSolver() = default;
SatSolver::SatSolver(SatSolver&&) noexcept = default;
SatSolver& SatSolver::operator=(SatSolver&&) noexcept = default;

void SatSolver::add(const Cnf& cnf, const Deadline* deadline) {
  const double bytes = kClauseBytes * (cnf.clauses() - state_->clauses) +
                       kVariableBytes * std::max(0, cnf.variables() - state_->variables);
  if (deadline && !deadline->fits(bytes)) {
    deadline->expire(Ending::kMemory);
    throw Expired();
  }
  DeadlineWatch watch(deadline);
  state_->solver.reserve(cnf.variables());
  for (; state_->taken < cnf.literals().size(); ++state_->taken) {
    const int literal = cnf.literals()[state_->taken];
    state_->solver.add(literal);
    if (literal == 0) watch.check();
  }
  state_->clauses = cnf.clauses();
  state_->variables = cnf.variables();
}

bool SatSolver::option(const char* name, int value) { return state_->solver.set(name, value); }

bool SatSolver::trace_proof(const std::string& path) {
  return state_->solver.set("binary", 0) && state_->solver.trace_proof(path.c_str());
}

void SatSolver::close_proof() { state_->solver.close_proof_trace(); }

void SatSolver::prefer(int literal) { state_->solver.phase(literal); }

Satisfiable SatSolver::solve(std::span<const int> assumptions, const SatLimits& limits) {
  if (limits.deadline && limits.deadline->over()) return Satisfiable::kUnknown;
  for (const int literal : assumptions) state_->solver.assume(literal);
  std::optional<Stopper> stopper;
  if (limits.deadline) state_->solver.connect_terminator(&stopper.emplace(*limits.deadline));
  if (limits.conflicts >= 0) {
    state_->solver.limit("conflicts", int(std::min<int64_t>(limits.conflicts, 2000000000)));
  }
  const int answer = state_->solver.solve();
  if (stopper) state_->solver.disconnect_terminator();
  if (answer == 10) return Satisfiable::kYes;
  return answer == 20 ? Satisfiable::kNo : Satisfiable::kUnknown;
}

bool SatSolver::value(int literal) const { return state_->solver.val(literal) > 0; }

bool SatSolver::failed(int assumption) const { return state_->solver.failed(assumption); }

}  // namespace tilewright::cgra
