// The state of one lowering: the source graph, the graph being built, and for each float value of the source
// the integer value ("twin") it is an exact image of. Lowering is additive: an operator's float form is
// emitted as well, and unused values are removed at the end, so values with several readers need no special
// case.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {

// A quantised activation of the new graph: an i8 or i16 value that only takes values in [low, high].
struct Twin {
  ValueId id = kNoValue;
  Quantization quantization;
  int64_t low = -128;
  int64_t high = 127;
};

// A constant that the source dequantises: `integers` of any integer type; one scale, or one per index of
// `axis`. Zero points have as many entries as scales.
struct QuantizedConstant {
  Tensor integers;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int axis = 0;
  bool per_tensor() const { return scales.size() == 1; }
  double scale(int64_t index) const { return scales[per_tensor() ? 0 : size_t(index)]; }
  int64_t zero_point(int64_t index) const { return zero_points[per_tensor() ? 0 : size_t(index)]; }
};

// The integer result that is requested from an operator: QuantizeLinear with `quantization`, then a clip; or,
// `bipolar`, whether it is not negative, as -1 and +1.
struct IntegerForm {
  Quantization quantization;
  int64_t low = -128;
  int64_t high = 127;
  std::string name;  // for the value
  bool bipolar = false;
  bool is_unsigned = false;             // u8 or u16 in the source, so 128 or 32,768 larger there
  ElementType type = ElementType::kI8;  // or i16
};

// Whether activations of `type` have an integer form: i8, u8, i16, u16.
bool is_activation(ElementType type);
// The signed type as wide as an activation, and what is subtracted from one to get there.
inline ElementType signed_activation(ElementType type) {
  return bit_width(type) == 16 ? ElementType::kI16 : ElementType::kI8;
}
inline int32_t unsigned_shift(ElementType type) {
  return is_signed(type) ? 0 : int32_t(lowest(signed_activation(type)));
}
// `form` of all the values that its type has.
IntegerForm full_form(ElementType type, const Quantization& quantization, std::string name);

class IntegerBuilder {
 public:
  explicit IntegerBuilder(const Graph& source);

  const Graph& source() const { return source_; }
  Graph& graph() { return graph_; }
  const Node* producer(ValueId old) const;
  const std::vector<NodeId>& producers() const { return producers_; }
  NodeId id_of(const Node& old_node) const { return NodeId(&old_node - source_.nodes.data()); }

  // New values and nodes with unique names, in constant time.
  ValueId add_value(const std::string& name, ElementType type, const Shape& shape);
  ValueId add_constant(const std::string& name, Tensor tensor);
  // A node that represents `old_node` in the new graph; `integer` says in which form.
  Node& add_node(const Node& old_node, const std::string& op, const std::string& domain,
                 std::vector<ValueId> inputs, std::vector<ValueId> outputs, bool integer);

  // The value `x` under another shape, by a Reshape; `x` itself where it has that shape.
  ValueId reshaped(const Node& old_node, ValueId x, const std::string& name, const Shape& shape);

  // The value of the source graph in its own type: constants are copied, twins are dequantised, shifted
  // unsigned values are shifted back.
  ValueId native(ValueId old);
  void set_native(ValueId old, ValueId id) { native_[size_t(old)] = id; }
  const Twin* twin(ValueId old) const;
  void set_twin(ValueId old, Twin twin) { twins_[size_t(old)] = std::move(twin); }
  // Integer activations of the source: their twin has the scale 1 and the shift of unsigned ones as zero
  // point. Graph inputs get theirs on first use.
  const Twin* stored_integers(ValueId old);
  void set_stored_integers(ValueId old, Twin twin) { stored_[size_t(old)] = std::move(twin); }
  const QuantizedConstant* quantized_constant(ValueId old) const;
  void set_quantized_constant(ValueId old, QuantizedConstant c) { constants_[size_t(old)] = std::move(c); }

  // QuantizeLinear and the clip of `form` on a float value of the source, in integer arithmetic as far back
  // as operators allow: the new value of its type, or nullopt where only float remains.
  std::optional<ValueId> quantized(ValueId old, const IntegerForm& form, int depth = 0);
  // The same; where no integer operator exists, a QuantizeLinear of the float value.
  ValueId quantized_or_float(ValueId old, const IntegerForm& form, const Node& at, int depth = 0);

