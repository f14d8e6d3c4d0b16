// large_graphs: graphs past exact reach (200 and 500 operations of the synthetic family on 64 tiles in a
// line): the best mapping found in 60 s of one core against list scheduling, with a proven lower bound and
// the gap. Every mapping passes the checker.
//
// usage: large_graphs [--quick]     (--quick: 6 s a graph)
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/cgra/exact/map_large.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"

int main(int argc, char** argv) {
  using namespace tilewright;
  using namespace tilewright::cgra;
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  int graphs = 0, better = 0, wrong = 0;
  double worst_gap = 0, most_seconds = 0;
  for (const int nodes : {200, 500}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      MappingProblem problem;
      problem.fabric = find_fabric("line-64", "none");
      GeneratedGraph generated = generate_flow_graph(nodes, problem.fabric.tiles(), seed);
      problem.graph = std::move(generated.graph);
      problem.ii = std::max(generated.ii, nodes / problem.fabric.tiles() + 2);
      problem.rules = usual_rules(problem.fabric);
      GraphMapperOptions options;
      options.limits.seconds = quick ? 6 : 60;
      const MappingResult list = map_list(problem, options), found = map_large(problem, options);
      ++graphs;
      if (!found.mapping || !check_mapping(problem, *found.mapping).empty()) {
        ++wrong;
        continue;
      }
      better += !list.mapping || found.makespan < list.makespan;
      const double gap = 100.0 * (found.makespan - found.lower_bound) / found.makespan;
      worst_gap = std::max(worst_gap, gap);
      most_seconds = std::max(most_seconds, found.seconds);
      fmt::print(
          "{} nodes, seed {}, II {}: makespan {} (list scheduling {}), bound {}, gap {:.1f} %, {:.1f} s\n",
          nodes, seed, problem.ii, found.makespan, list.mapping ? list.makespan : 0, found.lower_bound, gap,
          found.seconds);
    }
  }
  fmt::print(
      "{{\"figure\": \"large_graphs\", \"graphs\": {}, \"better_than_list\": {}, \"wrong\": {}, "
      "\"worst_gap_percent\": {:.1f}, \"max_seconds\": {:.1f}, \"quick\": {}}}\n",
      graphs, better, wrong, worst_gap, most_seconds, quick);
  return wrong == 0 && graphs > 0 ? 0 : 1;
}
