#include "tilewright/flow/run/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

// x -> a -> b -> c, and x -> d; c and d are outputs. Each value has 1000 bytes.
Graph small_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, {1000});
  ValueId last = x;
  for (const char* node_name : {"a", "b", "c"}) {
    const ValueId y = graph.add_value(std::string("y") + node_name, ElementType::kI8, {1000});
    graph.add_node(node_name, "Identity", {last}, {y});
    last = y;
  }
  const ValueId yd = graph.add_value("yd", ElementType::kI8, {1000});
  graph.add_node("d", "Identity", {x}, {yd});
  graph.outputs = {last, yd};
  return graph;
}

constexpr HostModel kNoCalls{.node_seconds = 0, .turn_seconds = 0};

TEST(Partition, KeepsWhatPaysAndSaysWhy) {
  const Graph graph = small_graph();  // 2 us per node on the host, 1 us per transfer
  const Partition result = partition(
      graph, kOverlay,
      [](const Node& node) {
        if (node.name == "b") return Offer{false, "no such operation", 0};
        return Offer{true, "", node.name == "c" ? 0.5e-6 : 5e-6};
      },
      kNoCalls);
  EXPECT_EQ(result.placements[0].target, kHost);
  EXPECT_EQ(result.placements[0].reason,
            "0.002 ms on the host; the overlay needs 0.005 ms and 0.002 ms of transfers");
  EXPECT_EQ(result.placements[1].reason, "no such operation");
  EXPECT_EQ(result.placements[2].target, kHost);  // 0.5 us + 2 us of transfers > 2 us
}

TEST(Partition, ANodeBetweenOverlayNodesStaysThoughItIsSlowerThere) {
  const Graph graph = small_graph();
  const Partition result = partition(
      graph, kOverlay,
      [](const Node& node) {
        return Offer{node.name != "d", "x", node.name == "b" ? 2.5e-6 : 1e-9};
      },
      kNoCalls);
  EXPECT_EQ(result.placements[1].target, kOverlay);
  ASSERT_EQ(result.steps.size(), 2u);
}

// b, between a and c, hands its result to the host as well. On the host it saves 12 us and two transfers
// there cost 1 us more, but the overlay takes one more turn.
TEST(Partition, CountsCallsAndTurns) {
  Graph graph = small_graph();
  graph.outputs.push_back(graph.nodes[1].outputs[0]);
  const auto placed = [&](HostModel host) {
    std::string text;
    const auto offer = [](const Node& node) {
      return Offer{node.name != "d", "x", node.name == "b" ? 14e-6 : 1e-9};
    };
    for (const Placement& placement : partition(graph, kOverlay, offer, host).placements)
      text += placement.target == kHost ? 'h' : 'o';
    return text;
  };
  EXPECT_EQ(placed({.node_seconds = 3e-6, .turn_seconds = 0}), "ohoh");
  // Then a and c are not worth their turns either.
  EXPECT_EQ(placed({.node_seconds = 3e-6, .turn_seconds = 4e-6}), "hhhh");
  EXPECT_EQ(placed({.node_seconds = 3e-6, .turn_seconds = 12e-6}), "oooh");
  EXPECT_EQ(placed({.node_seconds = 13e-6, .turn_seconds = 0}), "oooh");
}

// A node alone on the overlay, a little faster there, is not worth the turn.
TEST(Partition, ATurnForOneNodeMustPay) {
  const Graph graph = small_graph();
  const auto offer = [](const Node& node) { return Offer{node.name == "d", "x", 1e-9}; };
  EXPECT_EQ(partition(graph, kOverlay, offer, {.node_seconds = 5e-6, .turn_seconds = 0}).placements[3].target,
            kOverlay);
  EXPECT_EQ(
      partition(graph, kOverlay, offer, {.node_seconds = 5e-6, .turn_seconds = 6e-6}).placements[3].target,
      kHost);
}

TEST(OrderSteps, CoversEveryNodeOnceAndRespectsDataFlow) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    Graph graph;
    graph.add_input("x", ElementType::kI8, {4});
    const int count = int(random.between(1, 20));
    for (int i = 0; i < count; ++i) {
      const ValueId from = ValueId(random.between(0, int64_t(graph.values.size()) - 1));
      const ValueId to = graph.add_value("y", ElementType::kI8, {4});
      graph.add_node("n", "Identity", {from}, {to});
    }
    const std::vector<std::string> sides = {kHost, kOverlay, "another"};
    std::vector<std::string> targets;
    for (int i = 0; i < count; ++i) {
      targets.push_back(sides[size_t(random.between(0, round % 2 == 0 ? 1 : 2))]);
    }
    std::set<ValueId> ready = {0};
    size_t covered = 0;
    for (const PartitionStep& step : order_steps(graph, targets)) {
      for (NodeId n : step.nodes) {
        ASSERT_EQ(targets[size_t(n)], step.target);
        ASSERT_TRUE(ready.count(graph.nodes[size_t(n)].inputs[0])) << "round " << round;
        ready.insert(graph.nodes[size_t(n)].outputs[0]);
        ++covered;
      }
    }
    ASSERT_EQ(covered, graph.nodes.size());
  }
}

TEST(OrderSteps, BeginsWhereFewerStepsAreNeeded) {
  const Graph graph = small_graph();
  const auto sides_of = [&](const std::vector<std::string>& targets) {
    std::vector<std::string> sides;
    for (const PartitionStep& step : order_steps(graph, targets)) sides.push_back(step.target);
    return sides;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(sides_of({kHost, kHost, kHost, kHost}), Names{kHost});
  EXPECT_EQ(sides_of({kOverlay, kOverlay, kOverlay, kHost}), (Names{kHost, kOverlay}));  // of equals the host
  EXPECT_EQ(sides_of({kOverlay, kHost, kOverlay, kOverlay}), (Names{kOverlay, kHost, kOverlay}));
  EXPECT_EQ(sides_of({"second", kOverlay, kHost, "second"}), (Names{"second", kOverlay, kHost}));
}

TEST(Extract, TakesInputsAndOutputsFromTheBorder) {
  const Graph part = extract(small_graph(), {1, 2});
  ASSERT_EQ(part.nodes.size(), 2u);
  ASSERT_EQ(part.inputs.size(), 1u);
  EXPECT_EQ(part.value(part.inputs[0]).name, "ya");
  ASSERT_EQ(part.outputs.size(), 1u);
  EXPECT_EQ(part.value(part.outputs[0]).name, "yc");
  EXPECT_EQ(part.values.size(), 3u);
}

}  // namespace
}  // namespace tilewright
