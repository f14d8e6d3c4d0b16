// If, Loop and Scan without control flow: the branch that is taken, or both with a choice between what they
// give; a loop of known length as its iterations, one after another.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

constexpr int64_t kMostIterations = 4096;

// nullopt after an error.
const OnnxGraph* body_of(NodeConversion& conversion, const char* attribute) {
  const OnnxGraph* body = conversion.body(attribute);
  if (body == nullptr) conversion.invalid(fmt::format("has no graph in attribute '{}'", attribute));
  return body;
}

// One known truth value; nullopt if it depends on the data.
std::optional<bool> known_truth(NodeConversion& conversion, ValueId id) {
  const auto tensor = conversion.constant_of(id);
  if (!tensor || tensor->size() != 1) return {};
  return tensor->number_at(0) != 0;
}

bool outputs_fit(const Node& node, NodeConversion& conversion, size_t count) {
  if (node.outputs.size() <= count) return true;
  conversion.invalid(fmt::format("has {} outputs, its body gives {}", node.outputs.size(), count));
  return false;
}

// A condition that depends on the data chooses between the results of both branches.
void choose_result(Node& node, NodeConversion& conversion, const std::vector<ValueId>& yes,
                   const std::vector<ValueId>& no) {
  Steps s(conversion);
  std::vector<ValueId> chosen;
  for (size_t i = 0; i < yes.size() && i < no.size(); ++i) {
    const bool tensors = !conversion.sequence(yes[i]) && !conversion.sequence(no[i]);
    if (!tensors || s.type(yes[i]) != s.type(no[i]) || s.shape(yes[i]) != s.shape(no[i])) {
      return conversion.unsupported(
          "its condition depends on the data, and its branches give results of different shapes",
          "fix the condition when the model is exported");
    }
    chosen.push_back(s.op("Where", {s.reshape(node.input(0), Shape{}), yes[i], no[i]}));
  }
  if (outputs_fit(node, conversion, chosen.size())) define_all(node, conversion, chosen);
}

// What one iteration gives per scan output, put together along an axis.
ValueId stacked(Steps& s, const std::vector<ValueId>& parts, int64_t axis) {
  NodeConversion& conversion = s.conversion();
  if (parts.empty()) {
    conversion.unsupported("has no iteration, so that the shape of a scan output is not known",
                           "export the model without this loop");
    return kNoValue;
  }
  std::vector<ValueId> slices;
  for (const ValueId part : parts) slices.push_back(s.op("Unsqueeze", {part, s.integers({axis})}));
  return s.concat(std::move(slices), int(axis));
}

}  // namespace

void convert_if(Node& node, NodeConversion& conversion) {
  const OnnxGraph *yes = body_of(conversion, "then_branch"), *no = body_of(conversion, "else_branch");
  if (yes == nullptr || no == nullptr) return;
  if (const auto taken = known_truth(conversion, node.input(0))) {
    const std::vector<ValueId> results = conversion.unrolled(*taken ? *yes : *no, {});
    if (!conversion.failed() && outputs_fit(node, conversion, results.size()))
      define_all(node, conversion, results);
    return;
  }
  if (Steps(conversion).shape(node.input(0)).element_count() != 1)
    return conversion.invalid("needs one truth value as its condition");
  const std::vector<ValueId> first = conversion.unrolled(*yes, {});
  const std::vector<ValueId> second = conversion.unrolled(*no, {});
  if (!conversion.failed()) choose_result(node, conversion, first, second);
}

