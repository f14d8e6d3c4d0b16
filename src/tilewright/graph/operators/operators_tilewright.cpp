// The integer operators of docs/reference/arithmetic.md (domain "tilewright").
#include <fmt/format.h>

#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/operators/operators_convolution.h"
#include "tilewright/graph/window.h"

namespace tilewright {
namespace {

constexpr int64_t kMinI32 = INT32_MIN, kMaxI32 = INT32_MAX;

// y_zero_point, clip_low, clip_high, bipolar, and the table.
void require_output(const OperatorContext& context) {
  const int table = table_input(context.node());
  if (context.node().has_input(table)) {
    require_type(context, table, ElementType::kI8);
    require_vector(context, table, 256);
    if (context.node().int_or("bipolar", 0) != 0) reject(context, "a bipolar output has no table");
  }
  for (const char* attribute : {"y_zero_point", "clip_low", "clip_high"}) {
    require_integer(context, attribute, 0, -128, 127);
  }
  require_clip_order(context, -128, 127);
  const int64_t low = context.node().int_or("clip_low", -128), high = context.node().int_or("clip_high", 127);
  require_integer(context, "bipolar", 0, 0, 1);
  if (context.node().int_or("bipolar", 0) != 0 && (low != 0 || high != 1)) {
    reject(context, fmt::format("a bipolar output has the clip range 0..1, not {}..{}", low, high));
  }
}

constexpr const char* kShifts = "0..62 and, to round twice, 96..126";

void require_shift(const OperatorContext& context) {
  const int64_t shift = context.node().int_or("shift", 0);
  if (!is_shift(shift))
    reject(context, fmt::format("attribute 'shift' is {}, which is outside {}", shift, kShifts));
}

// A constant `[channels]` or `[1]` of i32 for which `is_valid` holds.
void require_per_channel(const OperatorContext& context, int index, const char* what, int64_t channels,
                         bool (*is_valid)(int64_t), const char* valid) {
  require_type(context, index, ElementType::kI32);
  if (context.shape(index) != Shape{1}) require_vector(context, index, channels);
  const Tensor* known = context.known(index);
  if (known == nullptr)
    reject(context, fmt::format("{}, {}, is not constant", describe_input(context, index), what));
  for (int64_t value : known->to_integers()) {
    if (!is_valid(value)) {
      reject(context, fmt::format("{}, {}, holds {}, which is outside {}", describe_input(context, index),
                                  what, value, valid));
    }
  }
}

// Inputs B, M and S after the activations and weights, and the weights' type.
void require_weights_and_scales(const OperatorContext& context, int64_t channels) {
  require_type(context, 0, ElementType::kI8);
  if (context.type(1) != ElementType::kI16) require_type(context, 1, ElementType::kI8);
  require_type(context, 2, ElementType::kI32);
  require_vector(context, 2, channels);
  require_per_channel(
      context, 3, "the multiplier", channels, [](int64_t m) { return m >= 1; }, "1..2147483647");
  require_per_channel(context, 4, "the shift", channels, is_shift, kShifts);
  require_output(context);
}

std::vector<TypedShape> infer_qconv(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape shape = convolution_shape(context, 0, 1);
  require_weights_and_scales(context, shape[1]);
  require_integer(context, "pad_value", 0, -128, 127);
  return only(ElementType::kI8, shape);
}

std::vector<TypedShape> infer_qconv_transpose(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape shape = transposed_convolution_shape(context, 0, 1);
  require_weights_and_scales(context, shape[1]);
  return only(ElementType::kI8, shape);
}

std::vector<TypedShape> infer_qgemm(const OperatorContext& context) {
  const Shape shape = transposed_product_shape(context);
  require_weights_and_scales(context, shape[1]);
  return only(ElementType::kI8, shape);
}

std::vector<TypedShape> infer_qadd(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI8);
  require_same_shape(context, 0, 1);
  constexpr int64_t kLimit = (int64_t{1} << 23) - 1;
  require_integer(context, "multiplier_a", 0, -kLimit, kLimit);
  require_integer(context, "multiplier_b", 0, -kLimit, kLimit);
  require_integer(context, "bias", 0, kMinI32, kMaxI32);
  require_integer(context, "shift", 0, 0, 62);
  require_output(context);
  return only(ElementType::kI8, context.shape(0));
}

std::vector<TypedShape> infer_qmul(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI8);
  require_integer(context, "a_zero_point", 0, -128, 127);
  require_integer(context, "b_zero_point", 0, -128, 127);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  require_output(context);
  return only(ElementType::kI8, broadcast_inputs(context, context.shape(0), context.shape(1)));
}

