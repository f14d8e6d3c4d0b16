// Sequences of tensors, followed while reading: their lengths and the positions read are known, so that in
// the graph only the tensors are left.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

using Tensors = std::vector<ValueId>;

constexpr int64_t kMostParts = 4096;

// The sequence of input `index`; nullptr after an error.
const Tensors* sequence_input(const Node& node, NodeConversion& conversion, int index) {
  const Tensors* tensors = node.has_input(index) ? conversion.sequence(node.input(index)) : nullptr;
  if (tensors == nullptr) conversion.invalid(fmt::format("its input {} is no sequence", index));
  return tensors;
}

// Input `index` as a position in 0..count-1, negative ones counted from the end; nullopt after an error.
std::optional<size_t> position_input(const Node& node, NodeConversion& conversion, int index, size_t count) {
  const auto tensor = conversion.constant_of(node.input(index));
  if (!tensor || tensor->size() != 1) {
    conversion.unsupported("its position is not constant", "export the model with a fixed position");
    return {};
  }
  int64_t position = tensor->integer_at(0);
  if (position < 0) position += int64_t(count);
  if (position < 0 || position >= int64_t(count)) {
    conversion.invalid(fmt::format("has the position {} in a sequence of {}", tensor->integer_at(0), count));
    return {};
  }
  return size_t(position);
}

void finish(Node& node, NodeConversion& conversion, Tensors tensors) {
  conversion.define_sequence(node.outputs[0], std::move(tensors));
  node.outputs.clear();
}

}  // namespace

bool takes_sequences(const Node& node) {
  static const std::set<std::string> operators = {"ConcatFromSequence", "Identity",      "Loop",
                                                  "SequenceAt",         "SequenceErase", "SequenceInsert",
                                                  "SequenceLength",     "SequenceMap"};
  return node.domain.empty() && operators.count(node.op) != 0;
}

void convert_sequence_construct(Node& node, NodeConversion& conversion) {
  finish(node, conversion, node.inputs);
}

void convert_sequence_insert(Node& node, NodeConversion& conversion) {
  const Tensors* given = sequence_input(node, conversion, 0);
  if (given == nullptr) return;
  if (!node.has_input(1)) return conversion.invalid("has no tensor to insert");
  Tensors tensors = *given;
  size_t position = tensors.size();
  if (node.has_input(2)) {
    const auto at = position_input(node, conversion, 2, tensors.size() + 1);
    if (!at) return;
    // Negative positions count from the end of what is there, so that -1 is before the last.
    position = conversion.constant_of(node.input(2))->integer_at(0) < 0 && *at > 0 ? *at - 1 : *at;
  }
  tensors.insert(tensors.begin() + std::ptrdiff_t(position), node.input(1));
  finish(node, conversion, std::move(tensors));
}

void convert_sequence_erase(Node& node, NodeConversion& conversion) {
  const Tensors* given = sequence_input(node, conversion, 0);
  if (given == nullptr) return;
  Tensors tensors = *given;
  if (tensors.empty()) return conversion.invalid("erases from an empty sequence");
  size_t position = tensors.size() - 1;
  if (node.has_input(1)) {
    const auto at = position_input(node, conversion, 1, tensors.size());
    if (!at) return;
    position = *at;
  }
  tensors.erase(tensors.begin() + std::ptrdiff_t(position));
  finish(node, conversion, std::move(tensors));
}

void convert_sequence_at(Node& node, NodeConversion& conversion) {
  const Tensors* tensors = sequence_input(node, conversion, 0);
  if (tensors == nullptr) return;
  const auto at = position_input(node, conversion, 1, tensors->size());
  if (!at) return;
  conversion.define(node.outputs[0], (*tensors)[*at]);
  node.outputs.clear();
}

void convert_sequence_length(Node& node, NodeConversion& conversion) {
  const Tensors* tensors = sequence_input(node, conversion, 0);
  if (tensors == nullptr) return;
  conversion.define(node.outputs[0], conversion.constant("length", Tensor::scalar(int64_t(tensors->size()))));
  node.outputs.clear();
}

