// The plain content of a TensorFlow file: the nodes of one graph with their references resolved, and what a
// SavedModel says about inputs and outputs. Nothing is interpreted yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/values/tf_tensor.h"

namespace tilewright {

// Output number `output` of node number `node`; a node of -1 is not in the file.
struct TfRef {
  int node = -1;
  int output = 0;
  bool operator==(const TfRef&) const = default;
};

struct TfType {
  int code = 0;
};

using TfAttribute = std::variant<std::monostate, int64_t, float, bool, std::string, TfType, TfShape,
                                 std::vector<int64_t>, std::vector<float>, std::vector<TfShape>>;

struct TfNode {
  std::string name, op;
  int place = 0;                         // in the file
  std::vector<TfRef> inputs;             // without control edges
  std::vector<std::string> input_names;  // as written, for messages
  std::map<std::string, TfAttribute> attributes;
  std::optional<Tensor> value;            // of a Const
  std::optional<Diagnostic> value_error;  // why a Const has no value
  std::vector<std::string> texts;         // of a Const of strings, which has no value
  // Of a variable: the tensor of the checkpoint that the file's own operators assign to it, and which part of
  // it ("": all); empty if they do not.
  std::string restored_key, restored_slice;
  bool is_reported = false;  // its problem is among the diagnostics already

  bool is(const char* name_of_op) const { return op == name_of_op; }
  bool is_one_of(std::span<const char* const> ops) const {
    return std::any_of(ops.begin(), ops.end(), [&](const char* name_of_op) { return op == name_of_op; });
  }
  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
  // Typed access with a fallback. Errors (invalid input): the attribute has another type.
  int64_t int_or(const std::string& attribute, int64_t fallback) const;
  float float_or(const std::string& attribute, float fallback) const;
  bool bool_or(const std::string& attribute, bool fallback) const;
  std::string string_or(const std::string& attribute, const std::string& fallback) const;
  std::vector<int64_t> ints_or(const std::string& attribute, std::vector<int64_t> fallback) const;
  int type_or(const std::string& attribute, int fallback) const;
  // The declared shape of output 0: attribute "_output_shapes" or, without it, "shape"; of a variable behind
  // a handle (VarHandleOp) always "shape".
  TfShape declared_shape() const;
};

struct TfModel {
  std::vector<TfNode> nodes;
  bool is_saved_model = false;
  // The tensors of a SavedModel's signature, by their names for users; empty for a GraphDef.
  struct SignatureTensor {
    std::string tensor;
    int type = 0;
    TfShape shape;
  };
  std::map<std::string, SignatureTensor> signature_inputs, signature_outputs;

  // The node of this name, or -1.
  int find(const std::string& name) const;
};

// "name", "name:1"; also the "^name" of a control edge, which sets is_control.
struct TfTensorName {
  std::string node;
  int output = 0;
  bool is_control = false;
};
TfTensorName parse_tensor_name(const std::string& text);

// Whether the bytes look like a GraphDef or a SavedModel and not like another protobuf file.
bool looks_like_tensorflow(std::span<const std::byte> bytes);

// Reads either kind, of a SavedModel the signature of this name (empty: the usual one for serving, if there
// is one). Problems of unused nodes are kept with the node; problems that make the whole file unreadable are
// thrown. Errors (invalid input): not such a file, truncated, no graph for serving, no such signature, names
// used twice or not in UTF-8.
TfModel parse_tf_model(std::span<const std::byte> bytes, const std::string& signature = {});

}  // namespace tilewright
