// One search per II, in ascending order; whether longer ones can help is decided after each.
#include "tilewright/cgra/exact/ii_front.h"

#include <algorithm>

namespace tilewright::cgra {
namespace {

// From this II minus the makespan on, operands of earlier threads arrive in time whatever the places.
int carried_slack_cycles(const MappingProblem& problem, const Deadline& deadline) {
  const std::vector<Edge> edges = problem.graph.edges();
  if (std::none_of(edges.begin(), edges.end(), [](const Edge& edge) { return edge.distance > 0; })) return 0;
  int longest = 0;
  for (const std::vector<int>& row : transfer_cycles(problem.fabric, &deadline))
    longest = std::max(longest, *std::max_element(row.begin(), row.end()));
  return longest;
}

// A contradiction in which neither slots nor clocks play a part.
bool holds_at_every_ii(const std::optional<Conflict>& conflict) {
  return conflict && !conflict->rules.empty() &&
         std::none_of(conflict->rules.begin(), conflict->rules.end(), [](Rule rule) {
           return rule == Rule::kSlot || rule == Rule::kTiming || rule == Rule::kShape;
         });
}

}  // namespace

IiFront find_ii_front(MappingProblem problem, const Mapper& mapper, int first, int last,
                      const GraphMapperOptions& options) {
  if (first < 1 || first > last)
    throw Error(ErrorKind::kInvalidInput, "II front: 1 <= first <= last is expected");
  const Deadline deadline(options.limits.seconds, options.limits.deadline);
  IiFront front;
  int slack = 0;
  if (!finishes(deadline, [&] { slack = carried_slack_cycles(problem, deadline); })) return front;
  int shortest = 0;  // 0: none yet
  bool decided = true, enough = false;
  for (int ii = first; ii <= last && !enough; ++ii) {
    problem.ii = ii;
    IiPoint point{ii, mapper(problem, options), false};
    const bool optimal = point.result.status == SearchStatus::kOptimal;
    decided = decided && (optimal || point.result.status == SearchStatus::kInfeasible);
    if (point.result.mapping && (shortest == 0 || point.result.makespan < shortest)) {
      point.on_front = true;
      shortest = point.result.makespan;
    }
    const bool shortest_path =
        shortest > 0 &&
        shortest == critical_path_cycles(problem.graph, problem.fabric.operation_latency_cycles);
    enough = shortest_path || (optimal && point.result.makespan + slack <= ii) ||
             holds_at_every_ii(point.result.conflict);
    front.points.push_back(std::move(point));
  }
  front.proven = decided && enough;
  return front;
}

}  // namespace tilewright::cgra
