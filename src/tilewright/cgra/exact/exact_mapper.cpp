// Each formula is made for a few horizons at once: the windows of the longest of them, and a literal per
// shorter one that narrows them, so that what the solver learns about one serves the next. Questions from
// below and from above take turns, each with a limit in conflicts that doubles.
#include "tilewright/cgra/exact/exact_mapper.h"

#include <algorithm>
#include <map>
#include <memory>

#include "tilewright/cgra/exact/impossible.h"
#include "tilewright/cgra/exact/limited_search.h"
#include "tilewright/cgra/exact/placement_sat.h"
#include "tilewright/cgra/exact/routed_mapper.h"
#include "tilewright/cgra/heuristic/list_schedule.h"

namespace tilewright::cgra {
namespace {

constexpr int kHorizonsPerFormula = 8;
constexpr int64_t kFirstConflicts = 4000;

class ExactSearch : LimitedSearch {
 public:
  ExactSearch(const PlacementConstraints& constraints, const GraphMapperOptions& options)
      : LimitedSearch(options), constraints_(constraints) {}

  MappingResult run(const std::vector<Place>& places) {
    if (!places.empty()) improve(places);
    return result_of([&] {
      sorted_ = sort_constraints(constraints_);
      if (counted_out(constraints_, sorted_)) {
        result_.status = SearchStatus::kInfeasible;
        return;
      }
      bounds_.emplace(constraints_, sorted_);
      if (start()) close_gap();
    });
  }

 private:
  bool start();
  void close_gap();
  Satisfiable ask(int horizon, int64_t conflicts);
  void make_formula(int top);
  void improve(std::vector<Place> places);

  const PlacementConstraints& constraints_;
  SortedConstraints sorted_;
  std::optional<TimeBounds> bounds_;
  std::unique_ptr<PlacementFormula> formula_;
  std::unique_ptr<SatSolver> solver_;
  int top_ = -1;
  std::map<int, int> horizon_literal_;
};

void ExactSearch::improve(std::vector<Place> places) {
  const int makespan = constraints_.makespan(places);
  if (result_.mapping && result_.makespan <= makespan) return;
  result_.mapping = GraphMapping{constraints_.model.ii, std::move(places), {}};
  result_.makespan = makespan;
  result_.curve.push_back({deadline_.seconds(), result_.counts, makespan, result_.lower_bound});
}

// A first mapping and the first bound.
bool ExactSearch::start() {
  if (!result_.mapping) {
    ++result_.counts.evaluations;
    AnyMapping any = find_any_mapping(constraints_, limits(-1));
    if (any.exists == Satisfiable::kNo) {
      result_.status = SearchStatus::kInfeasible;
      return false;
    }
    if (any.exists == Satisfiable::kYes) improve(std::move(any.mapping->places));
  }
  int most = result_.mapping ? result_.makespan : 2 * constraints_.model.latency_cycles;
  constexpr int kLongest = 1 << 20;  // where it is not known whether there is any mapping
  while (most < kLongest && !bounds_->within(most)) most *= 2;
  result_.lower_bound = bounds_->least_makespan(most).value_or(most);
  result_.status = result_.mapping ? SearchStatus::kFeasible : SearchStatus::kStopped;
  return true;
}

void ExactSearch::make_formula(int top) {
  const auto windows = bounds_->within(top);
  formula_ = std::make_unique<PlacementFormula>(constraints_, sorted_, *windows,
                                                FormulaOptions{.deadline = &deadline_});
  solver_ = std::make_unique<SatSolver>();
  solver_->option("seed", int(options_.seed % 1000000000));
  top_ = top;
  horizon_literal_ = {{top, formula_->truth()}};
}

Satisfiable ExactSearch::ask(int horizon, int64_t conflicts) {
  const auto windows = bounds_->within(horizon);
  if (!windows) return Satisfiable::kNo;
  if (!formula_ || horizon > top_) {
    const int most = result_.mapping ? result_.makespan - 1 : horizon + kHorizonsPerFormula;
    make_formula(std::min(most, horizon + kHorizonsPerFormula));
  }
  const auto [literal, fresh] = horizon_literal_.try_emplace(horizon, 0);
  if (fresh) literal->second = formula_->narrower(*windows);
  solver_->add(formula_->cnf(), &deadline_);
  ++result_.counts.evaluations;
  const Satisfiable answer = solver_->solve(std::vector<int>{literal->second}, limits(conflicts));
  if (answer == Satisfiable::kYes) improve(formula_->places(*solver_));
  return answer;
}

void ExactSearch::close_gap() {
  for (int64_t conflicts = kFirstConflicts; !stopped(); conflicts *= 2) {
    const auto open = [&] { return !result_.mapping || result_.lower_bound < result_.makespan; };
    Satisfiable low = Satisfiable::kNo;
    while (open() && low == Satisfiable::kNo && !stopped()) {
      low = ask(result_.lower_bound, conflicts);
      if (low == Satisfiable::kNo) ++result_.lower_bound;
    }
    if (open() && result_.mapping && !stopped()) {
      const int high = std::min(result_.makespan - 1, top_);
      if (high > result_.lower_bound && ask(high, conflicts) == Satisfiable::kNo)
        result_.lower_bound = high + 1;
    }
    if (open()) continue;
    result_.status = SearchStatus::kOptimal;
    return;
  }
}

}  // namespace

MappingResult solve_exact(const PlacementConstraints& constraints, const std::vector<Place>& start,
                          const GraphMapperOptions& options) {
  return ExactSearch(constraints, options).run(start);
}

namespace {

void map_places(const MappingProblem& problem, const GraphMapperOptions& options, const Deadline& deadline,
                MappingResult& result) {
  const PlacementConstraints constraints = placement_constraints(problem, &deadline);
  std::vector<Place> start;
  if (const auto list = list_schedule(PlacementDecoder(constraints.model))) {
    // The decoder leaves the limits of instructions and tile memories to the checker.
    if (check_mapping(problem, {problem.ii, list->places, {}}).empty()) start = list->places;
  }
  GraphMapperOptions rest = options;
  rest.limits.deadline = &deadline;
  result = solve_exact(constraints, start, rest);
  if (result.mapping) {
    TILEWRIGHT_CHECK(check_mapping(problem, *result.mapping).empty(),
                     "mappings that are found keep the rules");
  }
  if (result.status == SearchStatus::kInfeasible) {
    std::vector<std::string> names;
    for (const DataflowNode& node : problem.graph.nodes) names.push_back(node.name);
    constexpr int64_t kConflictsPerQuestion = 20000;
    result.conflict = explain_impossible(constraints, names, {&deadline, kConflictsPerQuestion});
  }
}

}  // namespace

MappingResult map_exact(const MappingProblem& problem, const GraphMapperOptions& options) {
  if (problem.rules.routed) return map_exact_routed(problem, options);
  options.limits.verify();
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any("exact mapper");
  const Deadline deadline(options.limits.seconds, options.limits.deadline);
  MappingResult result;
  finishes(deadline, [&] { map_places(problem, options, deadline, result); });
  result.seconds = deadline.seconds();
  if (result.ending == Ending::kNone) result.ending = deadline.ending();
  return result;
}

}  // namespace tilewright::cgra
