// The 45 synthetic graphs with a recorded optimum (8 to 64 nodes) and twenty generated ones of that family,
// ten at 80 and ten at 100 nodes, all on 16 tiles: shortest schedules with their proofs; for the 45 also as
// DRAT proofs of formulas of the rules alone, accepted by our checker. The recorded optimum is looked at
// after mapping only.
#include <algorithm>
#include <cstdio>
#include <set>

#include "cgra_problems.h"
#include "support/cgra/generated_graphs_testing.h"
#include "support/outside_testing.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/refutation.h"
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
  std::printf("%-10s %4zu nodes  II %d  bound %3d  %s %3d  %-10s %7.3f CPU s  %d calls\n", name.c_str(),
              problem.graph.nodes.size(), problem.ii, result.lower_bound,
              problem.rules.routed ? "routed  " : "makespan", result.makespan,
              search_status_name(result.status), row.seconds, int(result.counts.evaluations));
  std::fflush(stdout);
  return row;
}

struct Recorded {
  int graphs = 0, at_optimum = 0, routed_at_optimum = 0, drat_accepted = 0;
  double slowest = 0, slowest_routed = 0, slowest_proof = 0;
};

void measure_recorded(const std::filesystem::path& path, const std::filesystem::path& scratch,
                      Recorded& sum) {
  SyntheticFile file = read_synthetic_file(path);
  const std::string name = path.stem().string();
  MappingProblem problem =
      usual_problem(std::move(file.graph), "line-" + std::to_string(file.tiles), file.ii);
  problem.rules.starters_apart = file.starters_apart ? StarterRule::kRoots : StarterRule::kOff;
  problem.rules.siblings_apart = file.siblings_apart;
  ++sum.graphs;
  const Row row = solve(name, problem);
  sum.slowest = std::max(sum.slowest, row.seconds);
  const double start = cpu_seconds();
  sum.drat_accepted += refute(problem, row.makespan - 1, scratch).check.proven;
  sum.slowest_proof = std::max(sum.slowest_proof, cpu_seconds() - start);
  problem.rules.routed = true;
  const Row routed = solve(name, problem);
  sum.slowest_routed = std::max(sum.slowest_routed, routed.seconds);
  sum.at_optimum += row.proven && row.makespan == file.recorded.makespan;
  sum.routed_at_optimum += routed.proven && routed.makespan == file.recorded.makespan;
}

}  // namespace

int main() {
  const std::filesystem::path folder = outside_models() / "cgra_graphs/se_random";
  const std::filesystem::path scratch =
      std::filesystem::temp_directory_path() / "tilewright_synthetic_graphs";
  std::filesystem::create_directories(scratch);
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  Recorded sum;
  for (const std::filesystem::path& path : files) measure_recorded(path, scratch, sum);
  std::filesystem::remove_all(scratch);
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
      "{\"figure\": \"synthetic_graphs\", \"graphs\": %d, \"at_optimum\": %d, \"max_seconds_64\": %.3f, "
      "\"drat_accepted\": %d, \"max_proof_seconds_64\": %.2f, \"routed_at_optimum\": %d, "
      "\"max_seconds_routed_64\": %.2f, \"generated_80_100\": %d, \"proven_80_100\": %d, "
      "\"max_seconds_100\": %.2f}\n",
      sum.graphs, sum.at_optimum, sum.slowest, sum.drat_accepted, sum.slowest_proof, sum.routed_at_optimum,
      sum.slowest_routed, generated, proven, slowest_100);
  const bool all = sum.at_optimum == 45 && sum.routed_at_optimum == 45 && sum.drat_accepted == 45;
  return sum.graphs == 45 && all && proven == generated ? 0 : 1;
}
