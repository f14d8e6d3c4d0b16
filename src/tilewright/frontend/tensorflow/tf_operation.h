// The interface of a converter of one TensorFlow operator: it reads the node's inputs as values of the graph
// under construction, appends nodes of opset 17, and says which values are the node's outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/frontend/tensorflow/tf_model.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

class TfOperation {
 public:
  virtual ~TfOperation() = default;

  virtual const TfNode& node() const = 0;
  virtual int input_count() const = 0;
  // Errors (invalid input): the node has fewer inputs.
  virtual ValueId input(int index) const = 0;
  virtual const Value& value(ValueId id) const = 0;
  // The elements, when they are constant or follow from constants and sizes; nullptr otherwise.
  virtual const Tensor* known(ValueId id) const = 0;

  virtual ValueId constant(const std::string& role, Tensor tensor) = 0;
  // Appends a node with one output (or `outputs`). Errors: what the operator table rejects.
  virtual ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) = 0;
  virtual std::vector<ValueId> emit_several(const std::string& op, std::vector<ValueId> inputs, int outputs,
                                            Attributes attributes = {}) = 0;
  // Output `index` of the node is `id`.
  virtual void output(int index, ValueId id) = 0;

  const Shape& shape(int index) const { return value(input(index)).shape; }
  ElementType type(int index) const { return value(input(index)).type; }
  int rank(int index) const { return shape(index).rank(); }
  // The elements of an input that must be known. Errors (unsupported): they are not, naming the input `role`.
  const Tensor& known_input(int index, const char* role) const;
  std::vector<int64_t> integers(int index, const char* role) const;
};

// A converter. Errors: of the kind and with the text that the reader reports for the node.
using TfConverter = void (*)(TfOperation& operation);

// The converter of an operator, or nullptr.
TfConverter find_tf_converter(const std::string& op);

// The tables that find_tf_converter looks through, one per file of converters.
struct TfTableEntry {
  const char* op;
  TfConverter convert;
};
std::vector<TfTableEntry> tf_layer_converters();
std::vector<TfTableEntry> tf_normalization_converters();
std::vector<TfTableEntry> tf_elementwise_converters();
std::vector<TfTableEntry> tf_shape_converters();
std::vector<TfTableEntry> tf_slice_converters();
std::vector<TfTableEntry> tf_reduction_converters();
std::vector<TfTableEntry> tf_image_converters();

// The error that converters throw for what is not supported.
[[noreturn]] void unsupported(const std::string& message, const std::string& hint = {});
[[noreturn]] void invalid_node(const std::string& message);

Tensor int64_tensor(const std::vector<int64_t>& values);
Tensor float_scalar(ElementType type, double value);
// `id` as another element type: as it is, a new constant, or after a Cast.
ValueId as_type(TfOperation& operation, ValueId id, ElementType type);

}  // namespace tilewright
