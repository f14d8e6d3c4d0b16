// Nodes of opset 1 to 23 rewritten to the operators, attributes and inputs of opset 17.
//
// A converter changes one node in place. What must come before it is emitted (and its shape inferred) through
// the NodeConversion, so that the node itself stays the one that produces the original outputs. Source of the
// differences: the operator changelog of the ONNX specification.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct OnnxGraph;

// What a converter can query and do. Implemented by the graph builder.
class NodeConversion {
 public:
  virtual ~NodeConversion() = default;
  virtual int opset() const = 0;
  // By value: constant() and emit() move what is stored.
  virtual ElementType type(ValueId id) const = 0;
  virtual Shape shape(ValueId id) const = 0;
  // The elements, where they are constant or follow from constants and shapes; nullopt also if absent.
  virtual std::optional<Tensor> constant_of(ValueId id) const = 0;
  // A new constant; `role` becomes part of its name.
  virtual ValueId constant(const std::string& role, Tensor tensor) = 0;
  // A new node before the converted one with `count` outputs, which are returned with their inferred shapes;
  // kNoValue when the inference failed (already reported) or an input is kNoValue.
  virtual std::vector<ValueId> emit_all(const std::string& op, std::vector<ValueId> inputs, int count,
                                        Attributes attributes = {}) = 0;
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return emit_all(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  // Makes `output`, one of the converted node's, a copy of `value`. A converter that has done so with all of
  // them empties the node's list of outputs: then nothing of the node is left to append.
  virtual void define(ValueId output, ValueId value) = 0;
  // The body of the converted node under this attribute; nullptr if there is none.
  virtual const OnnxGraph* body(const std::string& attribute) const = 0;
  // The nodes of a body before the converted one, with `inputs` for the inputs of the body: its outputs.
  // Empty after an error, which has been reported.
  virtual std::vector<ValueId> unrolled(const OnnxGraph& body, const std::vector<ValueId>& inputs) = 0;
  // The tensors of a value that is a sequence; nullptr if it is none.
  virtual const std::vector<ValueId>* sequence(ValueId id) const = 0;
  virtual void define_sequence(ValueId output, std::vector<ValueId> tensors) = 0;

  // Reports the converted node. The node is then dropped.
  virtual void error(ErrorKind kind, const std::string& message, const std::string& hint = {}) = 0;

  // Whether something was reported for this node.
  virtual bool failed() const = 0;

  void unsupported(const std::string& message, const std::string& hint = {}) {
    error(ErrorKind::kUnsupported, message, hint);
  }
  void invalid(const std::string& message, const std::string& hint = {}) {
    error(ErrorKind::kInvalidInput, message, hint);
  }
};

// Applies the converter of the node's operator, if it has one. The types and shapes of all inputs are known.
void convert_to_opset_17(Node& node, NodeConversion& conversion);

// Whether an operator that opset 17 lacks is rewritten in terms of those it has.
bool is_rewritten_operator(const std::string& op);

// Whether the operator reads sequences: others are given tensors only.
bool takes_sequences(const Node& node);

}  // namespace tilewright
