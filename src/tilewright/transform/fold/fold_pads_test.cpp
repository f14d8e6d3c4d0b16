#include "tilewright/transform/fold/fold_pads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/random_seed_testing.h"
#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

const std::vector<int64_t> kOneAround = {0, 0, 1, 1, 0, 0, 1, 1};

TEST(FoldPads, IntoConvolutionAndAddsToItsOwn) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 2, 8, 8}), {0, 0, 1, 2, 0, 0, 3, 4});
  const Graph graph = fold_pads(b.finish({b.conv(x, {.pad = 1})}));
  ASSERT_EQ(ops(graph), "Conv");
  EXPECT_EQ(graph.nodes[0].ints_or("pads", {}), (std::vector<int64_t>{2, 3, 4, 5}));
}

TEST(FoldPads, AutoPadBecomesExplicit) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 2, 7, 7}), kOneAround);
  const ValueId y = b.node("Conv", {x, b.uniform({3, 2, 2, 2})}, {{"auto_pad", std::string("SAME_UPPER")}});
  const Graph graph = fold_pads(b.finish({y}));
  ASSERT_EQ(ops(graph), "Conv");
  EXPECT_FALSE(graph.nodes[0].has("auto_pad"));
  EXPECT_EQ(graph.nodes[0].ints_or("pads", {}), (std::vector<int64_t>{1, 1, 2, 2}));
}

TEST(FoldPads, SeveralPads) {
  LayerBuilder b;
  const ValueId x = b.pad(b.pad(b.input({1, 2, 8, 8}), kOneAround), kOneAround);
  const Graph graph = fold_pads(b.finish({b.conv(x, {})}));
  ASSERT_EQ(ops(graph), "Conv");
  EXPECT_EQ(graph.nodes[0].ints_or("pads", {}), (std::vector<int64_t>{2, 2, 2, 2}));
}

TEST(FoldPads, IntoAveragePoolCountsThePadding) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 2, 8, 8}), kOneAround);
  const Graph graph = fold_pads(b.finish({b.pool(x, "AveragePool", 3, 2)}));
  ASSERT_EQ(ops(graph), "AveragePool");
  EXPECT_EQ(graph.nodes[0].int_or("count_include_pad", 0), 1);
}

TEST(FoldPads, IntoAveragePoolThatCountsItsOwnPaddingToo) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 2, 8, 8}), kOneAround);
  const ValueId y = b.node("AveragePool", {x},
                           {{"kernel_shape", std::vector<int64_t>{3, 3}},
                            {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                            {"count_include_pad", int64_t{1}}});
  const Graph graph = fold_pads(b.finish({y}));
  ASSERT_EQ(ops(graph), "AveragePool");
  EXPECT_EQ(graph.nodes[0].ints_or("pads", {}), (std::vector<int64_t>{2, 2, 2, 2}));
}

TEST(FoldPads, IntoMaxPoolOverNonNegativeValuesOrWithMinusInfinity) {
  LayerBuilder b;
  const ValueId x = b.relu(b.input({1, 2, 8, 8}));
  EXPECT_EQ(ops(fold_pads(b.finish({b.pool(b.pad(x, kOneAround), "MaxPool", 3, 2)}))), "Relu MaxPool");
  LayerBuilder c;
  const ValueId z = c.pad(c.input({1, 2, 8, 8}), kOneAround, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(ops(fold_pads(c.finish({c.pool(z, "MaxPool", 3, 2)}))), "MaxPool");
}

TEST(FoldPads, ThroughATransposeIntoAConvolution) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 8, 9, 2}), {0, 1, 2, 0, 0, 3, 4, 0});  // channels last
  const ValueId y = b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  const Graph graph = fold_pads(b.finish({b.conv(y, {})}));
  ASSERT_EQ(ops(graph), "Transpose Conv");
  EXPECT_EQ(graph.nodes[1].ints_or("pads", {}), (std::vector<int64_t>{1, 2, 3, 4}));
  LayerBuilder c;  // channels are padded as well
  const ValueId z = c.pad(c.input({1, 8, 9, 1}), {0, 1, 2, 0, 0, 3, 4, 1});
  const ValueId t = c.node("Transpose", {z}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  EXPECT_EQ(ops(fold_pads(c.finish({c.conv(t, {})}))), "Pad Transpose Conv");
}

TEST(FoldPads, OtherReadersKeepThePad) {
  LayerBuilder b;
  const ValueId x = b.pad(b.input({1, 2, 8, 8}), kOneAround);
  EXPECT_EQ(ops(fold_pads(b.finish({b.conv(x, {}), b.relu(x)}))), "Pad Conv Relu");
}

