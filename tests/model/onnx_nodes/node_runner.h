// Runs tests in the layout of the ONNX backend suite: a folder with model.onnx and
// test_data_set_N/{input,output}_M.pb.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

enum class NodeTestState {
  kPassed,
  kFailed,       // wrong values, or an error nobody expected
  kUnsupported,  // the reader or the host engine says so
};

enum class Comparison {
  kEachElement,  // floats as the ONNX runner: |a - b| <= 1e-7 + 1e-3 |b|
  kWholeTensor,  // for deep networks, whose outputs near zero have no relative accuracy: |a - b| <= 1e-4 max
                 // |b|
};

struct NodeTestResult {
  NodeTestState state = NodeTestState::kPassed;
  std::string message;  // of a failure; of an unsupported model, its first diagnostic
};

// The tests below `root`, as paths relative to it ("node/test_abs"), sorted.
std::vector<std::string> list_node_tests(const std::filesystem::path& root);

// What happens to the graph between reader and host engine; may be empty.
using PrepareGraph = std::function<Graph(Graph)>;

// Reads the model and runs every data set; what is not a float must be equal. Inputs that decide shapes (the
// shape of Reshape, the axes of ReduceSum, ...) are fixed to their value of the data set before the graph is
// built.
NodeTestResult run_node_test(const std::filesystem::path& folder,
                             Comparison comparison = Comparison::kEachElement,
                             const PrepareGraph& prepare = {});

struct NodeTestSummary {
  int passed = 0, failed = 0, not_covered = 0;
  std::vector<std::string> problems;  // of the failed ones, and of entries of the list that are out of date
};

// Runs every test of `root` whose name starts with `prefix` and holds the outcome against the list of tests
// known not to be covered: a test on it must be unsupported (or fail, where the reason says that it differs
// on purpose), all others must pass.
NodeTestSummary run_node_tests(const std::filesystem::path& root, const std::string& prefix = "",
                               const PrepareGraph& prepare = {});

}  // namespace tilewright
