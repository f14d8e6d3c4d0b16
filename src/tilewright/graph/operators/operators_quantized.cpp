// Quantisation and dequantisation with ONNX semantics.
#include <fmt/format.h>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

// Scale (input 1) and zero point (input 2): one for the tensor, or one per index of `axis`.
void require_scale(const OperatorContext& context) {
  require_class(context, 1, TypeClass::kFloat);
  if (context.has(2)) require_class(context, 2, TypeClass::kInteger);
  const Shape& x = context.shape(0);
  for (int i : {1, 2}) {
    if (!context.has(i) || saturating_count(context.shape(i)) == 1) continue;
    const int axis = checked_axis(context, context.node().int_or("axis", 1), x.rank());
    require_vector(context, i, x[axis]);
  }
}

std::vector<TypedShape> infer_quantize(const OperatorContext& context) {
  if (context.type(0) != ElementType::kI32) require_class(context, 0, TypeClass::kFloat);
  require_scale(context);
  return only(context.has(2) ? context.type(2) : ElementType::kU8, context.shape(0));
}

std::vector<TypedShape> infer_dequantize(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kInteger);
  require_scale(context);
  if (context.has(2)) require_same_type(context, 0, 2);
  return only(context.type(1), context.shape(0));
}

std::vector<TypedShape> infer_dynamic_quantize(const OperatorContext& context) {
  require_type(context, 0, ElementType::kF32);
  return {{ElementType::kU8, context.shape(0)}, {ElementType::kF32, {}}, {ElementType::kU8, {}}};
}

}  // namespace

void add_quantized_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt;
  table.push_back({"", "QuantizeLinear", 2, 3, 1, 1, {{"axis", kInt}}, infer_quantize});
  table.push_back({"", "DequantizeLinear", 2, 3, 1, 1, {{"axis", kInt}}, infer_dequantize});
  table.push_back({"", "DynamicQuantizeLinear", 1, 1, 3, 3, {}, infer_dynamic_quantize});
}

}  // namespace tilewright
