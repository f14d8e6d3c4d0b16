// The formula of one horizon, solved alone with CaDiCaL's proof tracing. The windows of a plain formula are
// those of the question itself: from the release to the horizon less the tail.
#include "tilewright/cgra/exact/refutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "tilewright/base/file.h"
#include "tilewright/cgra/exact/placement_sat.h"

namespace tilewright::cgra {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::optional<TimeWindows> plain_windows(const PlacementConstraints& constraints,
                                         const SortedConstraints& sorted, int horizon) {
  TimeWindows windows{{}, {}, sorted.edges};
  for (int node = 0; node < constraints.model.nodes; ++node) {
    const int fixed = sorted.fixed_time[node], last = horizon - constraints.tail(node);
    windows.low.push_back(fixed < 0 ? constraints.release(node) : fixed);
    windows.high.push_back(fixed < 0 ? last : std::min(fixed, last));
    if (windows.low.back() > windows.high.back()) return std::nullopt;
  }
  return windows;
}

// Of schedules of any length: no edge's timing, a start for every slot.
TimeWindows slots_alone(const PlacementConstraints& constraints) {
  const auto nodes = size_t(constraints.model.nodes);
  return {std::vector<int>(nodes, 0), std::vector<int>(nodes, constraints.model.ii - 1), {}};
}

Cnf question(const PlacementConstraints& constraints, const SortedConstraints& sorted, int horizon,
             bool plain) {
  const bool any = horizon == kAnyLength;
  const TimeBounds bounds(constraints, sorted, !any);
  auto windows = any ? bounds.any_length() : bounds.within(horizon);
  if (any && !windows) windows = slots_alone(constraints);
  // Windows that are empty by derivation are left to the proof.
  const bool as_asked = !any && (plain || !windows);
  if (as_asked) windows = plain_windows(constraints, sorted, horizon);
  if (!windows) {
    Cnf impossible;
    impossible.clause({});
    return impossible;
  }
  const bool derived = !any && !as_asked;
  return PlacementFormula(constraints, sorted, *windows, {.break_symmetry = derived, .count_near = derived})
      .cnf();
}

// A graph's name as (the beginning of) a file's: it may have slashes, or be as long as a line.
std::string file_name(std::string name) {
  constexpr std::string_view kKept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  constexpr size_t kMostLetters = 100;
  for (char& letter : name) {
    if (kKept.find(letter) == std::string_view::npos) letter = '_';
  }
  return name.substr(0, kMostLetters);
}

void refute_within(const MappingProblem& problem, int horizon, const std::filesystem::path& folder,
                   const RefutationOptions& options, Refutation& made) {
  const PlacementConstraints constraints = placement_constraints(problem, options.limits.deadline);
  const SortedConstraints sorted = sort_constraints(constraints);
  const Cnf cnf = question(constraints, sorted, horizon, options.plain);
  const std::string name = fmt::format("{}-ii{}-{}", file_name(problem.graph.name), problem.ii,
                                       horizon == kAnyLength ? "any" : std::to_string(horizon));
  made.formula = folder / (name + ".cnf");
  made.proof = folder / (name + ".drat");
  write_text_file(made.formula, dimacs(cnf));
  const auto start = Clock::now();
  SatSolver solver;
  if (!solver.trace_proof(made.proof.string()))
    throw Error(ErrorKind::kInvalidInput, made.proof.string() + ": cannot be written");
  solver.add(cnf, options.limits.deadline);
  made.answer = solver.solve({}, options.limits);
  solver.close_proof();
  made.solve_seconds = seconds_since(start);
  // Tiles and slots alone may be possible where the gaps are not.
  if (made.answer == Satisfiable::kYes && horizon == kAnyLength &&
      !TimeBounds(constraints, sorted, false).any_length())
    made.answer = Satisfiable::kUnknown;
  if (made.answer != Satisfiable::kNo) return;
  const auto check = Clock::now();
  const std::string proof = read_text_file(made.proof);
  made.proof_bytes = int64_t(proof.size());
  made.check = check_drat(read_text_file(made.formula), proof, options.limits.deadline);
  made.check_seconds = seconds_since(check);
}

}  // namespace

Refutation refute(const MappingProblem& problem, int horizon, const std::filesystem::path& folder,
                  const RefutationOptions& options) {
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any("refutation");
  const Deadline none;
  Refutation made;
  finishes(options.limits.deadline ? *options.limits.deadline : none,
           [&] { refute_within(problem, horizon, folder, options, made); });
  return made;
}

}  // namespace tilewright::cgra
