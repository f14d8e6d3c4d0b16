// CaDiCaL (Biere, Fazekas, Fleury, Heisinger 2020) behind the project's own interface, with a limit in
// seconds.
#include "tilewright/cgra/sat/solver.h"

#include <algorithm>
#include <cadical.hpp>
#include <chrono>

namespace tilewright::cgra {
namespace {

using Clock = std::chrono::steady_clock;

class Stopper : public CaDiCaL::Terminator {
 public:
  explicit Stopper(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)))) {}
  bool terminate() override { return Clock::now() >= end_; }

 private:
  Clock::time_point end_;
};

}  // namespace

struct SatSolver::State {
  CaDiCaL::Solver solver;
  size_t taken = 0;
};

SatSolver::SatSolver() : state_(std::make_unique<State>()) {
  state_->solver.set("quiet", 1);  // else it prints a line where a clause is false from the start
}
SatSolver::~SatSolver() = default;
SatSolver::SatSolver(SatSolver&&) noexcept = default;
SatSolver& SatSolver::operator=(SatSolver&&) noexcept = default;

void SatSolver::add(const Cnf& cnf) {
  state_->solver.reserve(cnf.variables());
  for (; state_->taken < cnf.literals().size(); ++state_->taken) {
    state_->solver.add(cnf.literals()[state_->taken]);
  }
}

bool SatSolver::option(const char* name, int value) { return state_->solver.set(name, value); }

bool SatSolver::trace_proof(const std::string& path) {
  return state_->solver.set("binary", 0) && state_->solver.trace_proof(path.c_str());
}

void SatSolver::close_proof() { state_->solver.close_proof_trace(); }

void SatSolver::prefer(int literal) { state_->solver.phase(literal); }

Satisfiable SatSolver::solve(std::span<const int> assumptions, const SatLimits& limits) {
  for (const int literal : assumptions) state_->solver.assume(literal);
  Stopper stopper(limits.seconds);
  const bool timed = limits.seconds < 1e8;
  if (timed) state_->solver.connect_terminator(&stopper);
  if (limits.conflicts >= 0) {
    state_->solver.limit("conflicts", int(std::min<int64_t>(limits.conflicts, 2000000000)));
  }
  const int answer = state_->solver.solve();
  if (timed) state_->solver.disconnect_terminator();
  if (answer == 10) return Satisfiable::kYes;
  return answer == 20 ? Satisfiable::kNo : Satisfiable::kUnknown;
}

bool SatSolver::value(int literal) const { return state_->solver.val(literal) > 0; }

bool SatSolver::failed(int assumption) const { return state_->solver.failed(assumption); }

}  // namespace tilewright::cgra
