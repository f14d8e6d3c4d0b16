#include "tilewright/frontend/onnx/node_typing.h"

#include <fmt/format.h>

namespace tilewright {

std::vector<TypedShape> NodeTyping::infer(const Node& node) {
  const Operator* op = find_operator(node.domain, node.op);
  if (op == nullptr)
    throw Error(ErrorKind::kUnsupported, fmt::format("{} is not a supported operator", node.op));
  const int inputs = int(node.inputs.size()), outputs = int(node.outputs.size());
  if (inputs < op->min_inputs || inputs > op->max_inputs) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("has {} inputs", inputs));
  }
  if (outputs < op->min_outputs || outputs > op->max_outputs) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("has {} outputs", outputs));
  }
  std::vector<OperatorInput> described;
  for (int i = 0; i < inputs; ++i) {
    OperatorInput input;
    input.present = node.has_input(i);
    if (!input.present && i < op->min_inputs) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("lacks input {}", i));
    }
    if (input.present) {
      const Value& value = graph_.value(node.inputs[size_t(i)]);
      input.typed = {value.type, value.shape};
      input.known = value.constant ? &*value.constant : nullptr;
      input.name = value.name;
    }
    described.push_back(input);
  }
  return op->infer(OperatorContext(node, std::move(described)));
}

}  // namespace tilewright