// Inputs: most iterations, condition, carried values. The body: iteration, condition and carried values to
// condition, carried values and scan outputs.
void convert_loop(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const OnnxGraph* body = body_of(conversion, "body");
  if (body == nullptr) return;
  const char* const kHint = "export the model with a loop of fixed length";
  int64_t most = INT64_MAX;
  if (node.has_input(0)) {
    const auto count = conversion.constant_of(node.input(0));
    if (!count || count->size() != 1)
      return conversion.unsupported("its number of iterations depends on the data", kHint);
    most = count->integer_at(0);
  }
  std::optional<bool> goes_on = node.has_input(1) ? known_truth(conversion, node.input(1)) : true;
  Tensor yes(ElementType::kBool, Shape{});
  yes.set_integer(0, 1);
  ValueId condition = node.has_input(1) ? node.input(1) : conversion.constant("condition", std::move(yes));
  std::vector<ValueId> carried(node.inputs.begin() + std::min<std::ptrdiff_t>(2, std::ssize(node.inputs)),
                               node.inputs.end());
  if (std::ranges::find(carried, kNoValue) != carried.end())
    return conversion.invalid("has an absent carried value");
  std::vector<std::vector<ValueId>> scans;
  for (int64_t i = 0; i < most; ++i) {
    if (!goes_on) return conversion.unsupported("whether it goes on depends on the data", kHint);
    if (!*goes_on) break;
    if (i == kMostIterations)
      return conversion.unsupported(fmt::format("has more than {} iterations", kMostIterations), kHint);
    std::vector<ValueId> inputs = {conversion.constant("iteration", Tensor::scalar(i)), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<ValueId> outputs = conversion.unrolled(*body, inputs);
    if (conversion.failed()) return;
    if (outputs.size() < 1 + carried.size())
      return conversion.invalid("its body gives fewer values than it carries");
    condition = outputs[0];
    goes_on = known_truth(conversion, condition);
    std::copy_n(outputs.begin() + 1, carried.size(), carried.begin());
    scans.resize(outputs.size() - 1 - carried.size());
    for (size_t k = 0; k < scans.size(); ++k) scans[k].push_back(outputs[1 + carried.size() + k]);
  }
  if (scans.empty() && node.outputs.size() > carried.size())
    scans.resize(node.outputs.size() - carried.size());
  for (size_t k = 0; k < scans.size() && carried.size() < node.outputs.size(); ++k)
    carried.push_back(stacked(s, scans[k], 0));
  if (outputs_fit(node, conversion, carried.size())) define_all(node, conversion, carried);
}

// Inputs: states, then sequences that are scanned along an axis each. (Opset 8 also had a batch.)
void convert_scan(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const OnnxGraph* body = body_of(conversion, "body");
  if (body == nullptr) return;
  if (conversion.opset() < 9)
    return conversion.unsupported("has the batched form of opset 8",
                                  "export the model with opset 9 or later");
  const int64_t scanned = node.int_or("num_scan_inputs", 0), states = std::ssize(node.inputs) - scanned;
  if (scanned < 1 || states < 0 || std::ranges::find(node.inputs, kNoValue) != node.inputs.end()) {
    return conversion.invalid(fmt::format("scans {} of its {} inputs", scanned, node.inputs.size()));
  }
  const auto option = [&](const char* name, int64_t index) {
    const std::vector<int64_t> list = node.ints_or(name, {});
    return index < std::ssize(list) ? list[size_t(index)] : 0;
  };
  int64_t count = -1;
  std::vector<int> axes;
  for (int64_t k = 0; k < scanned; ++k) {
    const Shape shape = s.shape(node.inputs[size_t(states + k)]);
    const auto axis = checked_axes(conversion, {option("scan_input_axes", k)}, shape.rank());
    if (!axis) return;
    axes.push_back(axis->front());
    if (count >= 0 && shape[axes.back()] != count)
      return conversion.invalid("its sequences have different lengths");
    count = shape[axes.back()];
  }
  if (count > kMostIterations)
    return conversion.unsupported(fmt::format("has {} iterations", count),
                                  fmt::format("up to {} are unrolled", kMostIterations));
  std::vector<ValueId> state(node.inputs.begin(), node.inputs.begin() + states);
  std::vector<std::vector<ValueId>> scans;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<ValueId> inputs = state;
    for (int64_t k = 0; k < scanned; ++k) {
      const int64_t at = option("scan_input_directions", k) != 0 ? count - 1 - i : i;
      inputs.push_back(s.pick(node.inputs[size_t(states + k)], axes[size_t(k)], at));
    }
    const std::vector<ValueId> outputs = conversion.unrolled(*body, inputs);
    if (conversion.failed()) return;
    if (outputs.size() < state.size())
      return conversion.invalid("its body gives fewer values than it has states");
    std::copy_n(outputs.begin(), state.size(), state.begin());
    scans.resize(outputs.size() - state.size());
    for (size_t k = 0; k < scans.size(); ++k) scans[k].push_back(outputs[state.size() + k]);
  }
  if (scans.empty() && node.outputs.size() > state.size()) scans.resize(node.outputs.size() - state.size());
  std::vector<ValueId> results = state;
  for (size_t k = 0; k < scans.size(); ++k) {
    if (option("scan_output_directions", int64_t(k)) != 0) std::ranges::reverse(scans[k]);
    int64_t axis = option("scan_output_axes", int64_t(k));
    const int rank = scans[k].empty() ? 0 : s.shape(scans[k][0]).rank() + 1;
    if (axis < 0) axis += rank;
    if (!scans[k].empty() && (axis < 0 || axis >= rank))
      return conversion.invalid(fmt::format("scan output axis {} is out of range", axis));
    results.push_back(stacked(s, scans[k], axis));
  }
  if (outputs_fit(node, conversion, results.size())) define_all(node, conversion, results);
}

}  // namespace tilewright
