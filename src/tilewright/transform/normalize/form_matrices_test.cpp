// Attention spelled in random ways, before and after the pass: the same bytes, and no Transpose left.
#include "tilewright/transform/normalize/form_matrices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

class AttentionBuilder {
 public:
  explicit AttentionBuilder(uint64_t seed) : random_(seed) {}

  Graph graph;
  Random& random() { return random_; }

  ValueId input(const char* name, Shape shape) {
    return graph.add_input(name, ElementType::kI8, std::move(shape));
  }
  ValueId node(const char* op, std::vector<ValueId> inputs, Attributes attributes = {},
               const char* domain = kTilewrightDomain) {
    const ValueId y = graph.add_value(fmt::format("y{}", ++count_), ElementType::kI8, Shape{1});
    Node& added = graph.add_node(fmt::format("n{}", count_), op, std::move(inputs), {y});
    added.domain = domain;
    added.attributes = std::move(attributes);
    graph.value(y).shape = infer_node(graph, added)[0].shape;
    return y;
  }
  ValueId reshape(ValueId x, std::vector<int64_t> dims) {
    const ValueId shape = graph.add_constant(
        fmt::format("s{}", ++count_), Tensor(Shape{int64_t(dims.size())}, std::span<const int64_t>(dims)));
    return node("Reshape", {x, shape}, {}, "");
  }
  ValueId transpose(ValueId x, std::vector<int64_t> perm) {
    return node("Transpose", {x}, {{"perm", std::move(perm)}}, "");
  }
  ValueId product(ValueId a, ValueId b, bool transpose_b) {
    return node("QMatMul", {a, b},
                {{"multiplier", int64_t{1 << 30}},
                 {"shift", int64_t{38}},
                 {"transpose_b", int64_t{transpose_b}},
                 {"a_zero_point", random_.between(-9, 9)}});
  }
  // [1, T, H * d] as [1, H, T, d], with or without the leading 1.
  ValueId heads_of(ValueId x, int64_t tokens, int64_t heads, int64_t depth, bool with_one) {
    if (with_one) return transpose(reshape(x, {1, tokens, heads, depth}), {0, 2, 1, 3});
    return transpose(reshape(x, {tokens, heads, depth}), {1, 0, 2});
  }

 private:
  Random random_;
  int count_ = 0;
};

std::vector<Tensor> run_random(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    Tensor x(ElementType::kI8, graph.value(id).shape);
    for (int64_t i = 0; i < x.size(); ++i) x.set_integer(i, random.between(-128, 127));
    inputs.push_back(std::move(x));
  }
  return run(graph, inputs);
}

int64_t count(const Graph& graph, const char* op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; });
}

Graph formed_matrices(const Graph& graph, uint64_t seed) {
  Graph after = form_matrices(graph);
  Diagnostics problems;
  verify(after, problems);
  EXPECT_TRUE(problems.ok()) << (problems.ok() ? "" : to_string(problems.errors()[0]));
  const std::vector<Tensor> expected = run_random(graph, seed), got = run_random(after, seed);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(got[i].identical(expected[i])) << i;
  EXPECT_EQ(output_names(after), output_names(graph));
  return after;
}

TEST(FormMatrices, AttentionInAnySpellingIsProductsOfMatrices) {
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    AttentionBuilder b(seed);
    Random& random = b.random();
    const int64_t heads = random.between(1, 4), tokens = random.between(1, 9), keys = random.between(1, 9),
                  depth = random.between(1, 6);
    const bool with_one = random.chance(0.6), turned = random.chance(0.5);
    const ValueId x = b.input("x", {1, tokens, heads * depth}), z = b.input("z", {1, keys, heads * depth}),
                  w = b.input("w", {1, keys, heads * depth});
    const ValueId q = b.heads_of(x, tokens, heads, depth, with_one);
    ValueId k = b.heads_of(z, keys, heads, depth, with_one);
    if (!turned)
      k = b.transpose(k, with_one ? std::vector<int64_t>{0, 1, 3, 2} : std::vector<int64_t>{0, 2, 1});
    const ValueId v = b.heads_of(w, keys, heads, depth, with_one);
    const ValueId scores = b.product(q, k, turned);
    const ValueId moved =
        b.node("QRequantize", {scores}, {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}});
    ValueId y = b.product(moved, v, false);
    y = b.transpose(y, with_one ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{1, 0, 2});
    y = b.reshape(y, {1, tokens, heads * depth});
    b.graph.outputs = {b.node(
        "QAdd", {x, y}, {{"multiplier_a", int64_t{1}}, {"multiplier_b", int64_t{1}}, {"shift", int64_t{1}}})};
    if (random.chance(0.3)) b.graph.outputs.push_back(scores);
    const Graph after = formed_matrices(b.graph, seed);
    EXPECT_EQ(count(after, "Transpose"), 0);
    for (const Node& n : after.nodes) {
      if (!n.is_tilewright("QMatMul")) continue;
      EXPECT_EQ(after.value(n.input(0)).shape.rank(), 2);
      EXPECT_EQ(after.value(n.outputs[0]).shape.rank(), 2);
      EXPECT_EQ(n.int_or("heads", 1), heads);
    }
  }
}

