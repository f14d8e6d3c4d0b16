// Routing against brute force: every combination of ways is enumerated and judged by the checker alone.
#include "tilewright/cgra/route/route_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tilewright/cgra/route/route_testing.h"

namespace tilewright::cgra {
namespace {

Case random_case(Random& random) {
  Case made;
  made.problem.fabric = random_fabric(random);
  const Fabric& fabric = made.problem.fabric;
  made.problem.ii = made.mapping.ii = int(random.between(1, 3));
  made.problem.rules.routed = true;
  const int nodes = int(random.between(2, 4));
  for (int node = 0; node < nodes; ++node) {
    DataflowNode next{.name = "n" + std::to_string(node)};
    for (int operand = 0; operand < 2 && node > 0; ++operand) {
      if (random.chance(0.8))
        next.operands.push_back({.kind = OperandKind::kNode, .index = int(random.between(0, node - 1))});
    }
    made.problem.graph.nodes.push_back(next);
    made.mapping.places.push_back({int(random.between(0, fabric.tiles() - 1)), 0});
  }
  if (random.chance(0.3)) {
    made.problem.graph.nodes[0].operands.push_back(
        {.kind = OperandKind::kNode, .index = nodes - 1, .distance = int(random.between(1, 2))});
  }
  const auto transfer = transfer_cycles(fabric);
  for (int node = 0; node < nodes; ++node) {
    int& time = made.mapping.places[node].time;
    for (const Operand& operand : made.problem.graph.nodes[node].operands) {
      if (operand.distance > 0) continue;
      const Place& from = made.mapping.places[operand.index];
      time = std::max(time, from.time + fabric.operation_latency_cycles +
                                std::max(0, transfer[from.tile][made.mapping.places[node].tile]));
    }
    time += int(random.between(0, 2)) - (random.chance(0.05) && time > 0 ? 1 : 0);
  }
  return made;
}

// The case with `kept` edges only.
Case restricted(Case given, const std::vector<int>& kept) {
  const std::vector<Edge> edges = given.problem.graph.edges();
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    if (std::find(kept.begin(), kept.end(), int(edge)) != kept.end()) continue;
    given.problem.graph.nodes[edges[edge].to].operands[edges[edge].operand] = {};
  }
  return given;
}

TEST(RoutePlaces, EqualsBruteForceOnRandomProblems) {
  Random random(20250);
  int feasible = 0, infeasible = 0, negotiated = 0;
  for (int run = 0; run < 1500; ++run) {
    const Case given = random_case(random);
    const int expected = routable(given);
    if (expected < 0) continue;
    for (const int rounds : {0, 20}) {
      const RoutingResult result = route_places(given.problem, given.mapping, {.negotiation_rounds = rounds});
      ASSERT_EQ(result.status, expected > 0 ? SearchStatus::kFeasible : SearchStatus::kInfeasible)
          << "run " << run << " rounds " << rounds;
      negotiated += result.negotiated;
      if (expected > 0) {
        EXPECT_TRUE(routes_hold(given, result.routes)) << "run " << run;
        continue;
      }
      ASSERT_FALSE(result.core_edges.empty());
      EXPECT_EQ(routable(restricted(given, result.core_edges)), 0) << "run " << run;
      for (size_t left_out = 0; left_out < result.core_edges.size(); ++left_out) {
        std::vector<int> fewer = result.core_edges;
        fewer.erase(fewer.begin() + std::ptrdiff_t(left_out));
        EXPECT_EQ(routable(restricted(given, fewer)), 1) << "run " << run;
      }
    }
    ++(expected > 0 ? feasible : infeasible);
  }
  EXPECT_GT(feasible, 300);
  EXPECT_GT(infeasible, 200);
  EXPECT_GT(negotiated, feasible * 8 / 10);
}

// Two values that must cross one link in one slot, and a third that does not matter.
TEST(RoutePlaces, NamesTheNodesInConflict) {
  Case given;
  MappingProblem& problem = given.problem;
  problem.fabric = find_fabric("line-16", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = given.mapping.ii = 2;
  problem.rules = usual_rules(problem.fabric);
  problem.rules.routed = true;
  const auto add = [&](const char* name, int from, Place place) {
    DataflowNode node{.name = name};
    if (from >= 0) node.operands.push_back({.kind = OperandKind::kNode, .index = from});
    problem.graph.nodes.push_back(node);
    given.mapping.places.push_back(place);
  };
  add("far", -1, {9, 0});
  add("a", -1, {3, 0});
  add("b", -1, {3, 2});
  add("far reader", 0, {10, 4});
  add("reader of a", 1, {4, 4});
  add("reader of b", 2, {4, 6});
  const RoutingResult result = route_places(problem, given.mapping);
  EXPECT_EQ(result.status, SearchStatus::kInfeasible);
  EXPECT_EQ(result.core_nodes, (std::vector<int>{1, 2, 4, 5}));
  given.mapping.places[5].time = 7;  // a delay register takes the conflict apart
  const RoutingResult waits = route_places(problem, given.mapping);
  ASSERT_EQ(waits.status, SearchStatus::kFeasible);
  EXPECT_TRUE(routes_hold(given, waits.routes));
}

// A value that four consumers read at one clock from one tile away counts once on the shared way.
TEST(RoutePlaces, SharesTheWayOfOneValue) {
  Case given;
  MappingProblem& problem = given.problem;
  problem.fabric = find_fabric("line-16", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.fabric.spans = {1};
  problem.ii = given.mapping.ii = 1;
  problem.rules.routed = true;
  problem.graph.nodes.push_back({.name = "source"});
  given.mapping.places.push_back({0, 0});
  for (int reader = 1; reader <= 4; ++reader) {
    DataflowNode node{.name = "reader" + std::to_string(reader)};
    node.operands.push_back({.kind = OperandKind::kNode, .index = 0});
    problem.graph.nodes.push_back(node);
    given.mapping.places.push_back({reader, 3 + reader});
  }
  for (const int rounds : {0, 10}) {
    const RoutingResult result = route_places(problem, given.mapping, {.negotiation_rounds = rounds});
    ASSERT_EQ(result.status, SearchStatus::kFeasible);
    EXPECT_TRUE(routes_hold(given, result.routes));
  }
}

// Two tiles, eight slots, and registers for values that arrive early.
Case one_link() {
  Case made;
  made.problem.fabric.columns = 2;
  made.problem.fabric.delay_registers = 40;
  made.problem.ii = made.mapping.ii = 8;
  made.problem.rules.routed = true;
  return made;
}

// A mapping may be as long as its file can say. What the routers cannot count they do not try.
TEST(RoutePlaces, LeavesValuesThatAreUnderWayTooLong) {
  Case given = one_link();
  MappingProblem& problem = given.problem;
  problem.graph.nodes = {{.name = "source"}, {.name = "reader"}};
  problem.graph.nodes[1].operands.push_back({.kind = OperandKind::kNode, .index = 0});
  for (const int clock : {1 << 29, 1 << 30, std::numeric_limits<int>::max()}) {
    given.mapping.places = {{0, 0}, {1, clock}};
    for (const int rounds : {0, 5})
      EXPECT_EQ(route_places(problem, given.mapping, {.negotiation_rounds = rounds}).status,
                SearchStatus::kStopped);
  }
  given.mapping.places[1].time = 20;
  EXPECT_EQ(route_places(problem, given.mapping).status, SearchStatus::kFeasible);
}

// Nine values for the eight slots of one link, which they may take in any order.
TEST(RoutePlaces, StopsAtItsLimit) {
  Case given = one_link();
  MappingProblem& problem = given.problem;
  for (int value = 0; value < 9; ++value) {
    problem.graph.nodes.push_back({.name = "source" + std::to_string(value)});
    given.mapping.places.push_back({0, value});
    problem.graph.nodes.push_back({.name = "reader" + std::to_string(value)});
    problem.graph.nodes.back().operands.push_back({.kind = OperandKind::kNode, .index = 2 * value});
    given.mapping.places.push_back({1, 20 + value});
  }
  const Deadline over(0);
  for (const RoutingOptions& options : {RoutingOptions{.negotiation_rounds = 5, .deadline = &over},
                                        RoutingOptions{.negotiation_rounds = 0, .conflicts = 2}}) {
    EXPECT_EQ(route_places(problem, given.mapping, options).status, SearchStatus::kStopped);
  }
  EXPECT_EQ(route_places(problem, given.mapping).core_nodes.size(), 18u);
}

}  // namespace
}  // namespace tilewright::cgra