// Folded or not, a Pad before any window computes the same.
TEST(FoldPadsClass, KeepsResults) {
  Random random(test_seed());
  const int64_t cases = test_cases(600);
  RecordProperty("cases", int(cases));
  int64_t folded = 0;
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    LayerBuilder b(random.next());
    const auto two = [&](int64_t low, int64_t high) {
      return std::vector<int64_t>{random.between(low, high), random.between(low, high)};
    };
    const std::string op = random.chance(0.5) ? "MaxPool" : random.chance(0.5) ? "Conv" : "AveragePool";
    const std::vector<int64_t> kernel = two(1, 3), begin = two(0, 3), end = two(0, 3), own = two(0, 1);
    Attributes attributes{{"kernel_shape", kernel}, {"strides", two(1, 3)}};
    if (random.chance(0.3)) attributes["pads"] = std::vector<int64_t>{own[0], own[1], own[0], own[1]};
    if (op != "AveragePool") attributes["dilations"] = two(1, 3);
    if (op != "Conv") attributes["ceil_mode"] = int64_t{random.chance(0.2)};
    if (op == "AveragePool") attributes["count_include_pad"] = int64_t{random.chance(0.5)};
    Graph graph;
    try {
      const ValueId x = b.relu(b.input({1, 2, random.between(1, 6), random.between(1, 6)}));
      const float value = op == "MaxPool" && random.chance(0.3) ? -std::numeric_limits<float>::infinity() : 0;
      std::vector<ValueId> inputs{b.pad(x, {0, 0, begin[0], begin[1], 0, 0, end[0], end[1]}, value)};
      if (op == "Conv") inputs.push_back(b.uniform({3, 2, kernel[0], kernel[1]}));
      graph = b.finish({b.node(op, inputs, attributes)});
    } catch (const Error&) {  // does not fit
      continue;
    }
    const Graph after = fold_pads(graph);
    folded += find_op(after, "Pad") == nullptr ? 1 : 0;
    Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
    for (float& number : x.mutable_data<float>()) number = float(random.uniform() * 2 - 1);
    std::vector<Tensor> expected;
    try {
      expected = run(graph, {x});
    } catch (const Error&) {  // its own padding alone under a window
      continue;
    }
    const Tensor found = run(after, {x})[0];
    ASSERT_EQ(found.shape(), expected[0].shape());
    for (int64_t e = 0; e < found.size(); ++e) {
      const double wanted = expected[0].number_at(e);
      ASSERT_TRUE(found.number_at(e) == wanted || std::abs(found.number_at(e) - wanted) < 1e-4)
          << op << " " << e;
    }
  }
  EXPECT_GT(folded, cases / 10);
}

TEST(FoldPads, DoesNotFire) {
  const auto after = [](const std::function<ValueId(LayerBuilder&, ValueId)>& add) {
    LayerBuilder b;
    const ValueId x = b.input({1, 2, 8, 8});
    return ops(fold_pads(b.finish({add(b, x)})));
  };
  // Another value.
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.conv(b.pad(x, kOneAround, 1.0f), {}); }), "Pad Conv");
  // Channels.
  EXPECT_EQ(after([](auto& b, ValueId x) {
              return b.conv(b.pad(x, {0, 1, 0, 0, 0, 0, 0, 0}), {});
            }),
            "Pad Conv");
  // Cropping.
  EXPECT_EQ(after([](auto& b, ValueId x) {
              return b.conv(b.pad(x, {0, 0, 1, 1, 0, 0, -1, 1}), {});
            }),
            "Pad Conv");
  // Another mode.
  EXPECT_EQ(
      after([](auto& b, ValueId x) {
        const ValueId y = b.node("Pad", {x, b.integers(kOneAround)}, {{"mode", std::string("reflect")}});
        return b.conv(y, {});
      }),
      "Pad Conv");
  // A transposed convolution crops by its pads.
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.conv_transpose(b.pad(x, kOneAround), {}); }),
            "Pad ConvTranspose");
  // Max over values that may be negative.
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.pool(b.pad(x, kOneAround), "MaxPool", 3, 2); }),
            "Pad MaxPool");
  // A window could lie in the padding alone.
  EXPECT_EQ(after([](auto& b, ValueId x) {
              return b.pool(b.pad(b.relu(x), {0, 0, 2, 2, 0, 0, 2, 2}), "MaxPool", 2, 2);
            }),
            "Relu Pad MaxPool");
  // Taps that are further apart than the input is large: all of them in the padding.
  EXPECT_EQ(after([](auto& b, ValueId x) {
              return b.node(
                  "MaxPool", {b.pad(b.relu(x), kOneAround)},
                  {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"dilations", std::vector<int64_t>{9, 9}}});
            }),
            "Relu Pad MaxPool");
  for (const std::vector<int64_t>& one_side : {std::vector<int64_t>{0, 0, 2, 0, 0, 0, 0, 0},
                                               {0, 0, 0, 2, 0, 0, 0, 0},
                                               {0, 0, 0, 0, 0, 0, 2, 0},
                                               {0, 0, 0, 0, 0, 0, 0, 2}}) {
    EXPECT_EQ(after([&](auto& b, ValueId x) { return b.pool(b.pad(b.relu(x), one_side), "MaxPool", 2, 2); }),
              "Relu Pad MaxPool");
  }
  // Its own padding does not count, the folded one would have to.
  EXPECT_EQ(after([](auto& b, ValueId x) { return b.pool(b.pad(x, kOneAround), "AveragePool", 3, 2, 1); }),
            "Pad AveragePool");
  // Amounts not constant.
  LayerBuilder b;
  const ValueId x = b.input({1, 2, 8, 8});
  Graph graph = b.finish({b.conv(b.pad(x, kOneAround), {})});
  const ValueId amounts = graph.nodes[0].inputs[1];
  graph.value(amounts).constant.reset();
  graph.inputs.push_back(amounts);
  EXPECT_EQ(ops(fold_pads(graph)), "Pad Conv");
}

}  // namespace
}  // namespace tilewright
