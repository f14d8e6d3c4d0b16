// The published data sets of models, through the runner of the node tests.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/onnx_nodes/node_runner.h"
#include "support/outside_testing.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

TEST(OnnxNodes, PublishedDataSetsOfModels) {
  for (const char* model : {"onnx_mnist8", "onnx_super_resolution10"}) {
    const fs::path folder = outside_models() / model;
    const NodeTestResult result = run_node_test(folder, Comparison::kWholeTensor);
    EXPECT_EQ(result.state, NodeTestState::kPassed) << model << ": " << result.message;
  }
}

}  // namespace
}  // namespace tilewright
