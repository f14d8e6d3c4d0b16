// Ten graphs of 20 nodes of the published random family (growing networks whose sources all consume the first
// one: up to 16 children of one node on 16 tiles), II 6: shortest schedules with their proofs.
#include <algorithm>
#include <cstdio>

#include "cgra_problems.h"
#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/cgra/exact/exact_mapper.h"

namespace {

using namespace tilewright;
using namespace tilewright::cgra;

int widest(const DataflowGraph& graph) {
  std::vector<int> fan(graph.nodes.size(), 0);
  for (const Edge& edge : graph.edges()) ++fan[edge.from];
  return *std::max_element(fan.begin(), fan.end());
}

}  // namespace

int main() {
  constexpr int kGraphs = 10, kNodes = 20, kIi = 6;
  int proven = 0, least_fan = kNodes, most_fan = 0;
  double slowest = 0, sum = 0;
  std::printf("graph  fan-out  bound  makespan  status    CPU s  solver calls\n");
  for (int i = 0; i < kGraphs; ++i) {
    MappingProblem problem = usual_problem(generate_wide_graph(kNodes, i), "streaming-engine", kIi);
    problem.fabric.operands = kNodes;  // the family does not limit the fan-in
    const int fan = widest(problem.graph);
    const double start = cpu_seconds();
    const MappingResult result = map_exact(problem, {.limits = {.seconds = 120}});
    const double seconds = cpu_seconds() - start;
    const bool valid = result.mapping && check_mapping(problem, *result.mapping).empty();
    const bool decided =
        (result.status == SearchStatus::kOptimal && valid) || result.status == SearchStatus::kInfeasible;
    std::printf("%5d  %7d  %5d  %8d  %-9s %6.2f  %d\n", i, fan, result.lower_bound, result.makespan,
                search_status_name(result.status), seconds, int(result.counts.evaluations));
    std::fflush(stdout);
    proven += decided;
    slowest = std::max(slowest, seconds);
    sum += result.makespan;
    least_fan = std::min(least_fan, fan);
    most_fan = std::max(most_fan, fan);
  }
  std::printf(
      "{\"figure\": \"wide_fanout\", \"graphs\": %d, \"proven\": %d, \"max_seconds\": %.2f, "
      "\"mean_makespan_cycles\": %.2f, \"least_fan_out\": %d, \"most_fan_out\": %d}\n",
      kGraphs, proven, slowest, sum / kGraphs, least_fan, most_fan);
  return proven == kGraphs ? 0 : 1;
}
