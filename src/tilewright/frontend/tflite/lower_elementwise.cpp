// Element-wise operators, in the layout in which their inputs are there, and the changes of type.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tilewright/frontend/onnx/proto/onnx_types.h"
#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

struct Renamed {
  std::string_view tflite;
  const char* onnx;
};

constexpr Renamed kBinary[] = {{"ADD", "Add"}, {"SUB", "Sub"},     {"MUL", "Mul"},
                               {"DIV", "Div"}, {"MAXIMUM", "Max"}, {"MINIMUM", "Min"}};

constexpr Renamed kUnary[] = {{"ABS", "Abs"},
                              {"CEIL", "Ceil"},
                              {"COS", "Cos"},
                              {"ELU", "Elu"},
                              {"EXP", "Exp"},
                              {"FLOOR", "Floor"},
                              {"HARD_SWISH", "HardSwish"},
                              {"LOG", "Log"},
                              {"LOGICAL_NOT", "Not"},
                              {"LOGISTIC", "Sigmoid"},
                              {"NEG", "Neg"},
                              {"ROUND", "Round"},
                              {"SIGN", "Sign"},
                              {"SIN", "Sin"},
                              {"SQRT", "Sqrt"},
                              {"TANH", "Tanh"}};

// Without an activation; of these NOT_EQUAL has no operator of its own.
constexpr Renamed kPlainBinary[] = {
    {"EQUAL", "Equal"},   {"GREATER", "Greater"},        {"GREATER_EQUAL", "GreaterOrEqual"},
    {"LESS", "Less"},     {"LESS_EQUAL", "LessOrEqual"}, {"LOGICAL_AND", "And"},
    {"LOGICAL_OR", "Or"}, {"NOT_EQUAL", "Equal"},        {"POW", "Pow"}};

template <size_t N>
const char* renamed(const Renamed (&table)[N], const std::string& op) {
  for (const Renamed& entry : table) {
    if (entry.tflite == op) return entry.onnx;
  }
  TILEWRIGHT_CHECK(false, "a TFLite operator is listed without its ONNX name: " + op);
}

}  // namespace

void lower_binary(TfliteLowering& l) {
  l.require(2, 1);
  const TensorLayout layout = l.common_layout();
  const ValueId a = l.broadcast_operand(0, layout), b = l.broadcast_operand(1, layout);
  const ValueId y = l.emit(renamed(kBinary, l.op().op), {a, b});
  l.finish(0, l.activated(y, l.options().activation), layout);
}

void lower_comparison(TfliteLowering& l) {
  l.require(2, 1);
  const TensorLayout layout = l.common_layout();
  const ValueId y = l.emit(renamed(kPlainBinary, l.op().op),
                           {l.broadcast_operand(0, layout), l.broadcast_operand(1, layout)});
  l.finish(0, l.op().op == "NOT_EQUAL" ? l.emit("Not", {y}) : y, layout);
}

// Rounded towards minus infinity; the remainder has the sign of the divisor.
void lower_floor_division(TfliteLowering& l) {
  l.require(2, 1);
  const TensorLayout layout = l.common_layout();
  const ValueId a = l.broadcast_operand(0, layout), b = l.broadcast_operand(1, layout);
  const bool is_real = is_float(l.value_of(a).type), is_quotient = l.op().op == "FLOOR_DIV";
  if (is_real) {
    const ValueId quotient = l.emit("Floor", {l.emit("Div", {a, b})});
    return l.finish(0, is_quotient ? quotient : l.emit("Sub", {a, l.emit("Mul", {quotient, b})}), layout);
  }
  const ValueId remainder = l.emit("Mod", {a, b});
  l.finish(0, is_quotient ? l.emit("Div", {l.emit("Sub", {a, remainder}), b}) : remainder, layout);
}

void lower_squared_difference(TfliteLowering& l) {
  l.require(2, 1);
  const TensorLayout layout = l.common_layout();
  const ValueId difference = l.emit("Sub", {l.broadcast_operand(0, layout), l.broadcast_operand(1, layout)});
  l.finish(0, l.emit("Mul", {difference, difference}), layout);
}

