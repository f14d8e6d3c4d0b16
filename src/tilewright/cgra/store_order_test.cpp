// The order of stores: which may meet, what a mapping must keep, and what memory holds in the end.
#include "tilewright/cgra/problem/store_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "support/random_seed_testing.h"
#include "tilewright/cgra/execution_testing.h"
#include "tilewright/cgra/graph/evaluate.h"
#include "tilewright/cgra/graph/meeting_stores.h"

namespace tilewright::cgra {
namespace {

Operand from(int index, int distance = 0) {
  return {.kind = OperandKind::kNode, .index = index, .distance = distance};
}
Operand constant(int32_t value) { return {.kind = OperandKind::kConstant, .value = value}; }
Operand thread_number() { return {.kind = OperandKind::kThread}; }

// Two stores of one array at slope * thread + offset.
DataflowGraph two_stores(int32_t slope_a, int32_t offset_a, int32_t slope_b, int32_t offset_b) {
  DataflowGraph graph;
  graph.arrays = {{"y"}};
  const auto line = [&](const std::string& name, int32_t slope, int32_t offset) {
    graph.nodes.push_back({.name = name,
                           .op = Opcode::kMultiply,
                           .then = Opcode::kAdd,
                           .operands = {thread_number(), constant(slope), constant(offset)}});
    graph.nodes.push_back({.name = "store_" + name,
                           .op = Opcode::kStore,
                           .operands = {thread_number(), from(int(graph.nodes.size()) - 1)},
                           .array = 0});
  };
  line("a", slope_a, offset_a);
  line("b", slope_b, offset_b);
  return graph;
}

TEST(MeetingStores, LinesOfTheIteration) {
  const auto pairs = [](int32_t sa, int32_t oa, int32_t sb, int32_t ob) {
    return meeting_stores(two_stores(sa, oa, sb, ob));
  };
  ASSERT_EQ(pairs(1, 0, 1, 0).size(), 1u);
  EXPECT_TRUE(pairs(1, 0, 1, 0)[0].same_thread);
  EXPECT_EQ(pairs(2, 0, 2, 1).size(), 0u);  // even and odd
  EXPECT_EQ(pairs(4, 0, 6, 3).size(), 0u);  // even and odd again
  EXPECT_EQ(pairs(0, 5, 0, 6).size(), 0u);  // two places
  EXPECT_EQ(pairs(0, 5, 0, 5).size(), 1u);  // one place
  EXPECT_EQ(pairs(3, 1, 2, 0).size(), 1u);
  // a[i + 6] is written by b six iterations later.
  const StorePair later = pairs(1, 6, 1, 0).at(0);
  EXPECT_FALSE(later.same_thread);
  EXPECT_EQ(later.second_later, 6);
  EXPECT_EQ(later.first_later, (int64_t{1} << 32) - 6);
  const StorePair backwards = pairs(-2, 0, -2, 10).at(0);
  EXPECT_EQ(backwards.second_later, 5);
  EXPECT_EQ(pairs(-2, 10, -2, 0).at(0).first_later, 5);
}

TEST(MeetingStores, FlowsThatWait) {
  DataflowGraph graph = two_stores(1, 0, 1, 0);
  const auto complaint = [&] {
    Diagnostics diagnostics;
    graph.verify(3, diagnostics);
    return diagnostics.ok() ? std::string() : to_string(diagnostics.errors().at(0));
  };
  EXPECT_EQ(complaint(), "");  // four flows, none of which waits
  graph.variables = {{.name = "argument"}};
  graph.nodes[1].operands[0] = {.kind = OperandKind::kVariable, .index = 0};
  EXPECT_NE(complaint().find("'store_a' and 'store_b' may store the same element of 'y', and nothing orders"),
            std::string::npos)
      << complaint();
  graph.nodes[3].operands[0] = from(0);  // one flow
  EXPECT_EQ(complaint(), "");
  graph.nodes.assign(1001, graph.nodes[1]);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    graph.nodes[i].name = fmt::format("s{}", i);
    graph.nodes[i].operands = {thread_number()};
  }
  EXPECT_NE(complaint().find("1001 nodes store to 'y'"), std::string::npos) << complaint();
}

TEST(StoreOrderRule, ClocksOfStoresThatMeet) {
  MappingProblem problem;
  problem.graph = two_stores(1, 0, 1, 0);
  problem.fabric = find_fabric("mesh-4x4", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = 2;
  const auto order = [&](int a, int b) {
    return check_store_order(problem, {problem.ii, {{0, 0}, {1, a}, {2, 0}, {3, b}}, {}});
  };
  EXPECT_TRUE(order(4, 5).empty());
  ASSERT_EQ(order(5, 5).size(), 1u);
  EXPECT_EQ(order(5, 5)[0].rule, Rule::kStoreOrder);
  EXPECT_EQ(
      order(6, 5)[0].text,
      "'store_a' (clock 6) may overwrite an element of 'y' that 'store_b' (clock 5) stores later in the same "
      "iteration");
  EXPECT_TRUE(order(5, 500).empty());  // the next meeting is 2^32 iterations away
  // b[i] is a[i + 1] one iteration later.
  problem.graph = two_stores(1, 1, 1, 0);
  EXPECT_TRUE(order(6, 5).empty());
  EXPECT_EQ(order(7, 5).size(), 1u);
  EXPECT_NE(order(7, 5)[0].text.find("stores 1 iterations later"), std::string::npos) << order(7, 5)[0].text;
  // At any distance: within an II.
  problem.graph = two_stores(1, 0, 2, 0);
  EXPECT_TRUE(order(5, 6).empty());
  EXPECT_EQ(order(5, 7).size(), 1u);
  EXPECT_EQ(order(5, 5).size(), 1u);
  EXPECT_EQ(order(5, 3).size(), 1u);
}

TEST(StoreOrderRule, MovesStoresToLaterClocks) {
  MappingProblem problem;
  problem.graph = two_stores(1, 0, 2, 0);
  problem.fabric = find_fabric("mesh-4x4", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.ii = 3;
  GraphMapping mapping{3, {{0, 0}, {1, 9}, {2, 0}, {1, 1}}, {}};
  EXPECT_TRUE(order_stores(problem, mapping));
  EXPECT_EQ(mapping.places[1], (Place{1, 9}));
  EXPECT_EQ(mapping.places[3], (Place{1, 10}));
  // Slot 1 of tile 1 is taken: the next one.
  mapping = {3, {{1, 1}, {1, 9}, {2, 0}, {1, 2}}, {}};
  EXPECT_TRUE(order_stores(problem, mapping));
  EXPECT_EQ(mapping.places[3], (Place{1, 11}));
  // Nothing lies between clock t and t + 1.
  problem.ii = 1;
  mapping = {1, {{0, 0}, {1, 9}, {2, 0}, {3, 1}}, {}};
  const GraphMapping before = mapping;
  EXPECT_FALSE(order_stores(problem, mapping));
  EXPECT_EQ(mapping, before);
}

// The pairs hold every meeting of the first threads, found by trying all.
TEST(MeetingStoresClass, EveryMeetingIsKnown) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(10000);
  Random random(seed);
  for (int64_t i = 0; i < cases; ++i) {
    const auto draw = [&] { return int32_t(random.between(-4, 4)) << (random.chance(0.1) ? 29 : 0); };
    const DataflowGraph graph = two_stores(draw(), draw(), draw(), draw());
    const std::vector<StorePair> pairs = meeting_stores(graph);
    const Evaluation values = evaluate_graph(graph, {}, 20);
    for (int a = 0; a < 20; ++a) {
      for (int b = 0; b < 20; ++b) {
        if (values.stores[1][size_t(a)].index != values.stores[3][size_t(b)].index) continue;
        ASSERT_EQ(pairs.size(), 1u) << "seed " << seed << " case " << i;
        const int64_t known = a == b  ? int64_t{pairs[0].same_thread}
                              : a > b ? pairs[0].first_later
                                      : pairs[0].second_later;
        ASSERT_TRUE(known > 0 && (a == b || known <= std::abs(a - b))) << "seed " << seed << " case " << i;
      }
    }
  }
  RecordProperty("cases", int(cases));
}

DataflowGraph random_stores(Random& random) {
  DataflowGraph graph;
  graph.arrays = {{"y"}, {"z"}};
  const auto operand = [&](int before) -> Operand {
    const int64_t kind = random.between(0, before > 0 ? 3 : 1);
    if (kind == 0) return constant(int32_t(random.between(-3, 5)));
    return kind == 1 ? thread_number() : from(int(random.between(0, before - 1)));
  };
  const int count = int(random.between(3, 9));
  constexpr Opcode kOps[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kAnd,
                             Opcode::kShiftLeft};
  for (int i = 0; i < count; ++i) {
    DataflowNode node{.name = fmt::format("n{}", i), .op = kOps[random.between(0, 4)]};
    node.operands = {operand(i), operand(i)};
    if (i > 0 && random.chance(0.5)) {
      node.op = random.chance(0.7) ? Opcode::kStore : Opcode::kOutput;
      node.array = int(random.between(0, 1));
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

// Random graphs whose stores meet: every mapping that the rule accepts leaves in memory what the program
// does, and one that it refuses never runs.
TEST(StoreOrderRuleClass, AcceptedMappingsKeepProgramOrder) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(200);
  Random random(seed);
  int64_t kept = 0, moved = 0, refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    MappingProblem problem;
    problem.graph = random_stores(random);
    const char* fabrics[] = {"mesh-4x4", "line-8", "torus-3x3"};
    problem.fabric =
        find_fabric(fabrics[random.between(0, 2)], std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
    problem.ii = int(random.between(1, 5));
    problem.rules.routed = true;
    std::optional<GraphMapping> mapping = quick_mapping(problem, random.next());
    if (!mapping) continue;
    const bool in_order = check_store_order(problem, *mapping).empty();
    kept += in_order;
    if (!in_order) {
      EXPECT_THROW(execute_mapping(problem, *mapping, {}, {.threads = 5}), Error);
      if (!order_stores(problem, *mapping)) {
        ++refused;
        continue;
      }
      RoutingResult routed = route_places(problem, *mapping);
      if (routed.status != SearchStatus::kFeasible) continue;
      mapping->routes = std::move(routed.routes);
      ++moved;
    }
    const ExecutionCheck check =
        execute_mapping(problem, *mapping, {}, {.threads = int(random.between(1, 30))});
    ASSERT_EQ(check.wrong, 0) << "seed " << seed << " case " << i << ": " << check.first;
  }
  RecordProperty("cases", int(cases));
  EXPECT_GT(kept, cases / 40);
  EXPECT_GT(moved, cases / 40);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace tilewright::cgra
