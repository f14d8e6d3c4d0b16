// The operator table infers types and shapes; where the elements of an output follow from known ones (shape
// arithmetic), they are computed and kept, so that a later Reshape knows its target.
#include "tilewright/frontend/onnx/node_typing.h"

#include <fmt/format.h>

#include "tilewright/graph/inference/constant_propagation.h"
#include "tilewright/graph/operators/node_rules.h"

namespace tilewright {

OperatorContext NodeTyping::context(const Node& node) const {
  std::vector<OperatorInput> inputs(node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue) continue;
    const Value& value = graph_.value(id);
    inputs[i] = {true, {value.type, value.shape}, known(id), value.name};
  }
  return {node, std::move(inputs)};
}

const Tensor* NodeTyping::known(ValueId id) const {
  if (graph_.value(id).constant) return &*graph_.value(id).constant;
  const auto computed = computed_.find(id);
  return computed == computed_.end() ? nullptr : &computed->second;
}

void NodeTyping::infer(const Node& node) {
  Diagnostics diagnostics;
  const Operator* op = check_node(node, diagnostics);
  diagnostics.raise_if_any();
  const OperatorContext facts = context(node);
  const std::vector<TypedShape> results = op->infer(facts);
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& output = graph_.value(node.outputs[i]);
    if (const std::string defect = defect_of(results[i]); !defect.empty()) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("output '{}' {}", output.name, defect));
    }
    output.type = results[i].type;
    output.shape = results[i].shape;
  }
  if (node.outputs.empty() || node.outputs[0] == kNoValue || results.empty()) return;
  if (std::optional<Tensor> known = propagate(facts, results[0])) {
    computed_.insert_or_assign(node.outputs[0], std::move(*known));
  }
}

}  // namespace tilewright
