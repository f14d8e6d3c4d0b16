// The ONNX project's own tests with the graph passes between reader and host engine: every operator, with all
// its attributes, types and edge cases, must survive them.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "model/onnx_nodes/node_runner.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// The node behind each output hands on to an Identity, so that it does not write a graph output and passes
// may fold, move or remove it.
Graph with_identities(Graph graph) {
  for (ValueId& output : graph.outputs) {
    const Value& value = graph.value(output);
    const std::string name = value.name;
    const ValueId copy = graph.add_value(name + "_copy", value.type, value.shape);
    graph.add_node("hand_on", "Identity", {output}, {copy});
    output = copy;
  }
  return graph;
}

Graph optimized(Graph graph) { return optimize(std::move(graph)); }
Graph optimized_inside(Graph graph) { return optimize(with_identities(std::move(graph))); }

void expect_all_pass(const std::string& group, Graph (*prepare)(Graph)) {
  const std::filesystem::path root = TILEWRIGHT_ONNX_TESTDATA;
  if (!std::filesystem::exists(root))
    GTEST_SKIP() << root << " is missing: install the package libonnx-testdata";
  const NodeTestSummary summary = run_node_tests(root, group, prepare);
  std::cout << group << " " << summary.passed << " passed, " << summary.failed << " failed, "
            << summary.not_covered << " not covered\n";
  EXPECT_GT(summary.passed, 0);
  for (const std::string& problem : summary.problems) ADD_FAILURE() << problem;
}

TEST(OptimizedOnnxNodes, OneOperatorEach) { expect_all_pass("node/", optimized); }
TEST(OptimizedOnnxNodes, OneOperatorInside) { expect_all_pass("node/", optimized_inside); }
TEST(OptimizedOnnxNodes, SimpleModels) { expect_all_pass("simple/", optimized_inside); }
TEST(OptimizedOnnxNodes, PytorchOperators) { expect_all_pass("pytorch-operator/", optimized_inside); }
TEST(OptimizedOnnxNodes, PytorchModules) { expect_all_pass("pytorch-converted/", optimized_inside); }

}  // namespace
}  // namespace tilewright
