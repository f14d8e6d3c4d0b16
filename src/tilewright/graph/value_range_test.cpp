#include "tilewright/graph/value_range.h"

#include <gtest/gtest.h>

#include <optional>

namespace tilewright {
namespace {

Tensor scalar(int64_t value) {
  Tensor tensor(ElementType::kI8, Shape{});
  tensor.set_integer(0, value);
  return tensor;
}

TEST(ValueRange, ClipsBoundWhatTheTypeAllows) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 4, 2, 2});
  EXPECT_EQ(value_range(graph, x), (ValueRange{-128, 127, false}));
  const ValueId low = graph.add_constant("low", scalar(-8)), high = graph.add_constant("high", scalar(7));
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, 4, 2, 2});
  graph.add_node("clip", "Clip", {x, low, high}, {y});
  EXPECT_EQ(value_range(graph, y), (ValueRange{-8, 7, false}));
  const ValueId open = graph.add_value("open", ElementType::kI8, Shape{1, 4, 2, 2});
  graph.add_node("relu", "Clip", {y, graph.add_constant("zero", scalar(0))}, {open});
  EXPECT_EQ(value_range(graph, open), (ValueRange{0, 7, false}));
}

// Bounds outside of what comes in, crossed bounds (the upper one wins) and bounds that are computed.
TEST(ValueRange, AnyBoundsOfAClip) {
  const auto clipped = [](std::optional<int64_t> low, std::optional<int64_t> high, bool computed = false) {
    Graph graph;
    const ValueId x = graph.add_input("x", ElementType::kI8, Shape{4});
    const ValueId y = graph.add_value("y", ElementType::kI8, Shape{4});
    const ValueId z = graph.add_value("z", ElementType::kI8, Shape{4});
    const auto bound = [&](std::optional<int64_t> number) {
      return number ? graph.add_constant("bound", scalar(*number)) : kNoValue;
    };
    graph.add_node("narrow", "Clip", {x, bound(-8), bound(7)}, {y});
    const ValueId lower = computed ? graph.add_input("low", ElementType::kI8, Shape{}) : bound(low);
    graph.add_node("clip", "Clip", {y, lower, bound(high)}, {z});
    return value_range(graph, z);
  };
  EXPECT_EQ(clipped({}, {}), (ValueRange{-8, 7, false}));
  EXPECT_EQ(clipped(-2, 100), (ValueRange{-2, 7, false}));
  EXPECT_EQ(clipped(10, 20), (ValueRange{10, 10, false}));
  EXPECT_EQ(clipped({}, -20), (ValueRange{-20, -20, false}));
  EXPECT_EQ(clipped(5, -3), (ValueRange{-3, -3, false}));
  EXPECT_EQ(clipped({}, 20, true), (ValueRange{-128, 127, false}));
}

TEST(ValueRange, IntegerOperatorsSayWhatTheyMake) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, 4, 2, 2});
  const ValueId narrow = graph.add_value("narrow", ElementType::kI8, Shape{1, 4, 2, 2});
  Node& two_bits = graph.add_node("two", "QRequantize", {x}, {narrow}, kTilewrightDomain);
  two_bits.attributes["clip_low"] = int64_t{-2};
  two_bits.attributes["clip_high"] = int64_t{1};
  EXPECT_EQ(value_range(graph, narrow), (ValueRange{-2, 1, false}));
  const ValueId sign = graph.add_value("sign", ElementType::kI8, Shape{1, 4, 2, 2});
  Node& signs = graph.add_node("sign", "QRequantize", {x}, {sign}, kTilewrightDomain);
  signs.attributes["clip_low"] = int64_t{0};
  signs.attributes["clip_high"] = int64_t{1};
  signs.attributes["bipolar"] = int64_t{1};
  EXPECT_EQ(value_range(graph, sign), (ValueRange{-1, 1, true}));
  // Moving keeps a range, joining joins, and two kinds of single bits are no kind together.
  const ValueId pool = graph.add_value("pool", ElementType::kI8, Shape{1, 4, 1, 1});
  graph.add_node("pool", "MaxPool", {sign}, {pool});
  EXPECT_EQ(value_range(graph, pool), (ValueRange{-1, 1, true}));
  const ValueId both = graph.add_value("both", ElementType::kI8, Shape{1, 8, 2, 2});
  graph.add_node("both", "Concat", {sign, narrow}, {both});
  EXPECT_EQ(value_range(graph, both), (ValueRange{-2, 1, false}));
}

TEST(ValueRange, TablesBoundWhatIsLookedUp) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{4});
  Tensor table(ElementType::kI8, Shape{256});
  for (int64_t i = 0; i < 256; ++i) table.set_integer(i, i / 64 - 1);
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{4});
  graph.add_node("lookup", "QLookup", {x, graph.add_constant("table", table)}, {y}, kTilewrightDomain);
  EXPECT_EQ(value_range(graph, y), (ValueRange{-1, 2, false}));
}

TEST(ValueRange, ConstantsAreWhatTheyHold) {
  Graph graph;
  Tensor signs(ElementType::kI8, Shape{3});
  for (int i = 0; i < 3; ++i) signs.set_integer(i, i == 1 ? -1 : 1);
  const ValueId c = graph.add_constant("c", signs);
  EXPECT_EQ(value_range(graph, c), (ValueRange{-1, 1, true}));
  signs.set_integer(2, 0);
  EXPECT_EQ(value_range(graph, graph.add_constant("d", signs)), (ValueRange{-1, 1, false}));
}

}  // namespace
}  // namespace tilewright