void lower_add_n(TfliteLowering& l) {
  l.require(1, 1);
  const TensorLayout layout = l.common_layout();
  ValueId sum = l.broadcast_operand(0, layout);
  for (int i = 1; i < l.input_count(); ++i) sum = l.emit("Add", {sum, l.broadcast_operand(i, layout)});
  l.finish(0, sum, layout);
}

void lower_unary(TfliteLowering& l) {
  l.require(1, 1);
  const TensorLayout layout = l.layout_of(0);
  l.finish(0, l.emit(renamed(kUnary, l.op().op), {l.value(0, layout)}), layout);
}

void lower_composed_unary(TfliteLowering& l) {
  l.require(1, 1);
  const TensorLayout layout = l.layout_of(0);
  const ValueId x = l.value(0, layout);
  const ValueId y =
      l.op().op == "SQUARE" ? l.emit("Mul", {x, x}) : l.emit("Reciprocal", {l.emit("Sqrt", {x})});
  l.finish(0, y, layout);
}

void lower_activation(TfliteLowering& l) {
  l.require(1, 1);
  const TensorLayout layout = l.layout_of(0);
  const std::string& op = l.op().op;
  const TfliteActivation activation = op == "RELU"    ? TfliteActivation::kRelu
                                      : op == "RELU6" ? TfliteActivation::kRelu6
                                                      : TfliteActivation::kReluN1To1;
  l.finish(0, l.activated(l.real(0, layout), activation), layout);
}

void lower_leaky_relu(TfliteLowering& l) {
  l.require(1, 1);
  l.require_options();
  const TensorLayout layout = l.layout_of(0);
  l.finish(0, l.emit("LeakyRelu", {l.real(0, layout)}, {{"alpha", l.options().alpha}}), layout);
}

void lower_prelu(TfliteLowering& l) {
  l.require(2, 1);
  const TensorLayout layout = l.layout_of(0);
  const ValueId x = l.real(0, layout);
  l.finish(0, l.emit("PRelu", {x, l.broadcast_operand(1, layout)}), layout);
}

void lower_softmax(TfliteLowering& l) {
  l.require(1, 1);
  const bool is_logarithm = l.op().op == "LOG_SOFTMAX";
  if (!is_logarithm) l.require_options();
  const int rank = l.shape(0).rank();
  if (rank == 0) throw Error(ErrorKind::kInvalidInput, "reads a scalar");
  const TensorLayout layout = l.layout_of(0);
  ValueId x = l.real(0, layout);
  if (!is_logarithm && l.options().beta != 1) {
    x = l.emit("Mul", {x, l.constant_value("beta", Tensor::scalar(l.options().beta))});
  }
  l.finish(
      0, l.emit(is_logarithm ? "LogSoftmax" : "Softmax", {x}, {{"axis", l.axis_in(layout, rank - 1, rank)}}),
      layout);
}

void lower_quantize(TfliteLowering& l) {
  l.require(1, 1);
  if (!l.output_tensor(0).quantization) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} has no scale", where(l.output_tensor(0))));
  }
  const TensorLayout layout = l.layout_of(0);
  l.finish(0, l.real(0, layout), layout);
}

void lower_dequantize(TfliteLowering& l) {
  l.require(1, 1);
  // Weights stored in half precision.
  const Tensor* constant = l.constant(0);
  if (constant != nullptr && is_float(constant->type())) {
    return l.finish(0, l.constant_value("f32", constant->cast(ElementType::kF32)), TensorLayout::kFile);
  }
  const TensorLayout layout = l.layout_of(0);
  l.finish(0, l.real(0, layout), layout);
}

void lower_cast(TfliteLowering& l) {
  l.require(1, 1);
  if (!l.output_tensor(0).type || l.output_tensor(0).quantization) {
    throw Error(ErrorKind::kUnsupported, fmt::format("casts to {}, a tensor of {}", where(l.output_tensor(0)),
                                                     l.output_tensor(0).type_name));
  }
  const TensorLayout layout = l.layout_of(0);
  const int64_t to = onnx_storage_type(*l.output_tensor(0).type);
  // The integers of a quantised tensor, as TFLite casts them, not the numbers they stand for.
  l.finish(0, l.emit("Cast", {l.stored(0, layout)}, {{"to", to}}), layout);
}

}  // namespace tilewright
