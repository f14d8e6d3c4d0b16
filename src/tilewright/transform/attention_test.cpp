#include "tilewright/transform/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/random_seed_testing.h"
#include "support/transform/layer_builder_testing.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

enum class ScaleAt { kNowhere, kScores, kDividedScores, kQuery, kBoth, kBeforeHeads };
enum class MaskAs { kNothing, kConstant, kInput, kSubtracted, kChoice, kComputedInput };

// One way to write an attention of `heads` heads of `width`.
struct AttentionSpelling {
  int64_t batch = 2, length = 5, keys = 6, heads = 4, width = 8;
  ScaleAt scale = ScaleAt::kScores;
  MaskAs mask = MaskAs::kNothing;
  bool two_transposes = false;  // of the keys: into heads, then the last two axes
  bool merges_batch = false;    // batch and heads in one axis
  bool mask_first = false;      // the mask is the left operand
  bool reshapes_scores = false;
};

// What the graph was built from.
struct Written {
  Graph graph;
  ValueId q, k, v, mask = kNoValue;
  double scale = 1;
};

class AttentionBuilder {
 public:
  explicit AttentionBuilder(const AttentionSpelling& spelling) : s_(spelling) {}

  Written build() {
    const int64_t whole = s_.heads * s_.width;
    const ValueId x = b_.input({s_.batch, s_.length, whole}), memory = b_.input({s_.batch, s_.keys, whole});
    w_.q = projected(x);
    w_.k = projected(memory);
    w_.v = projected(memory);
    const double wanted = 1 / std::sqrt(double(s_.width));
    if (s_.scale != ScaleAt::kNowhere) w_.scale = wanted;
    ValueId q = s_.scale == ScaleAt::kBeforeHeads ? times(w_.q, wanted) : w_.q;
    q = heads(q, {0, 2, 1, 3}, s_.length);
    if (s_.scale == ScaleAt::kQuery) q = times(q, wanted);
    if (s_.scale == ScaleAt::kBoth) q = times(q, std::sqrt(wanted));
    ValueId k = s_.two_transposes ? transposed(heads(w_.k, {0, 2, 1, 3}, s_.keys))
                                  : heads(w_.k, {0, 2, 3, 1}, s_.keys, true);
    if (s_.scale == ScaleAt::kBoth) k = times(k, std::sqrt(wanted));
    ValueId scores = b_.node("MatMul", {q, k});
    if (s_.scale == ScaleAt::kScores) scores = times(scores, wanted);
    if (s_.scale == ScaleAt::kDividedScores) scores = b_.node("Div", {scores, number(float(1 / wanted))});
    if (s_.reshapes_scores) scores = b_.node("Unsqueeze", {scores, b_.integers({0})});
    ValueId p = b_.node("Softmax", {masked(scores)}, {{"axis", int64_t{-1}}});
    if (s_.reshapes_scores) p = b_.node("Squeeze", {p, b_.integers({0})});
    const ValueId y = b_.node("MatMul", {p, heads(w_.v, {0, 2, 1, 3}, s_.keys)});
    w_.graph = b_.finish({y});
    return std::move(w_);
  }

 private:
  ValueId number(float value) { return b_.constant(Tensor::scalar(value)); }
  ValueId times(ValueId x, double factor) { return b_.node("Mul", {x, number(float(factor))}); }

  ValueId projected(ValueId x) {
    const int64_t whole = s_.heads * s_.width;
    return b_.add(b_.node("MatMul", {x, b_.uniform({whole, whole})}), b_.uniform({whole}));
  }

  ValueId heads(ValueId x, const std::vector<int64_t>& perm, int64_t length, bool is_turned = false) {
    const ValueId apart = b_.reshape(x, {s_.batch, length, s_.heads, s_.width});
    const ValueId y = b_.transpose(apart, perm);
    if (!s_.merges_batch) return y;
    const int64_t both = s_.batch * s_.heads;
    return is_turned ? b_.reshape(y, {both, s_.width, length}) : b_.reshape(y, {both, length, s_.width});
  }

