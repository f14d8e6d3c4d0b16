// The operators that a graph may contain: one explicit table with, for each, its arity, its attributes, the
// types of its outputs and how many multiply-accumulates it takes. Semantics: ONNX operator reference, opset
// 17, and docs/reference/arithmetic.md for the domain "tilewright".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct TypedShape {
  ElementType type = ElementType::kF32;
  Shape shape;
  bool operator==(const TypedShape&) const = default;
};

// "f32[1x3x224x224]".
std::string to_string(const TypedShape& typed);

// The facts known about a node when its outputs are inferred.
struct OperatorInput {
  bool present = false;
  TypedShape typed;
  const Tensor* known = nullptr;  // the elements, when they are constant or follow from constants
  std::string_view name;          // of the value, for messages
};

class OperatorContext {
 public:
  OperatorContext(const Node& node, std::vector<OperatorInput> inputs)
      : node_(node), inputs_(std::move(inputs)) {}
  const Node& node() const { return node_; }
  int input_count() const { return int(inputs_.size()); }
  int output_count() const { return int(node_.outputs.size()); }
  bool has(int index) const { return index < input_count() && inputs_[size_t(index)].present; }
  // The input must be present.
  const OperatorInput& input(int index) const { return inputs_[size_t(index)]; }
  ElementType type(int index) const { return input(index).typed.type; }
  const Shape& shape(int index) const { return input(index).typed.shape; }
  // nullptr when absent or not known.
  const Tensor* known(int index) const { return has(index) ? input(index).known : nullptr; }

 private:
  const Node& node_;
  std::vector<OperatorInput> inputs_;
};

enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor };
// "an integer", "a list of floats", "a tensor", ...
const char* describe(AttributeKind kind);
AttributeKind kind_of(const Attribute& attribute);

struct AttributeRule {
  const char* name;
  AttributeKind kind;
  bool required = false;
};

inline constexpr int kAnyNumber = 1 << 20;

struct Operator {
  const char* domain;
  const char* name;
  int min_inputs, max_inputs;  // the first min_inputs must be present
  int min_outputs, max_outputs;
  std::vector<AttributeRule> attributes;
  // One entry per listed output of the node. Errors (invalid input, unsupported): inputs or attributes that
  // do not fit together, naming the node.
  std::vector<TypedShape> (*infer)(const OperatorContext& context);
  // Multiply-accumulates for these outputs; null: none. Padding counts as data, as is usual; a transposed
  // convolution counts one per input element, kernel tap and output channel. Saturates.
  int64_t (*macs)(const OperatorContext& context, std::span<const TypedShape> outputs) = nullptr;
};

// Every operator, sorted by domain and name.
std::span<const Operator> all_operators();
// nullptr when not covered.
const Operator* find_operator(std::string_view domain, std::string_view name);

// The numbers of ONNX TensorProto.DataType, as in the attribute `to` of Cast. Our narrow types that ONNX
// lacks give nothing.
std::optional<ElementType> element_type_of_onnx(int64_t code);
std::optional<int64_t> onnx_code_of(ElementType type);

}  // namespace tilewright