  // Notes why an operator of the source has no integer form (the first reason stays) and returns nullopt.
  // How results are rounded where activations of `type` take part: TFLite's runtime has 16-bit layers from
  // its built-in kernels, whatever computes those of 8 bits.
  Rounding rounding_of(ElementType type) const;
  ElementType type_of(const Twin& twin) const { return graph_.value(twin.id).type; }
  std::nullopt_t refuse(const Node& old_node, const std::string& reason);
  const std::string& reason(NodeId old_node) const { return reasons_[size_t(old_node)]; }
  // Names in the new graph of the nodes emitted for a node of the source.
  const std::vector<std::pair<std::string, std::string>>& integer_nodes(NodeId old_node) const {
    return integer_nodes_[size_t(old_node)];
  }
  const std::vector<std::string>& float_nodes(NodeId old_node) const {
    return float_nodes_[size_t(old_node)];
  }

  // A node that belongs to no operator of the source: QuantizeLinear and DequantizeLinear at borders.
  Node& add_border(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                   ValueId output);
  // Constants of the border nodes.
  ValueId scale_constant(float scale);
  ValueId zero_point_constant(ElementType type, int64_t zero_point);

 private:
  std::string unique(std::unordered_set<std::string>& taken, const std::string& wanted);
  std::optional<ValueId> requantized(const Twin& twin, const IntegerForm& form, const Node& at);
  // Notes that the node that makes `result` also does the work of `old_node`.
  void absorbed_by(const Node& old_node, ValueId result);
  std::optional<ValueId> lowered(const Node& node, int output, const IntegerForm& form, int depth);

  const Graph& source_;
  Graph graph_;
  std::vector<NodeId> producers_;
  std::vector<ValueId> native_;
  std::vector<std::optional<Twin>> twins_, stored_;
  std::vector<std::optional<QuantizedConstant>> constants_;
  std::vector<std::string> reasons_;
  std::vector<std::vector<std::pair<std::string, std::string>>> integer_nodes_;  // name, operator
  std::vector<std::vector<std::string>> float_nodes_;
  std::map<std::tuple<ValueId, float, int32_t, int64_t, int64_t, bool, ElementType>, std::optional<ValueId>>
      done_;
  std::unordered_set<std::string> value_names_, node_names_;
  std::map<std::string, int> suffixes_;
  std::map<float, ValueId> scale_constants_;
  std::map<std::pair<ElementType, int64_t>, ValueId> zero_point_constants_;
};

// Constant parameters of the source: one scale and zero point; nullopt where they are computed, several, not
// f32 or not positive.
std::optional<Quantization> constant_quantization(const Graph& graph, ValueId scale, ValueId zero_point);
// A constant with the parameters that dequantise it; nullopt where they do not fit each other.
std::optional<QuantizedConstant> constant_operand(const Graph& graph, const Tensor& integers, ValueId scale,
                                                  ValueId zero_point, int64_t axis);
std::optional<QuantizedConstant> constant_operand(const Graph& graph, ValueId integers, ValueId scale,
                                                  ValueId zero_point, int64_t axis);

// The weights (input 1, zero point input 3) of ConvInteger or MatMulInteger, dequantised by `scales`, one or
// one per index of `axis`; nullopt unless constant.
std::optional<QuantizedConstant> integer_product_weights(const Graph& graph, const Node& node,
                                                         const std::vector<double>& scales, int axis);

// A zero point that is one constant number; 0 when absent.
std::optional<int32_t> single_zero_point(const Graph& graph, ValueId zero_point);

// The real interval of an activation function that is a clip (Relu, Clip with constant bounds); nullopt for
// every other operator.
std::optional<std::pair<float, float>> clip_interval(const Graph& graph, const Node& node);

// Operators whose every output element is an input element of input 0 (reshaping, slicing, maximum, ...), so
// that quantisation commutes with them and integers pass through. `node` must have ONNX semantics.
bool only_moves_data(const Graph& graph, const Node& node);

// The number that a Pad writes, 0 if none is given; nullopt for modes that repeat elements, and if it is
// computed.
std::optional<float> pad_number(const Graph& graph, const Node& node);

// For Pad with a constant: whether its value is one that `q` of `type` can represent (other operators: true).
// Otherwise only the quantised result is integer, not the float one.
bool pads_representably(const Graph& graph, const Node& node, const Quantization& q, ElementType type);

// Emits such an operator on the value `x`, which has the form `form`: its outputs, in that form and under
// its name.
std::vector<ValueId> emit_movement(IntegerBuilder& builder, const Node& node, ValueId x,
                                   const IntegerForm& form);

// A Clip to [low, high] of the value `x`.
ValueId emit_clip(IntegerBuilder& builder, const Node& node, ValueId x, int64_t low, int64_t high,
                  const std::string& name);

}  // namespace tilewright
