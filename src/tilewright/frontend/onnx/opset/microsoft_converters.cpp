// An operator on quantised numbers becomes the float operator between DequantizeLinear and QuantizeLinear,
// which is how ONNX Runtime defines it and what quantised networks look like here.
#include "tilewright/frontend/onnx/opset/microsoft_converters.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

// A node whose inputs are numbers with their scales and zero points, and the float operator in its middle.
class Quantized {
 public:
  Quantized(Node& node, NodeConversion& conversion) : node_(node), conversion_(conversion), s_(conversion) {}

  Steps& steps() { return s_; }
  bool has(int index) const { return node_.has_input(index); }

  // Real numbers of input `index`, whose scale and zero point (which may be absent) follow at `scale`.
  ValueId real(int index, int scale) {
    if (!require(index) || !require(scale)) return kNoValue;
    std::vector<ValueId> inputs = {node_.input(index), node_.input(scale)};
    if (has(scale + 1)) inputs.push_back(node_.input(scale + 1));
    return s_.op("DequantizeLinear", std::move(inputs));
  }

  // Channels that come last are moved to where the standard operators want them, and back.
  ValueId channels_first(ValueId x) { return moved(x, true); }
  ValueId channels_last(ValueId x) { return moved(x, false); }

  // `y` quantised with the scale and zero point at `scale` is what the node gives. Without a zero point the
  // result has the type of input `like`.
  void finish(ValueId y, int scale, int like) {
    if (!require(scale)) return;
    const ValueId zero = has(scale + 1) ? node_.input(scale + 1) : s_.number(s_.type(node_.input(like)), 0);
    conversion_.define(node_.outputs[0], s_.op("QuantizeLinear", {y, node_.input(scale), zero}));
    node_.outputs.clear();
  }

