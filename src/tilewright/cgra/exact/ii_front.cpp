// One search per II, in ascending order; whether longer ones can help is decided after each.
#include "tilewright/cgra/exact/ii_front.h"

#include <algorithm>

namespace tilewright::cgra {

IiFront find_ii_front(MappingProblem problem, const Mapper& mapper, int first, int last,
                      const MapperOptions& options) {
  if (first < 1 || first > last)
    throw Error(ErrorKind::kInvalidInput, "II front: 1 <= first <= last is expected");
  const std::vector<Edge> edges = problem.graph.edges();
  const bool carries =
      std::any_of(edges.begin(), edges.end(), [](const Edge& edge) { return edge.distance > 0; });
  IiFront front;
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
    enough = shortest_path || (optimal && !carries && point.result.makespan <= ii);
    front.points.push_back(std::move(point));
  }
  front.proven = decided && enough;
  return front;
}

}  // namespace tilewright::cgra
