// Operators that work element by element: one input, broadcasting pairs and lists, comparisons, selection.
#include <fmt/format.h>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

template <TypeClass wanted>
std::vector<TypedShape> infer_unary(const OperatorContext& context) {
  require_class(context, 0, wanted);
  return only(context.type(0), context.shape(0));
}

template <TypeClass wanted>
Shape binary_shape(const OperatorContext& context) {
  require_class(context, 0, wanted);
  require_same_type(context, 0, 1);
  return broadcast_inputs(context, context.shape(0), context.shape(1));
}

template <TypeClass wanted>
std::vector<TypedShape> infer_binary(const OperatorContext& context) {
  return only(context.type(0), binary_shape<wanted>(context));
}

template <TypeClass wanted>
std::vector<TypedShape> infer_comparison(const OperatorContext& context) {
  return only(ElementType::kBool, binary_shape<wanted>(context));
}

std::vector<TypedShape> infer_equal(const OperatorContext& context) {
  require_same_type(context, 0, 1);
  return only(ElementType::kBool, broadcast_inputs(context, context.shape(0), context.shape(1)));
}

std::vector<TypedShape> infer_mod(const OperatorContext& context) {
  const int64_t fmod = context.node().int_or("fmod", 0);
  if (fmod == 0 && is_float(context.type(0))) {
    reject(context, "attribute 'fmod' is 0 for a floating-point input", "set fmod to 1");
  }
  return infer_binary<TypeClass::kNumber>(context);
}

std::vector<TypedShape> infer_bit_shift(const OperatorContext& context) {
  const std::string direction = context.node().string_or("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    reject(context, fmt::format("attribute 'direction' is '{}'", direction), "LEFT and RIGHT exist");
  }
  return infer_binary<TypeClass::kInteger>(context);
}

std::vector<TypedShape> infer_pow(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_class(context, 1, TypeClass::kNumber);
  return only(context.type(0), broadcast_inputs(context, context.shape(0), context.shape(1)));
}

template <TypeClass wanted>
std::vector<TypedShape> infer_variadic(const OperatorContext& context) {
  Shape shape;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) reject(context, fmt::format("input {} is missing", i));
    require_class(context, i, wanted);
    require_same_type(context, 0, i);
    shape = i == 0 ? context.shape(0) : broadcast_inputs(context, shape, context.shape(i));
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_prelu(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_same_type(context, 0, 1);
  require_broadcastable_to(context, 1, context.shape(0));
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_clip(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  for (int i = 1; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    require_same_type(context, 0, i);
    require_single_element(context, i);
  }
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_where(const OperatorContext& context) {
  require_type(context, 0, ElementType::kBool);
  require_same_type(context, 1, 2);
  const Shape branches = broadcast_inputs(context, context.shape(1), context.shape(2));
  return only(context.type(1), broadcast_inputs(context, context.shape(0), branches));
}

std::vector<TypedShape> infer_identity(const OperatorContext& context) {
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_dropout(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  if (context.has(2)) {
    const Tensor* training = context.known(2);
    if (training == nullptr || training->size() != 1 || training->integer_at(0) != 0) {
      reject_unsupported(context, "training mode is on or not constant", "export the model for inference");
    }
  }
  return {{context.type(0), context.shape(0)}, {ElementType::kBool, context.shape(0)}};
}

std::vector<TypedShape> infer_cast(const OperatorContext& context) {
  const int64_t code = context.node().int_or("to", 0);
  const std::optional<ElementType> type = element_type_of_onnx(code);
  if (!type) {
    reject_unsupported(context,
                       fmt::format("attribute 'to' is {}, which is not a supported element type", code),
                       "strings and complex numbers are not supported");
  }
  return only(*type, context.shape(0));
}

void add_unary(std::vector<Operator>& table, const char* name, decltype(Operator::infer) infer,
               std::vector<AttributeRule> attributes = {}) {
  table.push_back({"", name, 1, 1, 1, 1, std::move(attributes), infer});
}

void add_binary(std::vector<Operator>& table, const char* name, decltype(Operator::infer) infer,
                std::vector<AttributeRule> attributes = {}) {
  table.push_back({"", name, 2, 2, 1, 1, std::move(attributes), infer});
}

}  // namespace

void add_elementwise_operators(std::vector<Operator>& table) {
  constexpr auto kFloat = AttributeKind::kFloat, kInt = AttributeKind::kInt;
  for (const char* name : {"Abs", "Neg", "Relu", "Sign"})
    add_unary(table, name, infer_unary<TypeClass::kNumber>);
  for (const char* name :
       {"Acos",    "Acosh", "Asin", "Asinh",    "Atan",      "Atanh", "Ceil",       "Cos",
        "Cosh",    "Erf",   "Exp",  "Floor",    "HardSwish", "Log",   "Reciprocal", "Round",
        "Sigmoid", "Sin",   "Sinh", "Softplus", "Softsign",  "Sqrt",  "Tan",        "Tanh"}) {
    add_unary(table, name, infer_unary<TypeClass::kFloat>);
  }
  for (const char* name : {"Elu", "LeakyRelu", "ThresholdedRelu"}) {
    add_unary(table, name, infer_unary<TypeClass::kFloat>, {{"alpha", kFloat}});
  }
  add_unary(table, "HardSigmoid", infer_unary<TypeClass::kFloat>, {{"alpha", kFloat}, {"beta", kFloat}});
  add_unary(table, "Selu", infer_unary<TypeClass::kFloat>, {{"alpha", kFloat}, {"gamma", kFloat}});
  add_unary(table, "Not", infer_unary<TypeClass::kBool>);
  add_unary(table, "Identity", infer_identity);
  add_unary(table, "Cast", infer_cast, {{"to", kInt, true}});

  for (const char* name : {"Add", "Div", "Mul", "Sub"})
    add_binary(table, name, infer_binary<TypeClass::kNumber>);
  for (const char* name : {"And", "Or", "Xor"}) add_binary(table, name, infer_binary<TypeClass::kBool>);
  for (const char* name : {"Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    add_binary(table, name, infer_comparison<TypeClass::kNumber>);
  }
  add_binary(table, "BitShift", infer_bit_shift, {{"direction", AttributeKind::kString, true}});
  add_binary(table, "Equal", infer_equal);
  add_binary(table, "Mod", infer_mod, {{"fmod", kInt}});
  add_binary(table, "Pow", infer_pow);
  add_binary(table, "PRelu", infer_prelu);

  for (const char* name : {"Max", "Min"}) {
    table.push_back({"", name, 1, kAnyNumber, 1, 1, {}, infer_variadic<TypeClass::kNumber>});
  }
  for (const char* name : {"Mean", "Sum"}) {
    table.push_back({"", name, 1, kAnyNumber, 1, 1, {}, infer_variadic<TypeClass::kFloat>});
  }
  table.push_back({"", "Clip", 1, 3, 1, 1, {}, infer_clip});
  table.push_back({"", "Where", 3, 3, 1, 1, {}, infer_where});
  table.push_back({"", "Dropout", 1, 3, 1, 2, {{"seed", kInt}}, infer_dropout});
}

}  // namespace tilewright
