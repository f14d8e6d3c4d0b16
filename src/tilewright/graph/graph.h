// The model graph: nodes with ONNX operator semantics over typed, statically shaped values.
//
// Conventions that every reader, pass and executor relies on:
//  - operator names and attributes are those of ONNX opset 17 (domain ""), and RMSNormalization of opset 23;
//    RotaryEmbedding, also of opset 23, has the angles of its tokens as `[tokens, size / 2]` and no
//    attributes: halves of heads are turned; readers of older or newer files normalise. The domain
//    "tilewright" holds the integer operators of docs/reference/arithmetic.md and a few fused forms.
//  - nodes are in topological order; a value is a graph input, a constant, or the output of exactly one node.
//  - every value has a static type and shape: symbolic dimensions are bound when a model is read.
//  - an absent optional input is kNoValue; absent trailing inputs are not listed. An optional output that is
//    not used is kNoValue as well.
//  - subgraphs (If, Loop, Scan) are removed by the readers or reported as unsupported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId kNoValue = -1;
inline constexpr NodeId kNoNode = -1;
inline constexpr const char* kTilewrightDomain = "tilewright";

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute>;

struct Node {
  std::string name;    // unique in a graph, never empty
  std::string domain;  // "" is ONNX
  std::string op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;

  bool is(const char* onnx_op) const { return domain.empty() && op == onnx_op; }
  bool is_tilewright(const char* tilewright_op) const {
    return domain == kTilewrightDomain && op == tilewright_op;
  }
  bool has_input(int index) const {
    return index >= 0 && index < int(inputs.size()) && inputs[size_t(index)] != kNoValue;
  }
  // kNoValue when absent.
  ValueId input(int index) const { return has_input(index) ? inputs[size_t(index)] : kNoValue; }
  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
  // Typed access with a fallback. Errors (invalid input): the attribute has another type.
  int64_t int_or(const std::string& attribute, int64_t fallback) const;
  float float_or(const std::string& attribute, float fallback) const;
  std::string string_or(const std::string& attribute, const std::string& fallback) const;
  std::vector<int64_t> ints_or(const std::string& attribute, std::vector<int64_t> fallback) const;
  std::vector<float> floats_or(const std::string& attribute, std::vector<float> fallback) const;
};

struct Value {
  std::string name;  // unique in a graph, never empty
  ElementType type = ElementType::kF32;
  Shape shape;
  std::optional<Tensor> constant;  // set for constants; then type and shape are the tensor's

  int64_t size_bytes() const { return packed_bytes(shape.element_count(), type); }
};

class Graph {
 public:
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Rounding rounding = Rounding::kOnce;  // what integerize() follows: whoever defined the network's integers

  const Value& value(ValueId id) const { return values[size_t(id)]; }
  Value& value(ValueId id) { return values[size_t(id)]; }
  bool is_constant(ValueId id) const { return id != kNoValue && value(id).constant.has_value(); }
  // The constant tensor of a node's input, or nullptr when the input is absent or not constant.
  const Tensor* constant_input(const Node& node, int index) const;

  // New values; a name that is taken gets a numeric suffix, an empty one becomes "value".
  ValueId add_value(const std::string& value_name, ElementType type, Shape shape);
  ValueId add_constant(const std::string& value_name, Tensor tensor);
  ValueId add_input(const std::string& value_name, ElementType type, Shape shape);
  // Appends a node (the caller keeps the order topological) with a unique name made from `node_name`.
  Node& add_node(const std::string& node_name, const std::string& op, std::vector<ValueId> node_inputs,
                 std::vector<ValueId> node_outputs, const std::string& domain = "");

  // Indexed by value: the node that produces it (kNoNode for inputs and constants) / the nodes that read it,
  // once per use. Graph outputs count as no node. Rebuilt on each call.
  std::vector<NodeId> producers() const;
  std::vector<std::vector<NodeId>> consumers() const;
  bool is_output(ValueId id) const;

  // Makes every reader of `from`, and the graph outputs, read `to`.
  void replace_uses(ValueId from, ValueId to);
  // Removes the nodes for which dead[node] is set, and all values that nothing refers to any more; keeps
  // order.
  void erase_nodes(const std::vector<bool>& dead);
  // Removes nodes whose outputs are not read, then unused values. Graph inputs stay.
  void remove_dead();
  // Sorts nodes topologically, stable where possible. Errors (invalid input): a cycle, naming a node on it.
  void sort_topologically();
};

// A name for messages: "node 'conv1'".
std::string where(const Node& node);

}  // namespace tilewright