void require_single_scale(const OperatorContext& context) {
  require_type(context, 0, ElementType::kI8);
  require_integer(context, "bias", 0, kMinI32, kMaxI32);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  require_output(context);
}

std::vector<TypedShape> infer_qaverage_pool(const OperatorContext& context) {
  require_single_scale(context);
  require_rank(context, 0, 4);
  require_integer(context, "pad_value", 0, -128, 127);
  const Shape& x = context.shape(0);
  const Window window = pool_window(context.node(), x);
  return only(ElementType::kI8, window.output_shape(x[0], x[1]));
}

std::vector<TypedShape> infer_qrequantize(const OperatorContext& context) {
  require_single_scale(context);
  return only(ElementType::kI8, context.shape(0));
}

std::vector<TypedShape> infer_qlookup(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI8);
  require_vector(context, 1, 256);
  return only(ElementType::kI8, context.shape(0));
}

std::vector<AttributeRule> with_output_attributes(std::vector<AttributeRule> attributes) {
  for (const char* name : {"y_zero_point", "clip_low", "clip_high", "bipolar"}) {
    attributes.push_back({name, AttributeKind::kInt});
  }
  return attributes;
}

}  // namespace

void add_tilewright_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kInts = AttributeKind::kInts;
  const char* const domain = kTilewrightDomain;
  const AttributeRule strides{"strides", kInts}, pads{"pads", kInts}, dilations{"dilations", kInts},
      group{"group", kInt};
  const AttributeRule bias{"bias", kInt}, multiplier{"multiplier", kInt, true}, shift{"shift", kInt, true};
  table.push_back({domain, "QConv", 5, 6, 1, 1,
                   with_output_attributes({strides, pads, dilations, group, {"pad_value", kInt}}),
                   infer_qconv, weighted_macs});
  table.push_back({domain, "QConvTranspose", 5, 6, 1, 1,
                   with_output_attributes({strides, pads, dilations, group, {"output_padding", kInts}}),
                   infer_qconv_transpose, [](const OperatorContext& context, std::span<const TypedShape>) {
                     return transposed_convolution_macs(context.shape(0), context.shape(1));
                   }});
  table.push_back({domain, "QGemm", 5, 6, 1, 1, with_output_attributes({}), infer_qgemm, weighted_macs});
  table.push_back(
      {domain, "QAdd", 2, 3, 1, 1,
       with_output_attributes({{"multiplier_a", kInt, true}, {"multiplier_b", kInt, true}, bias, shift}),
       infer_qadd});
  table.push_back(
      {domain, "QMul", 2, 3, 1, 1,
       with_output_attributes({{"a_zero_point", kInt}, {"b_zero_point", kInt}, multiplier, shift}),
       infer_qmul});
  table.push_back(
      {domain, "QAveragePool", 1, 2, 1, 1,
       with_output_attributes(
           {{"kernel_shape", kInts, true}, strides, pads, {"pad_value", kInt}, bias, multiplier, shift}),
       infer_qaverage_pool});
  table.push_back({domain, "QRequantize", 1, 2, 1, 1, with_output_attributes({bias, multiplier, shift}),
                   infer_qrequantize});
  table.push_back({domain, "QLookup", 2, 2, 1, 1, {}, infer_qlookup});
}

}  // namespace tilewright
