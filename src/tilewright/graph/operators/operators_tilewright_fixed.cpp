// The wide fixed-point operators of docs/reference/arithmetic.md (domain "tilewright"): i32 values that stand
// for integer / 2^fraction.
#include <utility>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/operators/operators_convolution.h"
#include "tilewright/graph/window.h"
#include "tilewright/tensor/fixed_point.h"

namespace tilewright {
namespace {

void require_fraction(const OperatorContext& context) {
  require_integer(context, "fraction", 0, 0, kMostFraction);
}

void require_clip(const OperatorContext& context) {
  for (const auto& [name, fallback] : {std::pair{"clip_low", INT32_MIN}, std::pair{"clip_high", INT32_MAX}}) {
    require_integer(context, name, fallback, INT32_MIN, INT32_MAX);
  }
  require_clip_order(context, INT32_MIN, INT32_MAX);
}

// X, W and B, with one bias per output channel.
void require_weighted(const OperatorContext& context, int64_t channels) {
  for (int i : {0, 1, 2}) require_type(context, i, ElementType::kI32);
  require_vector(context, 2, channels);
  require_fraction(context);
  require_clip(context);
}

std::vector<TypedShape> infer_fixed_conv(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape shape = convolution_shape(context, 0, 1);
  require_weighted(context, shape[1]);
  return only(ElementType::kI32, shape);
}

std::vector<TypedShape> infer_fixed_gemm(const OperatorContext& context) {
  const Shape shape = transposed_product_shape(context);
  require_weighted(context, shape[1]);
  return only(ElementType::kI32, shape);
}

std::vector<TypedShape> infer_add(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI32);
  require_same_shape(context, 0, 1);
  require_clip(context);
  return only(ElementType::kI32, context.shape(0));
}

std::vector<TypedShape> infer_fixed_average_pool(const OperatorContext& context) {
  require_type(context, 0, ElementType::kI32);
  require_rank(context, 0, 4);
  require_fraction(context);
  require_clip(context);
  require_integer(context, "multiplier", 1, 1, INT32_MAX);
  const Shape& x = context.shape(0);
  return only(ElementType::kI32, pool_window(context.node(), x).output_shape(x[0], x[1]));
}

std::vector<TypedShape> infer_lookup(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI32);
  require_vector(context, 1, kFixedTableSize);
  require_fraction(context);
  require_integer(context, "input_shift", 0, 0, kMostInputShift);
  return only(ElementType::kI32, context.shape(0));
}

template <ElementType from, ElementType to>
std::vector<TypedShape> infer_conversion(const OperatorContext& context) {
  require_type(context, 0, from);
  require_fraction(context);
  return only(to, context.shape(0));
}

}  // namespace

void add_fixed_point_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kInts = AttributeKind::kInts;
  constexpr ElementType kI32 = ElementType::kI32, kF32 = ElementType::kF32;
  const char* const domain = kTilewrightDomain;
  const AttributeRule strides{"strides", kInts}, pads{"pads", kInts}, dilations{"dilations", kInts},
      group{"group", kInt}, fraction{"fraction", kInt, true}, low{"clip_low", kInt}, high{"clip_high", kInt};
  table.push_back({domain,
                   "FixedConv",
                   3,
                   3,
                   1,
                   1,
                   {strides, pads, dilations, group, fraction, low, high},
                   infer_fixed_conv,
                   weighted_macs});
  table.push_back({domain, "FixedGemm", 3, 3, 1, 1, {fraction, low, high}, infer_fixed_gemm, weighted_macs});
  table.push_back({domain, "FixedAdd", 2, 2, 1, 1, {low, high}, infer_add});
  table.push_back(
      {domain,
       "FixedAveragePool",
       1,
       1,
       1,
       1,
       {{"kernel_shape", kInts, true}, strides, pads, {"multiplier", kInt, true}, fraction, low, high},
       infer_fixed_average_pool});
  table.push_back({domain, "FixedLookup", 2, 2, 1, 1, {fraction, {"input_shift", kInt, true}}, infer_lookup});
  table.push_back({domain, "FixedEncode", 1, 1, 1, 1, {fraction}, infer_conversion<kF32, kI32>});
  table.push_back({domain, "FixedDecode", 1, 1, 1, 1, {fraction}, infer_conversion<kI32, kF32>});
}

}  // namespace tilewright
