// Which inputs decide shapes is a table by operator; dynamic dimensions take the sizes of the values.
#include "tilewright/frontend/onnx/onnx_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tilewright/frontend/onnx/graph_builder.h"

namespace tilewright {
namespace {

// Inputs of an operator whose values decide the shapes of its outputs. (CastLike: only the type of this input
// matters, and files declare other shapes than they give.)
const std::map<std::string, std::vector<size_t>>& shape_inputs() {
  static const std::map<std::string, std::vector<size_t>> table = {
      {"Reshape", {1}},        {"Slice", {1, 2, 3, 4}},
      {"Pad", {1, 3}},         {"Expand", {1}},
      {"Tile", {1}},           {"Squeeze", {1}},
      {"Unsqueeze", {1}},      {"ReduceSum", {1}},
      {"Split", {1}},          {"Resize", {1, 2, 3}},
      {"Upsample", {1}},       {"ConstantOfShape", {0}},
      {"TopK", {1}},           {"Range", {0, 1, 2}},
      {"OneHot", {1}},         {"CumSum", {1}},
      {"Dropout", {1, 2}},     {"CastLike", {1}},
      {"HannWindow", {0}},     {"HammingWindow", {0}},
      {"BlackmanWindow", {0}}, {"MelWeightMatrix", {0, 1, 2, 3, 4}},
      {"DFT", {1, 2}},         {"STFT", {1, 3}},
      {"MaxUnpool", {2}},      {"Compress", {1}},
      {"NonZero", {0}},        {"If", {0}},
      {"Loop", {0, 1}},        {"SplitToSequence", {1}},
  };
  return table;
}

// With the inputs that no node reads: their values may have another shape than the model declares.
std::set<std::string> names_to_fix(const OnnxModel& model) {
  std::set<std::string> names;
  for (const OnnxValueInfo* input : open_inputs(model)) names.insert(input->name);
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& input : node.inputs) names.erase(input);
  }
  std::vector<std::string> open;
  std::map<std::string, const OnnxNode*> producers;
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& output : node.outputs) producers.emplace(output, &node);
    const auto found = shape_inputs().find(node.op);
    if (found == shape_inputs().end()) continue;
    for (const size_t index : found->second) {
      if (index < node.inputs.size()) open.push_back(node.inputs[index]);
    }
  }
  // Those inputs, and what they are computed from, except from the shape of a value alone.
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!names.insert(name).second || !producers.count(name)) continue;
    const OnnxNode& producer = *producers.at(name);
    if (producer.op != "Shape" && producer.op != "Size")
      open.insert(open.end(), producer.inputs.begin(), producer.inputs.end());
  }
  return names;
}

}  // namespace

Tensor from_bits(Tensor tensor, std::optional<ElementType> declared) {
  if (declared != ElementType::kBF16 || tensor.type() != ElementType::kU16) return tensor;
  Tensor bits(ElementType::kBF16, tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), bits.mutable_bytes().begin());
  return bits;
}

bool has_fixed_shapes(const OnnxModel& model) {
  const std::vector<const OnnxValueInfo*> open = open_inputs(model);
  const auto is_refused = [](const OnnxValueInfo* input) { return !input->type; };
  if (std::any_of(open.begin(), open.end(), is_refused)) return true;
  const std::set<std::string> fixed = names_to_fix(model);
  for (const OnnxValueInfo* input : open) {
    if (fixed.count(input->name) || !input->has_shape) return false;
    for (const OnnxDimension& dimension : input->dims) {
      if (dimension.size < 0) return false;
    }
  }
  return true;
}

OnnxBinding bind_inputs(const OnnxModel& model, std::vector<Tensor> given) {
  const std::vector<const OnnxValueInfo*> open = open_inputs(model);
  if (given.size() > open.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} values are given for {} inputs", given.size(), open.size()),
                "give a value for each input that has no initializer, in the order of the file");
  }
  const std::set<std::string> fixed = names_to_fix(model);
  OnnxBinding binding;
  for (size_t i = 0; i < given.size(); ++i) {
    const OnnxValueInfo& info = *open[i];
    Tensor value = from_bits(std::move(given[i]), info.type);
    if (fixed.count(info.name)) {
      binding.options.fixed_inputs[info.name] = std::move(value);
      continue;
    }
    for (size_t axis = 0; axis < info.dims.size() && axis < size_t(value.shape().rank()); ++axis) {
      if (info.dims[axis].size < 0)
        binding.options.dimensions[dimension_name(info, axis)] = value.shape()[int(axis)];
    }
    binding.inputs.push_back(std::move(value));
  }
  return binding;
}

}  // namespace tilewright
