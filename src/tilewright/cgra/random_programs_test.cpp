// Random programs on random fabrics: mapped, configured, printed, read back and executed, equal to the
// graph's own evaluation bit for bit.
#include <gtest/gtest.h>

#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/execution_testing.h"

namespace tilewright::cgra {
namespace {

const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

MappingProblem random_problem(const std::string& fabric, const RandomProgramOptions& how, Random& random) {
  MappingProblem problem;
  problem.graph = random_program(how, random);
  problem.fabric = find_fabric(fabric, kPresets);
  problem.fabric.operands = 4;
  problem.ii = int(random.between(1, 6));
  problem.rules = usual_rules(problem.fabric);
  if (random.chance(0.5)) problem.rules.siblings_apart = false;
  if (random.chance(0.5)) problem.rules.starters_apart = StarterRule::kOff;
  problem.rules.routed = true;
  return problem;
}

// The mapping executed with random latencies; every value is compared.
FabricSimulationResult execute(const MappingProblem& problem, const GraphMapping& mapping, Random& random) {
  const Configuration made = configure(problem, mapping);
  EXPECT_EQ(parse_configuration(print_configuration(made), "printed"), made);
  FabricSimulationOptions options{.threads = int(random.between(1, 40)), .seed = random.next()};
  options.latency = {1, int(random.between(1, 30)), 1, int(random.between(1, 60))};
  ExecutionCheck check = execute_mapping(problem, mapping, {}, options);
  EXPECT_EQ(check.wrong, 0) << check.first << "\n" << print_configuration(made);
  EXPECT_GT(check.values, 0);
  return std::move(check.result);
}

void run_many(const std::vector<std::string>& fabrics, const RandomProgramOptions& how, int count,
              int least_mapped) {
  Random random(fabrics.size() + uint64_t(count));
  int mapped = 0, waited = 0;
  for (int i = 0; i < count; ++i) {
    const std::string& fabric = fabrics[size_t(i) % fabrics.size()];
    const MappingProblem problem = random_problem(fabric, how, random);
    Diagnostics diagnostics;
    problem.verify(diagnostics);
    diagnostics.raise_if_any("random program");
    const std::optional<GraphMapping> mapping = quick_mapping(problem, random.next());
    if (!mapping) continue;
    const FabricSimulationResult result = execute(problem, *mapping, random);
    ++mapped;
    for (const FlowActivity& flow : result.flows) waited += flow.waited_cycles > 0;
    if (::testing::Test::HasFailure()) FAIL() << fabric << " " << i;
  }
  ::testing::Test::RecordProperty("mapped", mapped);
  EXPECT_GE(mapped, least_mapped);
  EXPECT_TRUE(!how.asynchronous || waited > mapped / 4) << waited << " of " << mapped;
}

TEST(RandomPrograms, OnLinesAndRings) {
  run_many({"line-8", "ring-8", "line-3", "streaming-engine"}, {}, 300, 150);
}

TEST(RandomPrograms, WithoutCarriedValues) { run_many({"line-5", "ring-6"}, {.carried = false}, 200, 100); }

// The shortest schedules leave the least slack; their routes come from the formula.
TEST(RandomPrograms, MappedExactlyInTheRoutedTier) {
  Random random(77);
  const RandomProgramOptions how{.most_nodes_per_flow = 4, .most_flows = 2};
  int mapped = 0;
  for (int i = 0; i < 60; ++i) {
    const MappingProblem problem = random_problem(i % 2 == 0 ? "line-5" : "ring-5", how, random);
    GraphMapperOptions options;
    options.limits.seconds = 2;
    const MappingResult result = map_exact(problem, options);
    if (!result.mapping) continue;
    ++mapped;
    execute(problem, *result.mapping, random);
    if (::testing::Test::HasFailure()) FAIL() << i;
  }
  EXPECT_GE(mapped, 25);
}

TEST(RandomPrograms, OnArraysWithinTheClock) {
  run_many({"mesh-4x4", "hycube-4x4", "torus-3x3", "hycube-2x3", "mesh-2x2"},
           {.most_nodes_per_flow = 10, .asynchronous = false}, 200, 120);
}

}  // namespace
}  // namespace tilewright::cgra
