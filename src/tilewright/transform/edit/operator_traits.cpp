// Lists of operator names, ONNX's and Tilewright's own. Clip, QuantizeLinear and DequantizeLinear count as
// element-wise only while their parameters are scalars.
#include "tilewright/transform/edit/operator_traits.h"

#include <algorithm>
#include <string_view>

namespace tilewright {
namespace {

bool is_any(const Node& node, std::initializer_list<std::string_view> ops) {
  return node.domain.empty() && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

bool is_scalar(const Graph& graph, ValueId id) {
  return id == kNoValue || graph.value(id).shape.element_count() == 1;
}

}  // namespace

bool is_elementwise_unary(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !node.has_input(0)) return false;
  if (is_any(node, {"Clip", "QuantizeLinear", "DequantizeLinear"})) {
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId id) { return is_scalar(graph, id); });
  }
  return is_activation(node) ||
         is_any(node, {"Cast", "Identity", "Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Floor", "Ceil",
                       "Round", "Sign", "Erf", "Not", "Sin", "Cos", "IsNaN"});
}

bool is_broadcasting(const Node& node) {
  return is_any(node, {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "Sum", "Mean", "Equal", "Less",
                       "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "Where", "PRelu"});
}

bool is_activation(const Node& node) {
  return is_any(node, {"Relu", "Clip", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid",
                       "HardSwish", "Tanh", "Softplus", "Softsign", "ThresholdedRelu", "Mish"});
}

bool is_layer(const Node& node) {
  return is_any(node, {"Conv", "ConvTranspose", "Gemm", "MatMul", "ConvInteger", "MatMulInteger",
                       "QLinearConv", "QLinearMatMul"}) ||
         node.is_tilewright("QConv") || node.is_tilewright("QConvTranspose") || node.is_tilewright("QGemm") ||
         node.is_tilewright("FixedConv") || node.is_tilewright("FixedGemm");
}

}  // namespace tilewright
