// One formula per horizon (routed_formula.h), kept with what its solver has learnt. Questions about the
// lowest open horizon and about longer ones, which give a first mapping, take turns; each turn's limit in
// conflicts doubles.
#include "tilewright/cgra/exact/routed_mapper.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/limited_search.h"
#include "tilewright/cgra/exact/routed_formula.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

constexpr int64_t kFirstRoutedConflicts = 20000;
constexpr int64_t kRepairConflicts = 5000;   // per set of nodes set free
constexpr int64_t kCoreConflicts = 100;      // to leave one of them out
constexpr int64_t kRoutingConflicts = 2000;  // to route the optimum of the placement tier

// What all horizons share.
struct Compiled {
  Compiled(const MappingProblem& problem, const Deadline& deadline)
      : constraints(placement_constraints(problem, &deadline)),
        sorted(sort_constraints(constraints)),
        bounds(constraints, sorted),
        fabric(compile_routing_fabric(problem.fabric, &deadline)) {}
  PlacementConstraints constraints;
  SortedConstraints sorted;
  TimeBounds bounds;
  RoutingFabric fabric;
};

struct Question {
  Question(const Compiled& compiled, const TimeWindows& windows, uint64_t seed)
      : formula(compiled.constraints, compiled.sorted, windows, compiled.fabric) {
    solver.option("seed", int(seed % 1000000000));
    // As CaDiCaL's own configuration for satisfiable formulas: the usual answer at the lowest horizon is yes.
    solver.option("stabilizeonly", 1);
    solver.option("elimreleff", 10);
    solver.option("subsumereleff", 60);
    solver.add(formula.cnf(), compiled.constraints.model.deadline);
  }
  RoutedFormula formula;
  SatSolver solver;
};

class RoutedSearch : LimitedSearch {
 public:
  RoutedSearch(const MappingProblem& problem, const GraphMapperOptions& options)
      : LimitedSearch(options), problem_(problem) {
    problem_.rules.routed = true;
  }

  MappingResult run() {
    return result_of([&] {
      if (place()) close_gap();
    });
  }

 private:
  bool open() const { return !result_.mapping || result_.lower_bound < result_.makespan; }
  bool place();
  void close_gap();
  Satisfiable ask(int horizon, int64_t conflicts);
  Satisfiable repair(Question& question);
  void improve(GraphMapping mapping);
  void unroutable();

  MappingProblem problem_;
  std::optional<Compiled> compiled_;
  std::map<int, std::unique_ptr<Question>> questions_;  // by horizon
  std::optional<GraphMapping> unrouted_;                // the placement tier's optimum
};

// The placement tier's answer; false where it settles the matter.
bool RoutedSearch::place() {
  MappingProblem places = problem_;
  places.rules.routed = false;
  GraphMapperOptions half = options_;  // of the time: the rest is for ways
  half.limits.deadline = &deadline_;
  half.limits.seconds = std::max(1e-6, deadline_.left() / 2);
  result_ = map_exact(places, half);
  const bool infeasible = result_.status == SearchStatus::kInfeasible;
  const std::optional<GraphMapping> mapping = unrouted_ = std::exchange(result_.mapping, std::nullopt);
  result_.makespan = 0;
  result_.curve.clear();
  if (infeasible) return false;
  if (mapping) result_.status = SearchStatus::kStopped;  // no ways yet
  compiled_.emplace(problem_, deadline_);
  if (mapping && !stopped()) {
    RoutingResult routed =
        route_places(problem_, compiled_->fabric, *mapping,
                     {.deadline = &deadline_, .conflicts = kRoutingConflicts, .core_conflicts = 0});
    if (routed.status == SearchStatus::kFeasible)
      improve({mapping->ii, mapping->places, std::move(routed.routes)});
  }
  result_.status = result_.mapping ? SearchStatus::kFeasible : SearchStatus::kStopped;
  if (!open()) result_.status = SearchStatus::kOptimal;
  return open();
}

void RoutedSearch::improve(GraphMapping mapping) {
  TILEWRIGHT_CHECK(check_mapping(problem_, mapping).empty(), "mappings that are found keep the rules");
  const int makespan = makespan_cycles(mapping, problem_.fabric.operation_latency_cycles);
  if (result_.mapping && result_.makespan <= makespan) return;
  result_.mapping = std::move(mapping);
  result_.makespan = makespan;
  result_.curve.push_back({deadline_.seconds(), result_.counts, makespan, result_.lower_bound});
}

Satisfiable RoutedSearch::ask(int horizon, int64_t conflicts) {
  std::unique_ptr<Question>& question = questions_[horizon];
  if (!question) {
    const auto windows = compiled_->bounds.within(horizon);
    if (!windows) return Satisfiable::kNo;
    question = std::make_unique<Question>(*compiled_, *windows, options_.seed);
  }
  ++result_.counts.evaluations;
  Satisfiable answer = Satisfiable::kUnknown;
  if (unrouted_ && makespan_cycles(*unrouted_, compiled_->constraints.model.latency_cycles) <= horizon) {
    answer = repair(*question);
    unrouted_.reset();
  }
  if (answer == Satisfiable::kUnknown) answer = question->solver.solve({}, limits(conflicts));
  if (answer == Satisfiable::kYes) {
    GraphMapping mapping = question->formula.mapping(question->solver);
    // The solver's ways may take turns; the shortest ones are nicer where they fit.
    if (auto routed = route_places(problem_, compiled_->fabric, mapping,
                                   {.deadline = &deadline_, .conflicts = 0, .core_conflicts = 0});
        routed.status == SearchStatus::kFeasible)
      mapping.routes = std::move(routed.routes);
    improve(std::move(mapping));
  }
  return answer;
}

