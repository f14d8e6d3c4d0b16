// The figure onnx_node_tests: how many of the ONNX project's tests pass, fail, and are not covered, those of
// the shared models with published data sets included. With --report, the message of every test that does not
// pass.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "model/onnx_nodes/node_runner.h"
#include "support/outside_testing.h"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;

void report(const fs::path& root) {
  for (const std::string& test : list_node_tests(root)) {
    const NodeTestResult result = run_node_test(root / test);
    const char* const states[] = {"passed", "FAILED", "unsupported"};
    fmt::print("{} | {} | {}\n", states[int(result.state)], test, result.message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path root = TILEWRIGHT_ONNX_TESTDATA;
  if (!fs::exists(root)) {
    fmt::print(stderr, "{} is missing: install the package libonnx-testdata\n", root.string());
    return 1;
  }
  if (argc > 1 && std::string(argv[1]) == "--report") {
    report(root);
    return 0;
  }
  NodeTestSummary total = run_node_tests(root);
  for (const char* model : {"onnx_mnist8", "onnx_super_resolution10"}) {
    const fs::path folder = outside_models() / model;
    if (!fs::exists(folder)) {
      fmt::print("{} is not there\n", model);
      continue;
    }
    const NodeTestResult result = run_node_test(folder, Comparison::kWholeTensor);
    if (result.state == NodeTestState::kPassed) {
      ++total.passed;
    } else {
      ++total.failed;
      total.problems.push_back(fmt::format("{}: {}", model, result.message));
    }
  }
  for (const std::string& problem : total.problems) fmt::print("{}\n", problem);
  fmt::print("{} passed, {} failed, {} not covered (listed with their reasons)\n", total.passed, total.failed,
             total.not_covered);
  fmt::print("{{\"figure\": \"onnx_node_tests\", \"passed\": {}, \"failed\": {}, \"not_covered\": {}}}\n",
             total.passed, total.failed, total.not_covered);
  return total.passed > 0 && total.problems.empty() ? 0 : 1;
}
