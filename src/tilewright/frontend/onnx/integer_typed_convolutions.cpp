// Works on the model before its graph is built: 8-bit initializers of convolutions become f32, and so do the
// declared 8-bit types of the values they read and write.
#include "tilewright/frontend/onnx/integer_typed_convolutions.h"

#include <fmt/format.h>

#include <set>

namespace tilewright {
namespace {

bool is_eight_bit(std::optional<ElementType> type) {
  return type == ElementType::kI8 || type == ElementType::kU8;
}

}  // namespace

void widen_integer_typed_convolutions(OnnxModel& model, Diagnostics& diagnostics) {
  std::map<std::string, Tensor*> weights, biases;
  for (auto& [name, tensor] : model.initializers) {
    if (tensor && is_eight_bit(tensor->type())) weights[name] = &*tensor;
    if (tensor && tensor->type() == ElementType::kI32) biases[name] = &*tensor;
  }
  if (weights.empty()) return;
  std::set<std::string> around;  // activations of the convolutions concerned
  std::map<std::string, Tensor*> widened;
  int count = 0;
  for (const OnnxNode& node : model.nodes) {
    const bool convolves = node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose");
    if (!convolves || node.inputs.size() < 2 || weights.count(node.inputs[1]) == 0) continue;
    ++count;
    for (const std::string& input : node.inputs) {
      if (weights.count(input)) widened[input] = weights[input];
      around.insert(input);
    }
    if (node.inputs.size() > 2 && biases.count(node.inputs[2])) widened.insert(*biases.find(node.inputs[2]));
    around.insert(node.outputs.begin(), node.outputs.end());
  }
  if (count == 0) return;
  for (const auto& [name, tensor] : widened) *tensor = tensor->cast(ElementType::kF32);
  for (std::vector<OnnxValueInfo>* infos : {&model.inputs, &model.outputs, &model.value_infos}) {
    for (OnnxValueInfo& info : *infos) {
      if (is_eight_bit(info.type) && around.count(info.name)) info.type = ElementType::kF32;
    }
  }
  diagnostics.warn(
      "", "",
      fmt::format("{} convolutions are over 8-bit integers, which ONNX does not allow; read as f32", count),
      "shapes and work are right; use QLinearConv or QDQ form to run it");
}

}  // namespace tilewright
