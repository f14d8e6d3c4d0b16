#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "model/onnx_nodes/node_runner.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/proto/onnx_tensor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

void expect_all_pass(const std::string& group) {
  const fs::path root = TILEWRIGHT_ONNX_TESTDATA;
  if (!fs::exists(root)) GTEST_SKIP() << root << " is missing: install the package libonnx-testdata";
  const NodeTestSummary summary = run_node_tests(root, group);
  std::cout << group << " " << summary.passed << " passed, " << summary.failed << " failed, "
            << summary.not_covered << " not covered\n";
  EXPECT_GT(summary.passed, 0);
  for (const std::string& problem : summary.problems) ADD_FAILURE() << problem;
}

TEST(OnnxNodes, OneOperatorEach) { expect_all_pass("node/"); }
TEST(OnnxNodes, SimpleModels) { expect_all_pass("simple/"); }
TEST(OnnxNodes, PytorchOperators) { expect_all_pass("pytorch-operator/"); }
TEST(OnnxNodes, PytorchModules) { expect_all_pass("pytorch-converted/"); }

// The runner itself: a data set with one changed element must fail.
TEST(OnnxNodes, WrongExpectationsAreNoticed) {
  const fs::path original = fs::path(TILEWRIGHT_ONNX_TESTDATA) / "node/test_relu";
  if (!fs::exists(original)) GTEST_SKIP() << original << " is missing";
  std::string pattern = (fs::temp_directory_path() / "onnx_nodes_XXXXXX").string();
  const fs::path copy = mkdtemp(pattern.data());
  fs::copy(original, copy, fs::copy_options::recursive);
  EXPECT_EQ(run_node_test(copy).state, NodeTestState::kPassed);
  const fs::path output = copy / "test_data_set_0" / "output_0.pb";
  Tensor tensor = parse_onnx_tensor(read_file(output));
  tensor.set_number(7, tensor.number_at(7) * 1.01 + 1e-4);
  fs::permissions(output, fs::perms::owner_all);
  write_file(output, format_onnx_tensor(tensor));
  const NodeTestResult result = run_node_test(copy);
  EXPECT_EQ(result.state, NodeTestState::kFailed);
  EXPECT_NE(result.message.find("output 0 has"), std::string::npos) << result.message;
  fs::remove_all(copy);
}

}  // namespace
}  // namespace tilewright