// Starts from the places of the placement tier's optimum as assumptions and sets free, again and again, a
// smallest set of nodes whose places contradict each other. Few decisions are left to a search from there,
// and what is learnt on the way serves the search without assumptions if it comes to that (kUnknown).
Satisfiable RoutedSearch::repair(Question& question) {
  std::vector<int> kept(unrouted_->places.size()), assumed;
  std::iota(kept.begin(), kept.end(), 0);
  const auto literal = [&](int node) {
    const Place& place = unrouted_->places[node];
    return question.formula.placed(node, place.tile, place.time);
  };
  std::erase_if(kept, [&](int node) { return literal(node) == 0; });
  const auto ask_with = [&](const std::vector<int>& nodes, int64_t conflicts) {
    assumed.clear();
    for (const int node : nodes) assumed.push_back(literal(node));
    ++result_.counts.evaluations;
    return question.solver.solve(assumed, limits(conflicts));
  };
  const auto is_free = [&](int node) { return !question.solver.failed(literal(node)); };
  while (!kept.empty() && !stopped()) {
    const Satisfiable answer = ask_with(kept, kRepairConflicts);
    if (answer != Satisfiable::kNo) return answer;
    std::vector<int> core = kept;
    std::erase_if(core, is_free);
    if (core.empty()) return answer;  // a contradiction without any assumption
    for (size_t tried = 0; core.size() > 1 && tried < core.size();) {
      const int left_out = core[tried];
      std::vector<int> without = core;
      std::erase(without, left_out);
      if (ask_with(without, kCoreConflicts) != Satisfiable::kNo) {
        ++tried;
        continue;
      }
      core = without;
      std::erase_if(core, is_free);
      if (core.empty()) return Satisfiable::kNo;
    }
    std::erase_if(kept, [&](int node) { return std::find(core.begin(), core.end(), node) != core.end(); });
  }
  return Satisfiable::kUnknown;
}

void RoutedSearch::unroutable() {
  result_.status = SearchStatus::kInfeasible;
  result_.conflict = Conflict{{},
                              {Rule::kLink, Rule::kPassThrough, Rule::kDelayRegister},
                              "placements exist, but none, of any length, has routes for all values"};
  for (int node = 0; node < compiled_->constraints.model.nodes; ++node)
    result_.conflict->nodes.push_back(node);
}

void RoutedSearch::close_gap() {
  const int64_t longest = longest_routed_makespan(problem_);
  int further = 0;  // from the bound to the longer horizon that is tried
  for (int64_t conflicts = kFirstRoutedConflicts; !stopped(); conflicts *= 2) {
    Satisfiable low = Satisfiable::kNo;
    while (open() && low == Satisfiable::kNo && !stopped()) {
      low = ask(result_.lower_bound, conflicts);
      if (low != Satisfiable::kNo) continue;
      questions_.erase(result_.lower_bound++);
      if (result_.lower_bound > longest) return unroutable();
    }
    if (open() && !stopped()) {
      further = 2 * further + 1;
      const int high = result_.mapping ? result_.makespan - 1 : result_.lower_bound + further;
      if (high > result_.lower_bound && ask(high, conflicts) == Satisfiable::kNo)
        result_.lower_bound = high + 1;
      if (result_.lower_bound > longest) return unroutable();
    }
    result_.status = result_.mapping ? SearchStatus::kFeasible : SearchStatus::kStopped;
    if (open()) continue;
    result_.status = SearchStatus::kOptimal;
    return;
  }
}

}  // namespace

MappingResult map_exact_routed(const MappingProblem& problem, const GraphMapperOptions& options) {
  options.limits.verify();
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any("exact mapper");
  return RoutedSearch(problem, options).run();
}

RoutedAnswer find_routed_mapping(const MappingProblem& problem, int horizon_cycles, const SatLimits& limits) {
  const Deadline own;
  const Compiled compiled(problem, limits.deadline ? *limits.deadline : own);
  const auto windows = compiled.bounds.within(horizon_cycles);
  if (!windows) return {Satisfiable::kNo, std::nullopt};
  Question question(compiled, *windows, 0);
  RoutedAnswer answer{question.solver.solve({}, limits), std::nullopt};
  if (answer.exists == Satisfiable::kYes) answer.mapping = question.formula.mapping(question.solver);
  return answer;
}

int64_t longest_routed_makespan(const MappingProblem& problem) {
  int64_t room = int64_t(problem.fabric.tiles()) * problem.fabric.delay_registers;
  for (const FabricLink& link : fabric_links(problem.fabric)) room += link.cycles;
  int64_t gap = problem.fabric.operation_latency_cycles + room * problem.ii;
  for (const Edge& edge : problem.graph.edges())
    gap = std::max(gap, problem.fabric.operation_latency_cycles + room * problem.ii +
                            int64_t(edge.distance) * problem.ii);
  const int64_t nodes = int64_t(problem.graph.nodes.size());
  int64_t fixed = 0;
  for (const auto& time : problem.fixed_times) fixed = std::max(fixed, int64_t(time.value_or(0)));
  return fixed + problem.ii + gap * nodes + problem.fabric.operation_latency_cycles;
}

}  // namespace tilewright::cgra
