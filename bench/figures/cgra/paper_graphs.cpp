// The four graphs of the published learned mapper (models/cgra: vector add, multiply-add, distance, a stage
// of an inverse FFT) on the Streaming Engine at II 1 to 6. Per cell: the shortest schedule with its proof, or
// the conflict; a DRAT proof that nothing is shorter, from a formula of the rules alone, accepted by our
// checker; the same optimum in the routed tier; and the routed mapping configured and executed, 1,000 threads
// of random inputs per flow compared with the graph's own evaluation.
#include <algorithm>
#include <cstdio>

#include "cgra_problems.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/refutation.h"
#include "tilewright/cgra/exact/routed_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

namespace {

using namespace tilewright;
using namespace tilewright::cgra;

constexpr int kThreads = 1000;

struct Cell {
  int makespan = 0;  // 0: infeasible
  int routed = 0;
  bool decided = false, proof = false, routed_decided = false;
  double seconds = 0, proof_seconds = 0, routed_seconds = 0;
  int64_t values = 0, wrong = 0;
  std::string note;
};

Cell measure(const MappingProblem& problem, const std::filesystem::path& folder) {
  Cell cell;
  const double start = cpu_seconds();
  const MappingResult result = map_exact(problem, {});
  cell.seconds = cpu_seconds() - start;
  cell.decided = result.status == SearchStatus::kOptimal || result.status == SearchStatus::kInfeasible;
  const double before_proof = cpu_seconds();
  cell.proof = refute(problem, result.mapping ? result.makespan - 1 : 0, folder).check.proven;
  cell.proof_seconds = cpu_seconds() - before_proof;
  if (!result.mapping) {
    if (result.conflict) cell.note = result.conflict->text;
    cell.routed_decided = result.status == SearchStatus::kInfeasible;
    return cell;
  }
  cell.makespan = result.makespan;
  MappingProblem routed = problem;
  routed.rules.routed = true;
  const double before_routes = cpu_seconds();
  const MappingResult ways = map_exact_routed(routed, {});
  cell.routed_seconds = cpu_seconds() - before_routes;
  cell.routed_decided = ways.status == SearchStatus::kOptimal;
  cell.routed = ways.makespan;
  if (!ways.mapping) return cell;
  const ExecutionCheck check = execute_mapping(
      routed, *ways.mapping, random_inputs(routed.graph, kThreads, 1), {.threads = kThreads, .seed = 1});
  cell.values = check.values;
  cell.wrong = check.wrong;
  cell.note = check.first;
  return cell;
}

}  // namespace

int main() {
  // From the optima that were proven independently before (none: infeasible).
  constexpr int kExpected[4][6] = {
      {7, 7, 7, 7, 7, 7}, {11, 10, 11, 9, 9, 10}, {16, 13, 15, 13, 13, 13}, {0, 18, 19, 17, 17, 18}};
  const char* const names[4] = {"vector_add", "multiply_add", "distance", "ifft"};
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tilewright_paper_graphs";
  std::filesystem::create_directories(folder);
  int cells = 0, equal = 0, proven = 0, accepted = 0, routed_equal = 0;
  double slowest = 0, slowest_proof = 0, slowest_routed = 0;
  int64_t values = 0, wrong = 0;
  std::string rows;
  std::printf("graph         II  makespan  CPU s   DRAT     CPU s   routed  CPU s   values   wrong\n");
  for (int g = 0; g < 4; ++g) {
    const GraphFile file = read_graph_file(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/cgra" /
                                           (std::string(names[g]) + ".json"));
    for (int ii = 1; ii <= 6; ++ii) {
      const Cell cell = measure(usual_problem(file.graph, "streaming-engine", ii), folder);
      std::printf("%-12s  %2d  %8d  %.3f  %-8s %.3f  %6d  %.3f  %7lld  %lld  %s\n", names[g], ii,
                  cell.makespan, cell.seconds, cell.proof ? "accepted" : "-", cell.proof_seconds, cell.routed,
                  cell.routed_seconds, static_cast<long long>(cell.values),
                  static_cast<long long>(cell.wrong), cell.note.c_str());
      std::fflush(stdout);
      ++cells;
      equal += cell.makespan == kExpected[g][ii - 1];
      proven += cell.decided && cell.routed_decided;
      accepted += cell.proof;
      routed_equal += cell.routed == cell.makespan;
      values += cell.values;
      wrong += cell.wrong;
      slowest = std::max(slowest, cell.seconds);
      slowest_proof = std::max(slowest_proof, cell.proof_seconds);
      slowest_routed = std::max(slowest_routed, cell.routed_seconds);
      char row[256];
      std::snprintf(row, sizeof row,
                    "%s{\"graph\": \"%s\", \"ii\": %d, \"makespan\": %d, \"proven\": %s, \"seconds\": %.3f, "
                    "\"values_wrong\": %lld}",
                    rows.empty() ? "" : ", ", names[g], ii, cell.makespan, cell.decided ? "true" : "false",
                    cell.seconds, static_cast<long long>(cell.wrong));
      rows += row;
    }
  }
  std::filesystem::remove_all(folder);
  std::printf(
      "{\"figure\": \"paper_graphs\", \"cells\": %d, \"equal_to_table\": %d, \"proven\": %d, "
      "\"drat_accepted\": %d, \"routed_equal\": %d, \"max_seconds\": %.3f, \"max_proof_seconds\": %.3f, "
      "\"max_routed_seconds\": %.3f, \"values_compared\": %lld, \"values_wrong\": %lld, \"rows\": [%s]}\n",
      cells, equal, proven, accepted, routed_equal, slowest, slowest_proof, slowest_routed,
      static_cast<long long>(values), static_cast<long long>(wrong), rows.c_str());
  const bool all = equal == cells && proven == cells && accepted == cells && routed_equal == cells;
  return all && values > 0 && wrong == 0 ? 0 : 1;
}
