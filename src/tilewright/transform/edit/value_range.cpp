// A bounded search backwards. Constants are read; some operators never give a negative number, others give
// none when their first input, or all their inputs, hold none. Anything else may be negative.
#include "tilewright/transform/edit/value_range.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tilewright {
namespace {

// Values looked at for one answer: enough for real networks, and a limit on what any graph can cost.
constexpr int kMostValues = 256;
constexpr int64_t kMostConstantElements = 1 << 16;

template <size_t N>
bool is_one_of(const Node& node, const std::string_view (&ops)[N]) {
  return node.domain.empty() && std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops);
}

bool non_negative(const GraphEditor& editor, ValueId id, int& values_left) {
  static constexpr std::string_view kAlways[] = {"Relu",     "Sigmoid", "HardSigmoid", "Softmax",
                                                 "Softplus", "Abs",     "Exp",         "Sqrt"};
  static constexpr std::string_view kOfFirst[] = {
      "MaxPool",   "AveragePool", "GlobalAveragePool", "Reshape",  "GlobalMaxPool", "ReduceMean", "Flatten",
      "Transpose", "Squeeze",     "Unsqueeze",         "Identity", "Slice",         "Split",      "Dropout",
      "Expand",    "Tile",        "LeakyRelu"};
  static constexpr std::string_view kOfAll[] = {"Concat", "Add", "Sum", "Max", "Mul"};
  if (--values_left < 0) return false;
  if (const std::optional<Tensor>& constant = editor.value(id).constant) {
    if (constant->size() > kMostConstantElements) return false;
    for (int64_t k = 0; k < constant->size(); ++k) {
      if (!(constant->number_at(k) >= 0)) return false;
    }
    return true;
  }
  const NodeId source = editor.producer(id);
  if (source == kNoNode) return false;
  const Node& node = editor.node(source);
  if (is_one_of(node, kAlways)) return true;
  if (node.is("Clip")) {
    const auto from_zero = [&](int bound) {
      const Tensor* number = editor.graph().constant_input(node, bound);
      return number != nullptr && number->size() == 1 && number->number_at(0) >= 0;
    };
    return from_zero(1) && (!node.has_input(2) || from_zero(2));  // of crossed bounds the upper one wins
  }
  if (is_one_of(node, kOfFirst)) return non_negative(editor, node.input(0), values_left);
  if (!is_one_of(node, kOfAll)) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input != kNoValue && non_negative(editor, input, values_left);
  });
}

}  // namespace

bool is_non_negative(const GraphEditor& editor, ValueId value) {
  int values_left = kMostValues;
  return non_negative(editor, value, values_left);
}

}  // namespace tilewright