void convert_concat_from_sequence(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const Tensors* given = sequence_input(node, conversion, 0);
  if (given == nullptr) return;
  Tensors tensors = *given;
  if (tensors.empty()) return conversion.invalid("concatenates an empty sequence");
  const bool fresh = node.int_or("new_axis", 0) != 0;
  const auto axis =
      checked_axes(conversion, {node.int_or("axis", 0)}, s.shape(tensors[0]).rank() + (fresh ? 1 : 0));
  if (!axis) return;
  if (fresh) {
    for (ValueId& tensor : tensors) tensor = s.op("Unsqueeze", {tensor, s.integers({axis->front()})});
  }
  conversion.define(node.outputs[0], s.concat(std::move(tensors), axis->front()));
  node.outputs.clear();
}

// Equal parts of a given length, the last one shorter; parts of given lengths; or single slices.
void convert_split_to_sequence(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const ValueId x = node.input(0);
  const auto axes = checked_axes(conversion, {node.int_or("axis", 0)}, s.shape(x).rank());
  if (!axes) return;
  const int axis = axes->front();
  const int64_t size = s.shape(x)[axis];
  Tensors tensors;
  const auto refuse_parts = [&] {
    conversion.unsupported(fmt::format("splits an axis of {} into more than {} parts", size, kMostParts),
                           "split it into fewer");
  };
  if (!node.has_input(1)) {
    if (size > kMostParts) return refuse_parts();
    const bool keeps = node.int_or("keepdims", 1) != 0;
    for (int64_t i = 0; i < size; ++i)
      tensors.push_back(keeps ? s.slice(x, axis, i, i + 1) : s.pick(x, axis, i));
    return finish(node, conversion, std::move(tensors));
  }
  const auto given = conversion.constant_of(node.input(1));
  if (!given)
    return conversion.unsupported("the lengths of its parts are not constant",
                                  "export the model with fixed lengths");
  std::vector<int64_t> lengths = given->to_integers();
  if (given->shape().rank() == 0) {
    const int64_t length = lengths[0];
    if (length < 1) return conversion.invalid(fmt::format("splits into parts of {}", length));
    lengths.clear();
    if (size / length > kMostParts) return refuse_parts();
    for (int64_t begin = 0; begin < size; begin += length) lengths.push_back(std::min(length, size - begin));
  }
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > size - begin)
      return conversion.invalid(fmt::format("splits an axis of {} into other lengths", size));
    tensors.push_back(s.slice(x, axis, begin, begin + length));
    begin += length;
  }
  if (begin != size) return conversion.invalid(fmt::format("splits an axis of {} into other lengths", size));
  finish(node, conversion, std::move(tensors));
}

// The body once for each position of the first sequence; tensors among the inputs go to every one.
void convert_sequence_map(Node& node, NodeConversion& conversion) {
  const OnnxGraph* body = conversion.body("body");
  if (body == nullptr) return conversion.invalid("has no graph in attribute 'body'");
  const Tensors* first = sequence_input(node, conversion, 0);
  if (first == nullptr) return;
  const size_t count = first->size();
  std::vector<Tensors> results(node.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    Tensors inputs;
    for (const ValueId input : node.inputs) {
      const Tensors* tensors = conversion.sequence(input);
      if (tensors != nullptr && tensors->size() != count)
        return conversion.invalid("its sequences have different lengths");
      inputs.push_back(tensors == nullptr ? input : (*tensors)[i]);
    }
    const Tensors outputs = conversion.unrolled(*body, inputs);
    if (conversion.failed()) return;
    for (size_t k = 0; k < results.size() && k < outputs.size(); ++k) results[k].push_back(outputs[k]);
  }
  for (size_t k = 0; k < results.size(); ++k)
    conversion.define_sequence(node.outputs[k], std::move(results[k]));
  node.outputs.clear();
}

}  // namespace tilewright
