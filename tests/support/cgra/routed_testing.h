// Random problems of the routed tier, and the routed mapper compared with trying every place and every way.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/cgra/brute_force_testing.h"
#include "tilewright/cgra/exact/routed_mapper.h"
#include "tilewright/cgra/route/route_testing.h"

namespace tilewright::cgra {

inline MappingProblem random_routed_problem(Random& random, int most_nodes) {
  MappingProblem problem;
  problem.fabric = random_fabric(random);
  problem.fabric.tile_memories = 1;
  problem.fabric.tile_memory_entries = 64;
  if (random.chance(0.7)) problem.fabric.delay_registers = 0;
  problem.ii = int(random.between(1, 2));
  problem.rules.routed = true;
  problem.rules.starters_apart = StarterRule(random.between(0, 2));
  problem.rules.siblings_apart = random.chance(0.5);
  problem.rules.delay = random.chance(0.7) ? Delay::kUnbounded : Delay::kBounded;
  const int nodes = int(random.between(2, most_nodes));
  for (int node = 0; node < nodes; ++node) {
    DataflowNode next{.name = "n" + std::to_string(node)};
    for (int operand = 0; operand < 2; ++operand) {
      if (node > 0 && random.chance(0.6)) {
        next.operands.push_back({.kind = OperandKind::kNode, .index = int(random.between(0, node - 1))});
      } else if (random.chance(0.12)) {
        next.operands.push_back({.kind = OperandKind::kNode,
                                 .index = int(random.between(0, nodes - 1)),
                                 .distance = int(random.between(1, 2))});
      } else {
        next.operands.push_back({.kind = OperandKind::kConstant, .value = 1});
      }
    }
    problem.graph.nodes.push_back(next);
  }
  if (random.chance(0.3)) {
    problem.graph.variables.push_back({.name = "v"});
    problem.graph.nodes[0].writes = problem.graph.nodes.back().writes = 0;
  }
  return problem;
}

// Brute force over places, then over ways; `sure` is false where some combination was too much to try.
inline std::optional<GraphMapping> try_everything(const MappingProblem& problem, int horizon, int64_t checks,
                                                  bool& sure) {
  MappingProblem places = problem;
  places.rules.routed = false;
  BruteForce search(places);
  search.accept = [&](const GraphMapping& mapping) {
    const int answer = routable({problem, mapping});
    if (answer < 0) sure = false;
    return answer > 0;
  };
  const auto found = search.find(horizon, checks);
  if (!found && search.exhausted()) sure = false;
  return found;
}

struct RoutedTally {
  int mapped = 0, unmapped = 0, undecided = 0;
  int blocked = 0;  // of the unmapped: places exist, only ways do not
};

// Up to `most` clocks, with so many partial placements per horizon.
inline void compare_routed(const MappingProblem& problem, int most, int64_t checks, RoutedTally& tally) {
  bool sure = true;
  int horizon = 1;
  while (horizon <= most && !try_everything(problem, horizon, checks, sure) && sure) ++horizon;
  if (!sure) {
    ++tally.undecided;
    return;
  }
  EXPECT_EQ(find_routed_mapping(problem, horizon - 1).exists, Satisfiable::kNo) << "horizon " << horizon;
  GraphMapperOptions options;
  options.limits.evaluations = 60;
  const MappingResult result = map_exact_routed(problem, options);
  if (horizon > most) {
    ++tally.unmapped;
    MappingProblem places = problem;
    places.rules.routed = false;
    tally.blocked += BruteForce(places).find(most, checks).has_value();
    EXPECT_TRUE(!result.mapping || result.makespan > most);
    return;
  }
  ++tally.mapped;
  ASSERT_EQ(result.status, SearchStatus::kOptimal);
  EXPECT_EQ(result.makespan, horizon);
  EXPECT_EQ(result.lower_bound, horizon);
  EXPECT_TRUE(check_mapping(problem, *result.mapping).empty());
}

}  // namespace tilewright::cgra
