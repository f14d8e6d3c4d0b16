// Every mapper and the router on random graphs and arrays that are too large for their time and memory: they
// end in time, stay within the memory, and what they return keeps the rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "support/cgra/generated_graphs_testing.h"
#include "support/limits_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/process_memory.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/exact/ii_front.h"
#include "tilewright/cgra/exact/map_large.h"
#include "tilewright/cgra/heuristic/branch_and_bound.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"
#include "tilewright/cgra/kernel/map_kernel.h"
#include "tilewright/cgra/route/route_places.h"

namespace tilewright::cgra {
namespace {

constexpr double kSlack = 1.0;  // seconds beyond the limit, which a sanitizer's slowness may take
constexpr int64_t kMegabyte = int64_t{1} << 20;

// 50 to 2,000 operations on 4 to 900 tiles, in all forms of arrays.
MappingProblem large_problem(Random& random) {
  MappingProblem problem;
  const int side = int(random.between(2, random.chance(0.2) ? 30 : 10));
  const std::string forms[] = {fmt::format("mesh-{0}x{0}", side),
                               fmt::format("torus-{0}x{0}", std::max(3, side)),
                               fmt::format("hycube-{0}x{0}", side), fmt::format("line-{}", 4 * side),
                               fmt::format("ring-{}", 4 * side)};
  problem.fabric = find_fabric(forms[random.between(0, 4)], "none");
  const int nodes = int(random.between(50, random.chance(0.3) ? 2000 : 400));
  problem.graph = generate_flow_graph(nodes, problem.fabric.tiles(), random.next()).graph;
  problem.fabric.tile_memories = 4;
  problem.fabric.tile_memory_entries = 4096;
  problem.fabric.max_ii = 4096;
  const int least = (nodes + problem.fabric.tiles() - 1) / problem.fabric.tiles();
  problem.ii = int(random.between(std::max(1, least - 1), 2 * least + 2));
  problem.rules = usual_rules(problem.fabric);
  if (random.chance(0.2)) problem.rules.delay = Delay::kBounded;
  if (random.chance(0.5)) problem.rules.starters_apart = StarterRule::kOff;
  return problem;
}

struct NamedMapper {
  const char* name;
  Mapper map;
  bool routes;
};

const NamedMapper kMappers[] = {{"exact", map_exact, true},         {"annealing", map_annealing, true},
                                {"evolution", map_evolution, true}, {"random", map_random, true},
                                {"list", map_list, true},           {"tree", map_branch_and_bound, false},
                                {"large", map_large, false}};

MappingResult map_within(const NamedMapper& mapper, const MappingProblem& problem, const Deadline& deadline) {
  GraphMapperOptions options;
  options.limits.deadline = &deadline;
  return mapper.map(problem, options);
}

TEST(MapperLimitsClass, EveryMapperEndsInTime) {
  Random random(test_seed());
  const int64_t cases = test_cases(30);
  for (int64_t i = 0; i < cases; ++i) {
    MappingProblem problem = large_problem(random);
    const NamedMapper& mapper = kMappers[random.between(0, std::ssize(kMappers) - 1)];
    problem.rules.routed = mapper.routes && random.chance(0.5);
    const std::string what = fmt::format("seed {}, case {}: {}, {} nodes on {}, II {}, {}", test_seed(), i,
                                         mapper.name, problem.graph.nodes.size(), problem.fabric.name,
                                         problem.ii, problem.rules.routed ? "routed" : "places");
    const double limit_s = 0.001 * double(random.between(1, 60)), start = thread_cpu_seconds();
    const Deadline deadline(limit_s);
    const MappingResult result = map_within(mapper, problem, deadline);
    EXPECT_LE(thread_cpu_seconds() - start, limit_s + kSlack) << what;
    EXPECT_NE(result.status == SearchStatus::kStopped || result.status == SearchStatus::kInfeasible,
              result.mapping.has_value())
        << what;
    if (!result.mapping) continue;
    const std::vector<Violation> broken = check_mapping(problem, *result.mapping);
    EXPECT_TRUE(broken.empty()) << what << ": " << broken[0].text;
  }
  RecordProperty("cases", int(cases));
}

TEST(MapperLimitsClass, LeastIiEndsInTime) {
  Random random(test_seed() + 1);
  const int64_t cases = test_cases(10);
  for (int64_t i = 0; i < cases; ++i) {
    MappingProblem problem = large_problem(random);
    if (problem.fabric.cycles_per_distance > 0) problem.fabric = find_fabric("mesh-8x8", "none");
    problem.fabric.tile_memories = 4;
    problem.fabric.tile_memory_entries = 4096;
    problem.fabric.max_ii = int(problem.graph.nodes.size());
    problem.rules = usual_rules(problem.fabric);
    const std::string what = fmt::format("seed {}, case {}: {} nodes on {}", test_seed(), i,
                                         problem.graph.nodes.size(), problem.fabric.name);
    const double limit_s = 0.001 * double(random.between(1, 120)), start = thread_cpu_seconds();
    const Deadline deadline(limit_s);
    const KernelResult result = map_kernel(problem, {.deadline = &deadline});
    EXPECT_LE(thread_cpu_seconds() - start, limit_s + kSlack) << what;
    if (!result.mapping) continue;
    problem.ii = result.mapping->ii;
    problem.rules.routed = true;
    EXPECT_TRUE(check_mapping(problem, *result.mapping).empty()) << what;
  }
  RecordProperty("cases", int(cases));
}

TEST(MapperLimitsClass, RoutingEndsInTime) {
  Random random(test_seed() + 2);
  const int64_t cases = test_cases(10);
  for (int64_t i = 0; i < cases; ++i) {
    MappingProblem problem = large_problem(random);
    const MappingResult placed = map_list(problem, {});
    if (!placed.mapping) continue;
    problem.rules.routed = true;
    const double limit_s = 0.001 * double(random.between(1, 60)), start = thread_cpu_seconds();
    const Deadline deadline(limit_s);
    const RoutingResult routed = route_places(problem, *placed.mapping, {.deadline = &deadline});
    EXPECT_LE(thread_cpu_seconds() - start, limit_s + kSlack)
        << fmt::format("seed {}, case {}: {} nodes on {}, II {}", test_seed(), i, problem.graph.nodes.size(),
                       problem.fabric.name, problem.ii);
    if (routed.status != SearchStatus::kFeasible) continue;
    EXPECT_TRUE(check_mapping(problem, {problem.ii, placed.mapping->places, routed.routes}).empty());
  }
  RecordProperty("cases", int(cases));
}

// Formulas that need more than they may are not built.
TEST(MapperLimitsClass, MemoryStaysUnderItsLimit) {
  Random random(test_seed() + 3);
  const int64_t cases = test_cases(8);
  for (int64_t i = 0; i < cases; ++i) {
    MappingProblem problem = large_problem(random);
    const bool kernel = problem.fabric.cycles_per_distance == 0 && random.chance(0.6);
    problem.rules.routed = true;
    release_freed_memory();
    reset_peak_resident();
    Deadline deadline(0.3);
    const int64_t limit = resident_bytes() + random.between(24, 96) * kMegabyte;
    deadline.limit_memory(limit);
    if (kernel) {
      problem.fabric.max_ii = int(problem.graph.nodes.size());
      problem.graph.variables.clear();
      for (DataflowNode& node : problem.graph.nodes) {
        node.writes = -1;
        for (Operand& operand : node.operands) {
          if (operand.kind == OperandKind::kVariable) operand = Operand{.kind = OperandKind::kConstant};
        }
      }
      map_kernel(problem, {.deadline = &deadline});
    } else {
      map_within(kMappers[0], problem, deadline);
    }
    EXPECT_LE(peak_resident_bytes(), limit + 32 * kMegabyte) << fmt::format(
        "seed {}, case {}: {} nodes on {}, II {}, {}", test_seed(), i, problem.graph.nodes.size(),
        problem.fabric.name, problem.ii, kernel ? "kernel" : "exact");
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright::cgra
