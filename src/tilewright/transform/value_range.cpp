#include "tilewright/transform/value_range.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tilewright {
namespace {

constexpr int kDepth = 8;  // nodes looked through; a long chain of data movement is rare

template <size_t N>
bool is_one_of(const Node& node, const std::string_view (&ops)[N]) {
  return node.domain.empty() && std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops);
}

bool non_negative(const GraphEditor& editor, ValueId id, int depth) {
  static constexpr std::string_view kAlways[] = {"Relu",     "Sigmoid", "HardSigmoid", "Softmax",
                                                 "Softplus", "Abs",     "Exp",         "Sqrt"};
  static constexpr std::string_view kOfFirst[] = {
      "MaxPool",   "AveragePool", "GlobalAveragePool", "Reshape",  "GlobalMaxPool", "ReduceMean", "Flatten",
      "Transpose", "Squeeze",     "Unsqueeze",         "Identity", "Slice",         "Split",      "Dropout",
      "Expand",    "Tile",        "LeakyRelu"};
  static constexpr std::string_view kOfAll[] = {"Concat", "Add", "Sum", "Max", "Mul"};
  if (const std::optional<Tensor>& constant = editor.value(id).constant) {
    for (int64_t k = 0; k < constant->size(); ++k) {
      if (!(constant->number_at(k) >= 0)) return false;
    }
    return true;
  }
  const NodeId source = editor.producer(id);
  if (source == kNoNode || depth == 0) return false;
  const Node& node = editor.node(source);
  if (is_one_of(node, kAlways)) return true;
  if (node.is("Clip")) {
    const Tensor* low = editor.graph().constant_input(node, 1);
    return low != nullptr && low->size() == 1 && low->number_at(0) >= 0;
  }
  if (is_one_of(node, kOfFirst)) return non_negative(editor, node.input(0), depth - 1);
  if (!is_one_of(node, kOfAll)) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input != kNoValue && non_negative(editor, input, depth - 1);
  });
}

}  // namespace

bool is_non_negative(const GraphEditor& editor, ValueId value) { return non_negative(editor, value, kDepth); }

}  // namespace tilewright
