// Each formula is made for a few horizons at once: the windows of the longest of them, and a literal per
// shorter one that narrows them, so that what the solver learns about one serves the next. Questions from
// below and from above take turns, each with a limit in conflicts that doubles.
#include "tilewright/cgra/exact/exact_mapper.h"

#include <algorithm>
#include <map>
#include <memory>

#include "tilewright/cgra/exact/impossible.h"
#include "tilewright/cgra/exact/placement_sat.h"
#include "tilewright/cgra/heuristic/list_schedule.h"

namespace tilewright::cgra {
namespace {

constexpr int kHorizonsPerFormula = 8;
constexpr int64_t kFirstConflicts = 4000;

class ExactSearch {
 public:
  ExactSearch(const MappingProblem& problem, const MapperOptions& options)
      : problem_(problem),
        options_(options),
        deadline_(options.limits.seconds),
        constraints_(placement_constraints(problem)),
        sorted_(sort_constraints(constraints_)),
        bounds_(constraints_, sorted_) {}

  MappingResult run() {
    if (!exclude() && start()) close_gap();
    result_.seconds = deadline_.seconds();
    return std::move(result_);
  }

 private:
  bool stopped() const {
    return deadline_.seconds() >= deadline_.limit() ||
           result_.counts.evaluations >= options_.limits.evaluations;
  }
  SatLimits limits(int64_t conflicts) const {
    return {std::max(0.0, deadline_.limit() - deadline_.seconds()), conflicts};
  }
  bool exclude();
  bool start();
  void close_gap();
  Satisfiable ask(int horizon, int64_t conflicts);
  void make_formula(int top);
  void improve(std::vector<Place> places);
  void infeasible();

  const MappingProblem& problem_;
  const MapperOptions& options_;
  Deadline deadline_;
  PlacementConstraints constraints_;
  SortedConstraints sorted_;
  TimeBounds bounds_;
  MappingResult result_;
  std::unique_ptr<PlacementFormula> formula_;
  std::unique_ptr<SatSolver> solver_;
  int top_ = -1;
  std::map<int, int> horizon_literal_;
};

void ExactSearch::infeasible() {
  std::vector<std::string> names;
  for (const Node& node : problem_.graph.nodes) names.push_back(node.name);
  result_.status = SearchStatus::kInfeasible;
  result_.conflict = explain_impossible(constraints_, names, limits(100000));
}

bool ExactSearch::exclude() {
  if (!counted_out(constraints_, sorted_)) return false;
  infeasible();
  return true;
}

void ExactSearch::improve(std::vector<Place> places) {
  Mapping mapping{problem_.ii, std::move(places), {}};
  TILEWRIGHT_CHECK(check_mapping(problem_, mapping).empty(), "mappings that are found keep the rules");
  const int makespan = makespan_cycles(mapping, constraints_.model.latency_cycles);
  if (result_.mapping && result_.makespan <= makespan) return;
  result_.mapping = std::move(mapping);
  result_.makespan = makespan;
  result_.curve.push_back({deadline_.seconds(), result_.counts, makespan, result_.lower_bound});
}

// A first mapping and the first bound.
bool ExactSearch::start() {
  const PlacementDecoder decoder(constraints_.model);
  if (const auto list = list_schedule(decoder)) {
    Mapping mapping{problem_.ii, list->places, {}};
    if (check_mapping(problem_, mapping).empty()) improve(list->places);
  }
  if (!result_.mapping) {
    ++result_.counts.evaluations;
    const AnyMapping any = find_any_mapping(constraints_, limits(-1));
    if (any.exists == Satisfiable::kNo) {
      infeasible();
      return false;
    }
    if (any.exists == Satisfiable::kYes) improve(any.mapping->places);
  }
  int most = result_.mapping ? result_.makespan : 2 * constraints_.model.latency_cycles;
  while (!(bounds_.within(most))) most *= 2;
  result_.lower_bound = *bounds_.least_makespan(most);
  result_.status = result_.mapping ? SearchStatus::kFeasible : SearchStatus::kStopped;
  return true;
}

void ExactSearch::make_formula(int top) {
  const auto windows = bounds_.within(top);
  formula_ = std::make_unique<PlacementFormula>(constraints_, sorted_, *windows);
  solver_ = std::make_unique<SatSolver>();
  solver_->option("seed", int(options_.seed % 1000000000));
  top_ = top;
  horizon_literal_ = {{top, formula_->truth()}};
}

Satisfiable ExactSearch::ask(int horizon, int64_t conflicts) {
  const auto windows = bounds_.within(horizon);
  if (!windows) return Satisfiable::kNo;
  if (!formula_ || horizon > top_) {
    const int most = result_.mapping ? result_.makespan - 1 : horizon + kHorizonsPerFormula;
    make_formula(std::min(most, horizon + kHorizonsPerFormula));
  }
  const auto [literal, fresh] = horizon_literal_.try_emplace(horizon, 0);
  if (fresh) literal->second = formula_->narrower(*windows);
  solver_->add(formula_->cnf());
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

MappingResult map_exact(const MappingProblem& problem, const MapperOptions& options) {
  options.limits.verify();
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  if (problem.rules.routed) {
    diagnostics.error(ErrorKind::kUnsupported, "problem", "routed", "this mapper places without routes",
                      "take the routed exact mapper");
  }
  diagnostics.raise_if_any("exact mapper");
  return ExactSearch(problem, options).run();
}

}  // namespace tilewright::cgra
