#include "tilewright/transform/pipeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/transform/layer_builder_testing.h"
#include "support/transform/random_graph_testing.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"

namespace tilewright {
namespace {

std::string problems(const Graph& graph) {
  Diagnostics diagnostics;
  verify(graph, diagnostics);
  std::string all;
  for (const Diagnostic& d : diagnostics.errors()) all += to_string(d) + "\n";
  return all;
}

Tensor random_input(const Graph& graph, uint64_t seed) {
  Random random(seed);
  Tensor x(ElementType::kF32, graph.value(graph.inputs[0]).shape);
  for (float& value : x.mutable_data<float>()) value = float(2 * random.uniform() - 1);
  return x;
}

// The largest difference of any output element, relative to the largest magnitude in its tensor.
double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].shape(), b[k].shape());
    EXPECT_EQ(a[k].type(), b[k].type());
    double scale = 1e-3, delta = 0;
    for (int64_t i = 0; i < a[k].size(); ++i) {
      EXPECT_TRUE(std::isfinite(b[k].number_at(i)));
      scale = std::max(scale, std::abs(a[k].number_at(i)));
      delta = std::max(delta, std::abs(a[k].number_at(i) - b[k].number_at(i)));
    }
    worst = std::max(worst, delta / scale);
  }
  return worst;
}

TEST(RandomGraph, IsLegalAndReproducible) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    ASSERT_EQ(problems(graph), "");
    EXPECT_EQ(ops(graph), ops(random_graph(seed)));
    for (const Node& node : graph.nodes) ++seen[node.op];
  }
  for (const char* op : {"Conv",
                         "ConvTranspose",
                         "BatchNormalization",
                         "Relu",
                         "Clip",
                         "MaxPool",
                         "AveragePool",
                         "Add",
                         "Sum",
                         "Concat",
                         "Pad",
                         "Identity",
                         "Dropout",
                         "MatMul",
                         "Gemm",
                         "Reshape",
                         "Transpose",
                         "ReduceMean",
                         "GlobalAveragePool",
                         "Softmax",
                         "Mul",
                         "Sub",
                         "Div",
                         "Cast"}) {
    EXPECT_GT(seen[op], 5) << op;
  }
}

// Every pass, in the order of the pipeline, leaves a legal graph with the same results and output names.
TEST(Optimize, EveryPassPreservesResultsOnRandomGraphs) {
  std::map<std::string, int> shrank;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraphOptions options;
    options.layers = 4 + int(seed % 20);
    const Graph graph = random_graph(seed, options);
    const Tensor x = random_input(graph, seed);
    const std::vector<Tensor> expected = run(graph, {x});
    size_t nodes = graph.nodes.size();
    const auto check = [&](const std::string& pass, const Graph& after) {
      ASSERT_EQ(problems(after), "") << pass;
      EXPECT_EQ(output_names(after), output_names(graph)) << pass;
      shrank[pass] += after.nodes.size() < nodes;
      nodes = after.nodes.size();
      EXPECT_LE(difference(expected, run(after, {x})), 2e-5) << pass;
    };
    const Graph optimized = optimize(graph, nullptr, check);
    EXPECT_LE(optimized.nodes.size(), graph.nodes.size() + 4);  // a Sum is several Adds
    if (testing::Test::HasFailure()) break;
  }
  for (const char* pass : {"remove_dead", "remove_no_ops", "merge_clips", "form_gemm", "cancel_transposes",
                           "fold_pads", "fold_batch_norm", "fold_input_affine", "form_depth_to_space",
                           "normalize_reshapes", "merge_duplicates"}) {
    EXPECT_GT(shrank[pass], 2) << pass << " was hardly tested";
  }
}

TEST(Optimize, IsIdempotent) {
  for (uint64_t seed = 300; seed <= 360; ++seed) {
    SCOPED_TRACE(seed);
    const Graph once = optimize(random_graph(seed));
    EXPECT_EQ(ops(optimize(once)), ops(once));
  }
}

TEST(Optimize, ReportsNodesAndIntensity) {
  LayerBuilder b;
  ValueId x = b.input({1, 3, 8, 8});
  x = b.relu(b.batch_norm(b.conv(b.node("Identity", {x}), {.channels = 4, .bias = false})));
  PassReport report;
  const Graph graph = optimize(b.finish({b.pool(x, "MaxPool", 2, 2)}), &report);
  EXPECT_EQ(ops(graph), "Conv Relu MaxPool");
  EXPECT_EQ(report.nodes_before, 5);
  EXPECT_EQ(report.nodes_after, 3);
  // 4 channels x 36 positions x 27 taps; input 768 bytes, weights 432, bias 16, results 4 x 36, 4 x 9 floats.
  EXPECT_EQ(report.after.macs, 4 * 36 * 27);
  EXPECT_EQ(report.after.fused_bytes, 768 + 432 + 16 + 144);
  EXPECT_EQ(report.after.unfused_bytes, 768 + 432 + 16 + 576 + 576 + 576 + 576 + 144);
  EXPECT_GT(report.after.unfused(), report.before.unfused());
  const std::string text = to_string(report);
  EXPECT_NE(text.find("fold_batch_norm          4 -> 3     nodes"), std::string::npos) << text;
  EXPECT_EQ(report.groups, (std::map<std::string, int>{{"Conv + Relu + MaxPool", 1}}));
  EXPECT_NE(text.find("fused:  3 nodes in 1 groups: 1 x Conv + Relu + MaxPool\n"), std::string::npos) << text;
  EXPECT_NE(text.find("total                    5 -> 3     nodes"), std::string::npos) << text;
  // 3888 MACs: over 768 + 432 + 16 + 144 bytes 2.86 a byte, over all that the nodes alone move 1.25.
  EXPECT_NE(text.find("\nafter:  3888 MACs, 1.06 MACs/byte unfused, 2.86 fused\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nbefore: 3888 MACs, "), std::string::npos) << text;
}

TEST(Optimize, CallsBackAfterEveryPass) {
  LayerBuilder b;
  std::vector<std::string> passes;
  const Graph graph = b.finish({b.relu(b.input({2}))});
  optimize(graph, nullptr, [&](const std::string& pass, const Graph&) { passes.push_back(pass); });
  EXPECT_EQ(passes, pass_names());  // one round: nothing changed
}

TEST(Optimize, RejectsIllegalGraphs) {
  LayerBuilder b;
  Graph graph = b.finish({b.relu(b.input({2}))});
  graph.nodes[0].op = "Rleu";
  try {
    optimize(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("before the first pass"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tilewright