  ValueId transposed(ValueId x) {
    return s_.merges_batch ? b_.transpose(x, {0, 2, 1}) : b_.transpose(x, {0, 1, 3, 2});
  }

  ValueId masked(ValueId scores) {
    const Shape shape{s_.length, s_.keys};
    switch (s_.mask) {
      case MaskAs::kNothing:
        return scores;
      case MaskAs::kConstant:
        w_.mask = b_.uniform(shape, -9, 0);
        break;
      case MaskAs::kInput:
        w_.mask = b_.input(shape, "mask");
        break;
      case MaskAs::kSubtracted:
        w_.mask = b_.input(shape, "mask");
        return b_.node("Sub", {scores, w_.mask});
      case MaskAs::kChoice:
        w_.mask = b_.node("Greater", {b_.input(shape, "mask"), number(0)});
        return s_.mask_first ? b_.node("Where", {w_.mask, number(-1e9f), scores})
                             : b_.node("Where", {w_.mask, scores, number(-3e38f)});
      case MaskAs::kComputedInput:
        w_.mask = times(b_.node("Sub", {number(1), b_.input(shape, "mask")}), -10000);
        break;
    }
    return s_.mask_first ? b_.add(w_.mask, scores) : b_.add(scores, w_.mask);
  }

  const AttentionSpelling& s_;
  LayerBuilder b_;
  Written w_;
};

AttentionSpelling random_spelling(Random& random) {
  AttentionSpelling s;
  s.batch = random.between(1, 3);
  s.length = random.between(1, 7);
  s.keys = random.between(1, 7);
  s.heads = random.between(1, 4);
  s.width = random.between(2, 9);
  s.scale = ScaleAt(random.between(0, 5));
  s.mask = MaskAs(random.between(0, 5));
  s.two_transposes = random.chance(0.5);
  s.merges_batch = random.chance(0.4);
  s.mask_first = random.chance(0.5);
  s.reshapes_scores = random.chance(0.2);
  return s;
}

TEST(FindAttentionClass, EverySpellingHasItsParts) {
  Random random(test_seed());
  const int64_t cases = test_cases(300);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const AttentionSpelling s = random_spelling(random);
    const Written w = AttentionBuilder(s).build();
    const std::vector<Attention> all = find_attention(w.graph);
    ASSERT_EQ(all.size(), 1u);
    const Attention& a = all[0];
    ASSERT_EQ(a.reason, "");
    EXPECT_EQ(a.q, w.q);
    EXPECT_EQ(a.k, w.k);
    EXPECT_EQ(a.v, w.v);
    EXPECT_NEAR(a.scale, w.scale, 1e-6);
    EXPECT_EQ(a.mask, w.mask);
    EXPECT_EQ(a.mask_kind, s.mask == MaskAs::kNothing  ? AttentionMask::kNone
                           : s.mask == MaskAs::kChoice ? AttentionMask::kSelected
                                                       : AttentionMask::kAdded);
    EXPECT_EQ(a.heads, s.heads);
    EXPECT_EQ(a.width, s.width);
    EXPECT_EQ(a.queries, s.length);
    EXPECT_EQ(a.keys, s.keys);
    EXPECT_TRUE(w.graph.nodes[size_t(a.softmax)].is("Softmax"));
    EXPECT_EQ(w.graph.nodes[size_t(a.product)].outputs[0], w.graph.outputs[0]);
    // The passes leave it an attention.
    const Graph simple = optimize(w.graph);
    const std::vector<Attention> after = find_attention(simple);
    ASSERT_EQ(after.size(), 1u);
    EXPECT_EQ(after[0].reason, "");
    EXPECT_NEAR(after[0].scale, w.scale, 1e-6);
    EXPECT_EQ(after[0].width, s.width);
    EXPECT_EQ(after[0].mask_kind, a.mask_kind);
  }
}

