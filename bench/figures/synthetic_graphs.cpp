// The 45 synthetic graphs with a recorded optimum (8 to 64 nodes) and twenty generated ones of that family,
// ten at 80 and ten at 100 nodes, all on 16 tiles: shortest schedules with their proofs. The recorded optimum
// is looked at after mapping only.
#include <algorithm>
#include <cstdio>
#include <set>

#include "cgra_problems.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/generate.h"
#include "tilewright/cgra/graph/kernel_file.h"

namespace {

using namespace tilewright;
using namespace tilewright::cgra;

struct Row {
  int makespan = 0;
  bool proven = false;
  double seconds = 0;
};

Row solve(const std::string& name, const MappingProblem& problem) {
  const double start = cpu_seconds();
  const MappingResult result = map_exact(problem, {.limits = {.seconds = 240}});
  Row row{result.makespan, result.status == SearchStatus::kOptimal, cpu_seconds() - start};
  row.proven = row.proven && check_mapping(problem, *result.mapping).empty();
  std::printf("%-12s %5zu nodes  II %d  bound %3d  makespan %3d  %-10s %7.3f CPU s  %d calls\n", name.c_str(),
              problem.graph.nodes.size(), problem.ii, result.lower_bound, result.makespan,
              search_status_name(result.status), row.seconds, int(result.counts.evaluations));
  std::fflush(stdout);
  return row;
}

}  // namespace

int main() {
  const std::filesystem::path folder = std::filesystem::path(TILEWRIGHT_MODELS_DIR) / "cgra_graphs/se_random";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  int at_optimum = 0, recorded = 0;
  double slowest_64 = 0;
  for (const std::filesystem::path& path : files) {
    SyntheticFile file = read_synthetic_file(path);
    MappingProblem problem =
        usual_problem(std::move(file.graph), "line-" + std::to_string(file.tiles), file.ii);
    problem.rules.starters_apart = file.starters_apart ? StarterRule::kRoots : StarterRule::kOff;
    problem.rules.siblings_apart = file.siblings_apart;
    const Row row = solve(path.stem().string(), problem);
    slowest_64 = std::max(slowest_64, row.seconds);
    recorded += file.recorded.makespan.has_value();
    at_optimum += row.proven && row.makespan == file.recorded.makespan;
  }
  int generated = 0, proven = 0;
  double slowest_100 = 0;
  for (const int nodes : {80, 100}) {
    for (int seed = 0; seed < 10; ++seed) {
      GeneratedGraph made = generate_flow_graph(nodes, 16, seed);
      const Row row = solve("seed " + std::to_string(seed),
                            usual_problem(std::move(made.graph), "streaming-engine", made.ii));
      slowest_100 = std::max(slowest_100, row.seconds);
      proven += row.proven;
      ++generated;
    }
  }
  std::printf(
      "{\"figure\": \"synthetic_graphs\", \"graphs\": %zu, \"at_optimum\": %d, \"max_seconds_64\": %.3f, "
      "\"generated_80_100\": %d, \"proven_80_100\": %d, \"max_seconds_100\": %.2f}\n",
      files.size(), at_optimum, slowest_64, generated, proven, slowest_100);
  return files.size() == 45 && recorded == 45 && at_optimum == 45 && proven == generated ? 0 : 1;
}