// Queries and keys turned by heads, several heads of queries to one of keys, a causal softmax.
TEST(FormMatrices, TurnedHeadsThatShareKeysAreSideBySide) {
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    AttentionBuilder b(seed);
    Random& random = b.random();
    const int64_t groups = random.between(1, 3), shared = random.between(1, 3), heads = groups * shared,
                  tokens = random.between(2, 9), depth = 2 * random.between(1, 4);
    Tensor angles(ElementType::kI8, {tokens, depth / 2});
    for (int64_t k = 0; k < angles.size(); ++k) angles.set_integer(k, random.between(-127, 127));
    const ValueId cosines = b.graph.add_constant("cosines", angles),
                  sines = b.graph.add_constant("sines", angles);
    const auto turned = [&](const char* name, int64_t count) {
      const ValueId x = b.heads_of(b.input(name, {1, tokens, count * depth}), tokens, count, depth, true);
      return b.node("QRotary", {x, cosines, sines},
                    {{"multiplier", int64_t{1 << 30}},
                     {"shift", int64_t{37}},
                     {"x_zero_point", random.between(-9, 9)}});
    };
    ValueId q = turned("q", heads);
    const ValueId k = turned("k", groups);
    const ValueId v = b.heads_of(b.input("v", {1, tokens, groups * depth}), tokens, groups, depth, true);
    if (shared > 1) q = b.reshape(q, {1, groups, shared * tokens, depth});
    ValueId scores = b.product(q, b.transpose(k, {0, 1, 3, 2}), false);
    if (shared > 1) scores = b.reshape(scores, {1, heads, tokens, tokens});
    std::vector<int32_t> exponentials(256, 1 << 20);
    for (int d = 0; d < 256; ++d) exponentials[size_t(d)] >>= d / 16;
    const ValueId table =
        b.graph.add_constant("t", Tensor(Shape{256}, std::span<const int32_t>(exponentials)));
    ValueId soft = b.node("QSoftmax", {scores, table},
                          {{"numerator", int64_t{1} << 48}, {"shift", int64_t{41}}, {"causal", tokens}});
    if (shared > 1) soft = b.reshape(soft, {1, groups, shared * tokens, tokens});
    ValueId y = b.product(soft, v, false);
    if (shared > 1) y = b.reshape(y, {1, heads, tokens, depth});
    b.graph.outputs = {b.reshape(b.transpose(y, {0, 2, 1, 3}), {1, tokens, heads * depth})};
    const Graph after = formed_matrices(b.graph, seed);
    EXPECT_EQ(count(after, "Transpose"), 0);
    for (const Node& n : after.nodes) {
      if (n.domain != kTilewrightDomain) continue;
      EXPECT_EQ(after.value(n.outputs[0]).shape.rank(), 2) << n.op;
      if (n.op == "QSoftmax") {
        EXPECT_EQ(after.value(n.outputs[0]).shape, (Shape{heads * tokens, tokens}));
        EXPECT_EQ(n.int_or("causal", 0), tokens);
      }
      if (n.op == "QMatMul") {
        EXPECT_EQ(n.int_or("heads", 1), heads);
        EXPECT_EQ(n.int_or("groups", heads), groups);
      }
    }
  }
}

// What is no such view stays a Transpose: an axis that is turned around, batches beside heads.
TEST(FormMatrices, KeepsOtherTransposes) {
  AttentionBuilder b(test_seed());
  const ValueId x = b.input("x", {3, 5, 4}), z = b.input("z", {3, 4, 6});
  const ValueId turned = b.transpose(x, {2, 1, 0});  // [4, 5, 3]
  const ValueId other = b.transpose(b.reshape(z, {3, 6, 4}), {2, 0, 1});
  b.graph.outputs = {b.product(turned, other, false)};
  EXPECT_EQ(count(formed_matrices(b.graph, 7), "Transpose"), 2);
}

TEST(FormMatrices, RowsHaveRankTwo) {
  AttentionBuilder b(test_seed());
  const ValueId x = b.input("x", {2, 3, 4, 5});
  std::vector<int32_t> exponentials(256, 1 << 20);
  const ValueId table = b.graph.add_constant("t", Tensor(Shape{256}, std::span<const int32_t>(exponentials)));
  const ValueId soft =
      b.node("QSoftmax", {x, table}, {{"numerator", int64_t{1} << 40}, {"shift", int64_t{33}}});
  b.graph.outputs = {b.node("QRequantize", {soft}, {{"multiplier", int64_t{1}}, {"shift", int64_t{0}}})};
  const Graph after = formed_matrices(b.graph, 7);
  for (const Node& n : after.nodes) {
    if (n.domain != kTilewrightDomain) continue;
    EXPECT_EQ(after.value(n.outputs[0]).shape, (Shape{24, 5})) << n.op;
  }
}

}  // namespace
}  // namespace tilewright