// Softmax(scores(q, k)) v of single matrices, as `scores` writes it.
std::vector<Attention> of_scores(const std::function<ValueId(LayerBuilder&, ValueId q, ValueId k)>& scores,
                                 int64_t axis = -1) {
  LayerBuilder b;
  const ValueId q = b.input({4, 3}, "q"), k = b.input({4, 3}, "k"), v = b.input({4, 3}, "v");
  const ValueId p = b.node("Softmax", {scores(b, q, k)}, {{"axis", axis}});
  return find_attention(b.finish({b.node("MatMul", {p, v})}));
}

ValueId product(LayerBuilder& b, ValueId q, ValueId k) {
  return b.node("Gemm", {q, k}, {{"transB", int64_t{1}}, {"alpha", 0.5f}});
}

std::string reason_of(const std::function<ValueId(LayerBuilder&, ValueId q, ValueId k)>& scores,
                      int64_t axis = -1) {
  const std::vector<Attention> all = of_scores(scores, axis);
  return all.size() == 1 ? all[0].reason : "none";
}

TEST(FindAttention, ProductsOfMatricesWithAFactor) {
  const std::vector<Attention> all = of_scores(product);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].reason, "");
  EXPECT_EQ(all[0].scale, 0.5);
  EXPECT_EQ(all[0].heads, 1);
}

TEST(FindAttention, SaysWhereItStops) {
  EXPECT_EQ(reason_of([](auto& b, ValueId q, ValueId k) { return b.node("Tanh", {product(b, q, k)}); }),
            "its scores come from node 'Tanh' (Tanh)");
  EXPECT_EQ(reason_of([](auto& b, ValueId, ValueId) {
              return b.input({4, 4}, "s");
            }),
            "its scores are 's', which no product computes");
  EXPECT_EQ(reason_of([](auto& b, ValueId q, ValueId k) {
              return b.node("Mul", {product(b, q, k), b.node("ReduceMean", {q})});
            }),
            "its scores are scaled by more than one number in node 'Mul'");
  EXPECT_EQ(reason_of(product, 0), "its Softmax is along axis 0 of 2, not the last");
  EXPECT_EQ(
      reason_of([](auto& b, ValueId q, ValueId k) {
        return b.node("Gemm", {b.transpose(q, {1, 0}), k}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}});
      }),
      "node 'Gemm' reads its queries transposed");
  EXPECT_EQ(reason_of([](auto& b, ValueId q, ValueId k) {
              const ValueId bias = b.node("MatMul", {q, b.uniform({3, 4})});
              return b.add(product(b, q, k), b.relu(bias));
            }),
            "its mask depends on node 'MatMul' (MatMul)");
  EXPECT_EQ(
      reason_of([](auto& b, ValueId q, ValueId k) {
        const ValueId keep = b.node("Greater", {b.input({4, 4}, "mask"), b.constant(Tensor::scalar(0.0f))});
        return b.node("Where", {keep, product(b, q, k), b.constant(Tensor::scalar(-5.0f))});
      }),
      "node 'Where' chooses between scores and no large negative number");
  EXPECT_EQ(reason_of([](auto& b, ValueId q, ValueId k) {
              const ValueId s = product(b, q, k);
              return b.add(b.relu(s), b.node("Sigmoid", {s}));
            }),
            "its scores come from node 'Relu' (Relu)");
}

// A classifier, a gate by the probabilities, and weights behind a Softmax are no attention.
TEST(FindAttention, OtherSoftmaxesAreNotAsked) {
  LayerBuilder b;
  const ValueId x = b.input({4, 6}), p = b.node("Softmax", {b.dense(x, 6)});
  const Graph graph =
      b.finish({b.node("Mul", {p, x}), b.dense(p, 3), b.node("MatMul", {b.input({2, 4}, "left"), p})});
  EXPECT_TRUE(find_attention(graph).empty());
}

}  // namespace
}  // namespace tilewright