 private:
  bool require(int index) {
    if (!has(index)) conversion_.invalid(fmt::format("input {} is missing", index));
    return has(index);
  }
  ValueId moved(ValueId x, bool first) {
    const int rank = s_.shape(x).rank();
    if (x == kNoValue || rank < 3 || node_.int_or("channels_last", 0) == 0) return x;
    std::vector<int64_t> perm = {0};
    if (first) perm.push_back(rank - 1);
    for (int64_t axis = first ? 1 : 2; axis < rank - (first ? 1 : 0); ++axis) perm.push_back(axis);
    if (!first) perm.push_back(1);
    return s_.transpose(x, std::move(perm));
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
};

Attributes without(Attributes attributes, std::initializer_list<const char*> names) {
  for (const char* name : names) attributes.erase(name);
  return attributes;
}

// A, scale, zero point, the same for B, then those of the result.
void binary(Node& node, NodeConversion& conversion) {
  Quantized q(node, conversion);
  const ValueId a = q.real(0, 1), b = q.real(3, 4);
  q.finish(q.steps().op(node.op == "QLinearAdd" ? "Add" : "Mul", {a, b}), 6, 0);
}

// X, scale, zero point, then those of the result.
void unary(Node& node, NodeConversion& conversion) {
  static const std::map<std::string, const char*> functions = {{"QLinearSigmoid", "Sigmoid"},
                                                               {"QLinearLeakyRelu", "LeakyRelu"},
                                                               {"QLinearSoftmax", "Softmax"},
                                                               {"QLinearReduceMean", "ReduceMean"}};
  Quantized q(node, conversion);
  if (node.op == "QLinearSoftmax" && node.int_or("opset", 13) < 13) {
    return conversion.unsupported("is the softmax of an opset before 13",
                                  "export the float model with opset 13 or later");
  }
  const ValueId y = q.steps().op(functions.at(node.op), {q.real(0, 1)}, without(node.attributes, {"opset"}));
  q.finish(y, 3, 0);
}

void pool(Node& node, NodeConversion& conversion) {
  Quantized q(node, conversion);
  const bool global = node.op == "QLinearGlobalAveragePool";
  const ValueId x = q.channels_first(q.real(0, 1));
  const ValueId y = q.steps().op(global ? "GlobalAveragePool" : "AveragePool", {x},
                                 without(node.attributes, {"channels_last"}));
  q.finish(q.channels_last(y), 3, 0);
}

// The scale and zero point of the result, then three inputs for each part.
void concat(Node& node, NodeConversion& conversion) {
  Quantized q(node, conversion);
  if (node.inputs.size() < 5) return conversion.invalid("has no parts");
  std::vector<ValueId> parts;
  for (int i = 2; i < int(node.inputs.size()); i += 3) parts.push_back(q.real(i, i + 1));
  q.finish(q.steps().op("Concat", std::move(parts), without(node.attributes, {})), 0, 2);
}

// A, scale, zero point; B, scale, zero point; C in 32 bits with the scale of both; scale and zero point of
// the result, which is float without them.
void gemm(Node& node, NodeConversion& conversion) {
  Quantized q(node, conversion);
  Steps& s = q.steps();
  std::vector<ValueId> inputs = {q.real(0, 1)};
  // Scales per channel are those of the columns of the result.
  const bool transposed = node.int_or("transB", 0) != 0;
  const bool per_channel = node.has_input(4) && s.shape(node.input(4)).element_count() > 1;
  if (per_channel) {
    inputs.push_back(s.op("DequantizeLinear", {node.input(3), node.input(4), node.input(5)},
                          {{"axis", int64_t(transposed ? 0 : 1)}}));
  } else {
    inputs.push_back(q.real(3, 4));
  }
  if (node.has_input(6)) {
    const ValueId scale = s.op("Mul", {node.input(1), node.input(4)});
    inputs.push_back(s.op("DequantizeLinear", {node.input(6), scale},
                          {{"axis", int64_t(std::max(0, s.shape(node.input(6)).rank() - 1))}}));
  }
  Attributes attributes = without(node.attributes, {});
  // alpha scales the product alone; ONNX Runtime adds C to the integers, before alpha.
  if (node.has_input(6) && node.has("alpha")) attributes["beta"] = node.float_or("alpha", 1.0f);
  const ValueId y = s.op("Gemm", std::move(inputs), std::move(attributes));
  if (node.has_input(7)) return q.finish(y, 7, 0);
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

// The standard operator of this name, with the input before it or the activation after it.
void plain(Node& node, NodeConversion& conversion) {
  node.domain.clear();
  convert_to_opset_17(node, conversion);
}

void fused_activation(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  const std::string activation = node.string_or("activation", "");
  const std::vector<float> numbers = node.floats_or("activation_params", {});
  const auto number = [&](size_t i, float fallback) {
    const char* const names[] = {"activation_alpha", "activation_beta"};
    return i < numbers.size() ? numbers[i] : node.float_or(names[i], fallback);
  };
  if (node.op == "FusedConv" && node.has_input(3))
    return conversion.unsupported("adds another tensor",
                                  "export the model without graph optimisations of ONNX Runtime");
  Attributes attributes = without(node.attributes, {"activation", "activation_params", "activation_alpha",
                                                    "activation_beta", "activation_gamma"});
  const ValueId x = s.op(node.op == "FusedConv" ? "Conv" : "Gemm", node.inputs, std::move(attributes));
  ValueId y = x;
  if (activation == "Relu" || activation == "Tanh" || activation == "Sigmoid")
    y = s.op(activation, {x});
  else if (activation == "LeakyRelu")
    y = s.op(activation, {x}, {{"alpha", number(0, 0.01f)}});
  else if (activation == "HardSigmoid")
    y = s.op(activation, {x}, {{"alpha", number(0, 0.2f)}, {"beta", number(1, 0.5f)}});
  else if (activation == "Clip")
    y = s.op(activation, {x, s.number_like(x, double(number(0, 0))), s.number_like(x, double(number(1, 6)))});
  else if (!activation.empty())
    return conversion.unsupported(fmt::format("has the activation '{}'", activation),
                                  "export the model without graph optimisations of ONNX Runtime");
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

// alpha times the product of matrices, either of them transposed, or with its first axis behind the others of
// the batch.
void fused_matmul(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!node.has_input(1)) return conversion.invalid("has no second factor");
  ValueId factors[2] = {node.input(0), node.input(1)};
  for (const int i : {0, 1}) {
    const int rank = s.shape(factors[i]).rank();
    std::vector<int64_t> perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    if (rank > 2 && node.int_or(i == 0 ? "transBatchA" : "transBatchB", 0) != 0)
      std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
    if (rank >= 2 && node.int_or(i == 0 ? "transA" : "transB", 0) != 0)
      std::swap(perm[size_t(rank) - 1], perm[size_t(rank) - 2]);
    factors[i] = s.transpose(factors[i], perm);
  }
  ValueId y = s.op("MatMul", {factors[0], factors[1]});
  if (const float alpha = node.float_or("alpha", 1.0f); alpha != 1)
    y = s.op("Mul", {y, s.number_like(y, double(alpha))});
  conversion.define(node.outputs[0], y);
  node.outputs.clear();
}

// Gelu of x and an optional bias; QuickGelu: x sigmoid(alpha x).
void gelu(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (node.has_input(1)) node.inputs[0] = s.op("Add", {node.input(0), node.input(1)});
  node.inputs.resize(1);
  if (node.op == "QuickGelu") {
    const ValueId x = node.input(0), alpha = s.number_like(x, double(node.float_or("alpha", 1.702f)));
    conversion.define(node.outputs[0], s.op("Mul", {x, s.op("Sigmoid", {s.op("Mul", {x, alpha})})}));
    node.outputs.clear();
    return;
  }
  const bool fast = node.op == "FastGelu";
  if (conversion.failed()) return;
  node.op = "Gelu";
  node.attributes = {{"approximate", std::string(fast ? "tanh" : "none")}};
  plain(node, conversion);
}

using Convert = void (*)(Node&, NodeConversion&);

const std::map<std::string, Convert>& microsoft_converters() {
  static const std::map<std::string, Convert> table = {
      {"Attention", convert_microsoft_attention},
      {"BiasGelu", gelu},
      {"DequantizeLinear", plain},
      {"EmbedLayerNormalization", convert_embed_layer_normalization},
      {"FastGelu", gelu},
      {"FusedConv", fused_activation},
      {"FusedGemm", fused_activation},
      {"FusedMatMul", fused_matmul},
      {"Gelu", gelu},
      {"GroupQueryAttention", convert_group_query_attention},
      {"LayerNormalization", plain},
      {"MatMulNBits", convert_matmul_n_bits},
      {"MultiHeadAttention", convert_multi_head_attention},
      {"QGemm", gemm},
      {"QLinearAdd", binary},
      {"QLinearAveragePool", pool},
      {"QLinearConcat", concat},
      {"QLinearGlobalAveragePool", pool},
      {"QLinearLeakyRelu", unary},
      {"QLinearMul", binary},
      {"QLinearReduceMean", unary},
      {"QLinearSigmoid", unary},
      {"QLinearSoftmax", unary},
      {"QuantizeLinear", plain},
      {"QuickGelu", gelu},
      {"RotaryEmbedding", convert_microsoft_rotary_embedding},
      {"SimplifiedLayerNormalization", convert_rms_normalization},
      {"SkipLayerNormalization", convert_skip_layer_normalization},
      {"SkipSimplifiedLayerNormalization", convert_skip_layer_normalization},
  };
  return table;
}

}  // namespace

bool is_microsoft_operator(const std::string& domain, const std::string& op) {
  return domain == "com.microsoft" && microsoft_converters().count(op) != 0;
}

void convert_microsoft_operator(Node& node, NodeConversion& conversion) {
  if (!node.has_input(0)) return conversion.invalid("has no input");
  try {
    microsoft_converters().at(node.op)(node, conversion);
  } catch (const Error& error) {  // attributes of the wrong type, shapes that do not fit
    conversion.error(error.kind(),
                     error.diagnostics().empty() ? error.what() : error.diagnostics()[0].message);
  }
  trim_absent(node);
}

}  // namespace tilewright
