// The shared TensorFlow models: read, and held against what their records say.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/outside_testing.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = outside_models();

std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes) ++counts[node.op];
  return counts;
}

TEST(SharedTensorflowModels, LenetLosesItsDropout) {
  const fs::path file = kModels / "tf_lenet/lenet.pb";
  TfStages stages;
  Diagnostics warnings;
  const Graph graph = read_tensorflow(file, {}, &warnings, &stages);
  EXPECT_EQ(stages.stored.nodes, 46);
  EXPECT_EQ(stages.reachable.nodes, 46);
  EXPECT_EQ(stages.frozen.nodes, 26);
  EXPECT_EQ(operators(graph), (std::map<std::string, int>{{"Add", 4},
                                                          {"Conv", 2},
                                                          {"MatMul", 2},
                                                          {"MaxPool", 2},
                                                          {"Relu", 3},
                                                          {"Reshape", 2},
                                                          {"Transpose", 8}}));
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "Placeholder");
  EXPECT_EQ(graph.value(graph.inputs[0]).shape, (Shape{1, 784}));
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "fc2/BiasAdd");
}

}  // namespace
}  // namespace tilewright
