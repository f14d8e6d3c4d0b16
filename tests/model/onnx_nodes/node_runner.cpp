#include "model/onnx_nodes/node_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/onnx_nodes/not_covered.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_inputs.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/proto/onnx_model.h"
#include "tilewright/frontend/onnx/proto/onnx_tensor.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct Tolerance {
  double absolute = 0, relative = 0;
};

Tolerance tolerance_for(const Tensor& expected, Comparison comparison) {
  if (comparison == Comparison::kEachElement) return {1e-7, 1e-3};
  double largest = 0;
  for (int64_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::abs(expected.number_at(i)));
  return {1e-4 * largest, 0};
}

std::vector<Tensor> read_tensors(const fs::path& folder, const char* kind) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(file)) return tensors;
    tensors.push_back(parse_onnx_tensor(read_file(file)));
  }
}

// Empty if `actual` is `expected` within the tolerance.
std::string describe_mismatch(const Tensor& actual, const Tensor& expected, Comparison comparison) {
  if (actual.type() != expected.type() || !(actual.shape() == expected.shape())) {
    return fmt::format("is {} instead of {}", to_string(actual.type(), actual.shape()),
                       to_string(expected.type(), expected.shape()));
  }
  const Tolerance tolerance = tolerance_for(expected, comparison);
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (!is_float(expected.type())) {
      if (actual.integer_at(i) == expected.integer_at(i)) continue;
      return fmt::format("has {} instead of {} at {}", actual.integer_at(i), expected.integer_at(i), i);
    }
    const double a = actual.number_at(i), b = expected.number_at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b)) continue;
    return fmt::format("has {} instead of {} at {}", a, b, i);
  }
  return "";
}

// Empty, or why the outputs are wrong.
std::string run_data_set(const std::vector<std::byte>& bytes, const OnnxModel& model, const fs::path& folder,
                         Comparison comparison, const PrepareGraph& prepare) {
  std::vector<Tensor> given;
  try {
    given = read_tensors(folder, "input");
  } catch (const Error&) {
    parse_onnx(bytes);  // sequences and strings: the model says it better
    throw;
  }
  OnnxBinding bound = bind_inputs(model, std::move(given));
  Graph graph = parse_onnx(bytes, folder.parent_path(), bound.options);
  if (prepare) graph = prepare(std::move(graph));
  const std::vector<Tensor> outputs = run(graph, std::move(bound.inputs));
  const std::vector<Tensor> expected = read_tensors(folder, "output");
  if (expected.empty() || expected.size() > outputs.size()) {
    return fmt::format("{} outputs are expected, {} computed", expected.size(), outputs.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor wanted = from_bits(expected[i], outputs[i].type());
    const std::string mismatch = describe_mismatch(outputs[i], wanted, comparison);
    if (!mismatch.empty()) return fmt::format("output {} {}", i, mismatch);
  }
  return "";
}

}  // namespace

std::vector<std::string> list_node_tests(const fs::path& root) {
  std::vector<std::string> names;
  for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    if (!fs::exists(root / group)) continue;
    for (const auto& entry : fs::directory_iterator(root / group)) {
      if (fs::exists(entry.path() / "model.onnx")) {
        names.push_back(fmt::format("{}/{}", group, entry.path().filename().string()));
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

NodeTestResult run_node_test(const fs::path& folder, Comparison comparison, const PrepareGraph& prepare) {
  try {
    const std::vector<std::byte> bytes = read_file(folder / "model.onnx");
    Diagnostics ignored;  // the reader proper reports them
    const OnnxModel model = parse_onnx_model(bytes, {folder, false}, ignored);
    int data_sets = 0;
    for (; fs::exists(folder / fmt::format("test_data_set_{}", data_sets)); ++data_sets) {
      const std::string problem = run_data_set(
          bytes, model, folder / fmt::format("test_data_set_{}", data_sets), comparison, prepare);
      if (!problem.empty()) return {NodeTestState::kFailed, problem};
    }
    if (data_sets == 0) return {NodeTestState::kFailed, "no data sets"};
    return {NodeTestState::kPassed, ""};
  } catch (const Error& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (diagnostic.kind == ErrorKind::kUnsupported)
        return {NodeTestState::kUnsupported, to_string(diagnostic)};
    }
    return {NodeTestState::kFailed, error.what()};
  } catch (const std::exception& error) {
    return {NodeTestState::kFailed, error.what()};
  }
}

NodeTestSummary run_node_tests(const fs::path& root, const std::string& prefix, const PrepareGraph& prepare) {
  const std::map<std::string, std::string> not_covered = read_not_covered(TILEWRIGHT_NOT_COVERED_LIST);
  NodeTestSummary summary;
  const std::vector<std::string> tests = list_node_tests(root);
  for (const std::string& test : tests) {
    if (test.rfind(prefix, 0) != 0) continue;
    const NodeTestResult result = run_node_test(root / test, Comparison::kEachElement, prepare);
    const auto listed = not_covered.find(test);
    const bool is_listed = listed != not_covered.end();
    const NodeTestState expected = !is_listed ? NodeTestState::kPassed
                                   : listed->second.rfind(kDiffersOnPurpose, 0) == 0
                                       ? NodeTestState::kFailed
                                       : NodeTestState::kUnsupported;
    if (result.state == expected) {
      ++(is_listed ? summary.not_covered : summary.passed);
    } else {
      ++summary.failed;
      const std::string detail = is_listed && result.state == NodeTestState::kPassed
                                     ? "passes, but is listed as not covered"
                                     : result.message;
      summary.problems.push_back(fmt::format("{}: {}", test, detail));
    }
  }
  for (const auto& [test, reason] : not_covered) {
    if (test.rfind(prefix, 0) == 0 && !std::binary_search(tests.begin(), tests.end(), test)) {
      summary.problems.push_back(fmt::format("{}: is listed as not covered, but does not exist", test));
    }
  }
  return summary;
}

}  // namespace tilewright
