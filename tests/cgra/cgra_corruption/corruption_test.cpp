// A thousand configurations with one wrong field: at least 95 of 100 change a result or raise an error, and
// the reason why the others do not is known.
#include "corruption.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/kernel/map_kernel.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/cgra/simulate/execute_mapping.h"

namespace tilewright::cgra {
namespace {

struct Program {
  std::string name;
  nlohmann::json file;
  Inputs inputs;
  FabricSimulationOptions options;
  FabricSimulationResult good;
};

MappingProblem problem_of(const std::string& path, const std::string& fabric, int ii) {
  MappingProblem problem;
  problem.fabric = find_fabric(fabric, std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.graph = read_graph_file(path, problem.fabric.operands).graph;
  problem.ii = ii;
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

Program program_of(const MappingProblem& problem, const GraphMapping& mapping) {
  Program program;
  program.name = problem.graph.name;
  const Configuration configuration = configure(problem, mapping);
  program.file = nlohmann::json::parse(print_configuration(configuration));
  program.inputs = random_inputs(problem.graph, 64, 11);
  program.options = {.threads = 64, .seed = 5, .values = true};
  program.good = simulate_fabric(configuration, program.inputs, program.options);
  EXPECT_EQ(compare_execution(problem.graph, program.inputs, 64, program.good).first, "");
  return program;
}

std::vector<Program> programs() {
  std::vector<Program> made;
  for (const char* name : {"vector_add", "multiply_add", "distance", "ifft"}) {
    for (const int ii : {2, 3, 6}) {
      MappingProblem problem = problem_of(
          std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/" + name + ".json", "streaming-engine", ii);
      MappingResult mapped = map_exact(problem, {});
      mapped.mapping->routes = route_places(problem, *mapped.mapping).routes;
      made.push_back(program_of(problem, *mapped.mapping));
    }
  }
  for (const char* name : {"biquad", "fir4", "dot_product", "edit_distance"}) {
    for (const char* fabric : {"mesh-4x4", "hycube-4x4"}) {
      MappingProblem problem = problem_of(
          std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/kernels/" + name + ".json", fabric, 1);
      const KernelResult mapped = map_kernel(problem, {.shortest = false});
      problem.ii = mapped.mapping->ii;
      made.push_back(program_of(problem, *mapped.mapping));
    }
  }
  return made;
}

size_t pick(const std::vector<int64_t>& weights, Random& random) {
  int64_t at = random.between(0, std::accumulate(weights.begin(), weights.end(), int64_t{0}) - 1);
  size_t chosen = 0;
  while (at >= weights[chosen]) at -= weights[chosen++];
  return chosen;
}

TEST(Corruption, AThousandWrongFields) {
  const std::vector<Program> all = programs();
  // Every field of every program has the same chance.
  std::vector<int64_t> fields;
  for (const Program& program : all) fields.push_back(field_count(program.file));
  Random random(2024);
  std::map<Outcome, int> outcomes;
  std::map<std::string, int> reasons;
  for (int i = 0; i < 1000; ++i) {
    const Program& program = all[pick(fields, random)];
    const Corruption corruption = corrupt(program.file, random);
    const Outcome outcome = run_corrupted(corruption, program.inputs, program.options, program.good);
    ++outcomes[outcome];
    if (outcome != Outcome::kNone && outcome != Outcome::kOtherTiming) continue;
    const std::string reason = harmless_because(corruption);
    ++reasons[reason];
    EXPECT_NE(reason, "") << program.name << " " << corruption.field << ": " << corruption.was << " -> "
                          << corruption.is;
  }
  for (const auto& [outcome, count] : outcomes) RecordProperty(name(outcome), count);
  std::string text;
  for (const auto& [reason, count] : reasons) text += std::to_string(count) + " " + reason + "; ";
  RecordProperty("harmless", text);
  EXPECT_GE(outcomes[Outcome::kRejected] + outcomes[Outcome::kFault] + outcomes[Outcome::kOtherResult], 950);
  // Each of the three ways of finding out matters.
  EXPECT_GE(outcomes[Outcome::kFault], 50);
  EXPECT_GE(outcomes[Outcome::kOtherResult], 100);
  // Reasons that only these inputs give stay rare.
  EXPECT_LE(reasons["an operation with the same results on these inputs"], 15);
  EXPECT_LE(reasons["another way of the same value"], 15);
}

}  // namespace
}  // namespace tilewright::cgra
