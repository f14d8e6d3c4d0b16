#include "model/onnx_nodes/node_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/onnx_nodes/not_covered.h"
#include "tilewright/base/file.h"
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

// Inputs of an operator whose values decide the shapes of its outputs. (CastLike: the data of one test has
// another shape than its model declares; only the type of this input matters.)
const std::map<std::string, std::vector<size_t>>& shape_inputs() {
  static const std::map<std::string, std::vector<size_t>> table = {
      {"Reshape", {1}},    {"Slice", {1, 2, 3, 4}}, {"Pad", {1, 3}},    {"Expand", {1}},
      {"Tile", {1}},       {"Squeeze", {1}},        {"Unsqueeze", {1}}, {"ReduceSum", {1}},
      {"Split", {1}},      {"Resize", {1, 2, 3}},   {"Upsample", {1}},  {"ConstantOfShape", {0}},
      {"TopK", {1}},       {"Range", {0, 1, 2}},    {"OneHot", {1}},    {"CumSum", {1}},
      {"Dropout", {1, 2}}, {"CastLike", {1}},
  };
  return table;
}

std::vector<Tensor> read_tensors(const fs::path& folder, const char* kind) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(file)) return tensors;
    tensors.push_back(parse_onnx_tensor(read_file(file)));
  }
}

// The names of the inputs in file order, without those that have an initializer.
std::vector<std::string> input_names(const OnnxModel& model) {
  std::set<std::string> initialized;
  for (const auto& [name, tensor] : model.initializers) initialized.insert(name);
  std::vector<std::string> names;
  for (const OnnxValueInfo& input : model.inputs) {
    if (!initialized.count(input.name)) names.push_back(input.name);
  }
  return names;
}

// With the inputs that no node reads: the data of two tests have another shape there than their models
// declare.
std::set<std::string> names_to_fix(const OnnxModel& model) {
  std::set<std::string> names;
  for (const std::string& input : input_names(model)) names.insert(input);
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& input : node.inputs) names.erase(input);
  }
  for (const OnnxNode& node : model.nodes) {
    const auto found = shape_inputs().find(node.op);
    if (found == shape_inputs().end()) continue;
    for (const size_t index : found->second) {
      if (index < node.inputs.size()) names.insert(node.inputs[index]);
    }
  }
  return names;
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

// The published data stores bfloat16 as the bits in uint16.
Tensor as_declared(Tensor tensor, std::optional<ElementType> declared) {
  if (declared != ElementType::kBF16 || tensor.type() != ElementType::kU16) return tensor;
  Tensor reinterpreted(ElementType::kBF16, tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), reinterpreted.mutable_bytes().begin());
  return reinterpreted;
}

// Empty, or why the outputs are wrong.
std::string run_data_set(const std::vector<std::byte>& bytes, const OnnxModel& model, const fs::path& folder,
                         Comparison comparison, const PrepareGraph& prepare) {
  const std::vector<std::string> names = input_names(model);
  const std::set<std::string> fixed = names_to_fix(model);
  std::vector<Tensor> given;
  try {
    given = read_tensors(folder, "input");
  } catch (const Error&) {
    parse_onnx(bytes);  // sequences and strings: the model says it better
    throw;
  }
  if (given.size() > names.size()) return fmt::format("{} inputs for {} names", given.size(), names.size());
  OnnxOptions options;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto declared = std::find_if(model.inputs.begin(), model.inputs.end(),
                                       [&](const OnnxValueInfo& info) { return info.name == names[i]; });
    given[i] = as_declared(given[i], declared->type);
    if (fixed.count(names[i])) {
      options.fixed_inputs[names[i]] = given[i];
    } else {
      inputs.push_back(given[i]);
      for (size_t axis = 0; axis < declared->dims.size() && axis < size_t(given[i].shape().rank()); ++axis) {
        const std::string& symbol = declared->dims[axis].symbol;
        const std::string dimension = symbol.empty() ? fmt::format("{}.{}", names[i], axis) : symbol;
        if (declared->dims[axis].size < 0) options.dimensions[dimension] = given[i].shape()[int(axis)];
      }
    }
  }
  Graph graph = parse_onnx(bytes, folder.parent_path(), options);
  if (prepare) graph = prepare(std::move(graph));
  const std::vector<Tensor> outputs = run(graph, std::move(inputs));
  const std::vector<Tensor> expected = read_tensors(folder, "output");
  if (expected.empty() || expected.size() > outputs.size()) {
    return fmt::format("{} outputs are expected, {} computed", expected.size(), outputs.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor wanted = as_declared(expected[i], outputs[i].type());
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
