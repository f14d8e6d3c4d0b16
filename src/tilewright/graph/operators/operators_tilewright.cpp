// The integer operators of docs/reference/arithmetic.md (domain "tilewright").
#include <fmt/format.h>

#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/operators/operators_convolution.h"
#include "tilewright/graph/product_places.h"
#include "tilewright/graph/window.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright {
namespace {

constexpr int64_t kMinI32 = INT32_MIN, kMaxI32 = INT32_MAX;

// Activations have 8 or 16 bits.
void require_activation(const OperatorContext& context, int index) {
  if (context.type(index) != ElementType::kI16) require_type(context, index, ElementType::kI8);
}

// An attribute that stands for elements of input `index`.
void require_element(const OperatorContext& context, const char* attribute, int index) {
  require_integer(context, attribute, 0, lowest(context.type(index)), highest(context.type(index)));
}

// y_zero_point, clip_low, clip_high, bipolar, output_bits and the table. The result's type.
ElementType require_output(const OperatorContext& context) {
  const Node& node = context.node();
  const ElementType type = output_type(node);
  if (node.int_or("output_bits", 8) != bit_width(type))
    reject(context,
           fmt::format("attribute 'output_bits' is {}, allowed are 8 and 16", node.int_or("output_bits", 8)));
  const int table = table_input(node);
  if (node.has_input(table)) {
    require_type(context, table, ElementType::kI8);
    require_vector(context, table, 256);
    if (node.int_or("bipolar", 0) != 0) reject(context, "a bipolar output has no table");
    if (type != ElementType::kI8) reject(context, "an output of 16 bits has no table");
  }
  for (const char* attribute : {"y_zero_point", "clip_low", "clip_high"}) {
    require_integer(context, attribute, 0, lowest(type), highest(type));
  }
  require_clip_order(context, lowest(type), highest(type));
  const int64_t low = node.int_or("clip_low", lowest(type)), high = node.int_or("clip_high", highest(type));
  require_integer(context, "bipolar", 0, 0, 1);
  if (node.int_or("bipolar", 0) != 0 && (low != 0 || high != 1)) {
    reject(context, fmt::format("a bipolar output has the clip range 0..1, not {}..{}", low, high));
  }
  return type;
}

constexpr const char* kShifts = "0..62 and, to round twice, 96..126";

void require_shift(const OperatorContext& context, const char* attribute = "shift") {
  const int64_t shift = context.node().int_or(attribute, 0);
  if (!is_shift(shift))
    reject(context, fmt::format("attribute '{}' is {}, which is outside {}", attribute, shift, kShifts));
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

// Inputs B, M and S after the activations and weights, and the weights' type. The result's type.
ElementType require_weights_and_scales(const OperatorContext& context, int64_t channels) {
  require_activation(context, 0);
  require_activation(context, 1);
  const bool wide = context.type(2) == ElementType::kI64;
  if (!wide) require_type(context, 2, ElementType::kI32);
  require_vector(context, 2, channels);
  require_per_channel(
      context, 3, "the multiplier", channels, [](int64_t m) { return m >= 1; }, "1..2147483647");
  if (wide) {
    require_per_channel(
        context, 4, "the shift", channels, [](int64_t s) { return s >= 0 && s <= 62; },
        "0..62, the shifts of 64-bit sums");
  } else {
    require_per_channel(context, 4, "the shift", channels, is_shift, kShifts);
  }
  return require_output(context);
}

std::vector<TypedShape> infer_qconv(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape shape = convolution_shape(context, 0, 1);
  const ElementType type = require_weights_and_scales(context, shape[1]);
  require_element(context, "pad_value", 0);
  return only(type, shape);
}

std::vector<TypedShape> infer_qconv_transpose(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape shape = transposed_convolution_shape(context, 0, 1);
  return only(require_weights_and_scales(context, shape[1]), shape);
}

std::vector<TypedShape> infer_qgemm(const OperatorContext& context) {
  const Shape shape = transposed_product_shape(context);
  return only(require_weights_and_scales(context, shape[1]), shape);
}

std::vector<TypedShape> infer_qadd(const OperatorContext& context) {
  for (int i : {0, 1}) require_type(context, i, ElementType::kI8);
  require_same_shape(context, 0, 1);
  constexpr int64_t kLimit = (int64_t{1} << 23) - 1;
  require_integer(context, "multiplier_a", 0, -kLimit, kLimit);
  require_integer(context, "multiplier_b", 0, -kLimit, kLimit);
  require_integer(context, "bias", 0, kMinI32, kMaxI32);
  require_integer(context, "shift", 0, 0, 62);
  return only(require_output(context), context.shape(0));
}

std::vector<TypedShape> infer_qrescaled_add(const OperatorContext& context) {
  for (int i : {0, 1}) require_activation(context, i);
  require_same_shape(context, 0, 1);
  require_integer(context, "bias", 0, kMinI32, kMaxI32);
  for (const char* name : {"multiplier_a", "multiplier_b", "multiplier"}) {
    require_integer(context, name, 1, 1, kMaxI32);
  }
  for (const char* name : {"shift_a", "shift_b", "shift"}) require_shift(context, name);
  const Node& node = context.node();
  for (const char* operand : {"a", "b"}) {
    const std::string multiplier = std::string("multiplier_") + operand,
                      shift = std::string("shift_") + operand;
    if (decode_scale({int32_t(node.int_or(multiplier, 1)), int32_t(node.int_or(shift, 0))}) > 0.5)
      reject(context, fmt::format("the scale of operand {} is above 1/2", operand));
  }
  require_integer(context, "subtract", 0, 0, 1);
  return only(require_output(context), context.shape(0));
}

std::vector<TypedShape> infer_qmul(const OperatorContext& context) {
  for (int i : {0, 1}) require_activation(context, i);
  require_element(context, "a_zero_point", 0);
  require_element(context, "b_zero_point", 1);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  const ElementType type = require_output(context);
  return only(type, broadcast_inputs(context, context.shape(0), context.shape(1)));
}

ElementType require_single_scale(const OperatorContext& context) {
  require_activation(context, 0);
  require_integer(context, "bias", 0, kMinI32, kMaxI32);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  return require_output(context);
}

std::vector<TypedShape> infer_qaverage_pool(const OperatorContext& context) {
  const ElementType type = require_single_scale(context);
  require_rank(context, 0, 4);
  require_element(context, "pad_value", 0);
  const Shape& x = context.shape(0);
  const Window window = pool_window(context.node(), x);
  return only(type, window.output_shape(x[0], x[1]));
}

std::vector<TypedShape> infer_qrequantize(const OperatorContext& context) {
  return only(require_single_scale(context), context.shape(0));
}

std::vector<TypedShape> infer_qlookup(const OperatorContext& context) {
  for (int i : {0, 1}) require_activation(context, i);
  require_vector(context, 1, int64_t{1} << bit_width(context.type(0)));
  return only(context.type(1), context.shape(0));
}

// What works along the last axis: at least one element in each row.
void require_last_axis(const OperatorContext& context, const Shape& x) {
  if (x.rank() < 1 || x[x.rank() - 1] < 1) reject(context, "X has no last axis with elements");
}

// Of the softmax of rows of `x`.
void require_exponentials(const OperatorContext& context, int input, const Shape& x) {
  require_type(context, input, ElementType::kI32);
  require_vector(context, input, 256);
  require_last_axis(context, x);
  if (const int64_t length = x[x.rank() - 1]; length > kLongestSoftmax)
    reject(context, fmt::format("rows of {} elements are longer than {}", length, kLongestSoftmax));
}

// The place of a token in its text.
void require_position(const OperatorContext& context, int input) {
  require_type(context, input, ElementType::kI64);
  require_vector(context, input, 1);
}

std::vector<TypedShape> infer_qmatmul(const OperatorContext& context) {
  for (int i : {0, 1}) require_activation(context, i);
  require_element(context, "a_zero_point", 0);
  require_element(context, "b_zero_point", 1);
  for (const char* flag : {"transpose_b", "a_columns", "b_columns", "y_columns"})
    require_integer(context, flag, 0, 0, 1);
  require_integer(context, "heads", 1, 1, kMaxI32);
  require_integer(context, "groups", 0, 0, kMaxI32);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  const Shape &a = context.shape(0), &b = context.shape(1);
  const std::optional<ProductGeometry> geometry = product_geometry(a, b, product_places(context.node()));
  if (!geometry) reject(context, fmt::format("{} and {} do not fit each other", to_string(a), to_string(b)));
  if (context.node().has_input(3)) require_position(context, 3);
  if (context.node().has_input(2)) {
    require_exponentials(context, 2, geometry->result);
    require_integer(context, "softmax_numerator", 1, 1, kMostNumerator);
    require_integer(context, "softmax_shift", 0, 0, 62);
    require_integer(context, "softmax_zero_point", 0, INT8_MIN, INT8_MAX);
    require_integer(context, "softmax_clip_low", INT8_MIN, INT8_MIN, INT8_MAX);
    require_integer(context, "softmax_clip_high", INT8_MAX,
                    context.node().int_or("softmax_clip_low", INT8_MIN), INT8_MAX);
    if (geometry->heads > 1 && context.node().int_or("y_columns", 0) != 0)
      reject(context, "a softmax needs the rows of every head below those of the head before");
    if (output_type(context.node()) != ElementType::kI8 || context.node().int_or("bipolar", 0) != 0)
      reject(context, "a softmax reads 8-bit integers");
  }
  return only(require_output(context), geometry->result);
}

// What a causal softmax sees: whole turns of `causal` rows; a position inside the rows.
void require_causal(const OperatorContext& context) {
  require_integer(context, "causal", 0, 0, kMaxI32);
  const int64_t causal = context.node().int_or("causal", 0);
  const Shape& x = context.shape(0);
  if (causal > 0 && (x.rank() < 2 || x[x.rank() - 2] % causal != 0))
    reject(context,
           fmt::format("{} has no multiple of {} rows, its attribute 'causal'", to_string(x), causal));
  if (!context.node().has_input(2)) return;
  if (causal == 0) reject(context, "a softmax with a position needs the attribute 'causal'");
  require_type(context, 2, ElementType::kI64);
  require_single_element(context, 2);
  const Tensor* known = context.known(2);
  const int64_t position = known == nullptr ? 0 : known->integer_at(0), columns = x[x.rank() - 1];
  if (position < 0 || position >= columns)
    reject(context, fmt::format("position {} is outside rows of {} columns", position, columns));
}

std::vector<TypedShape> infer_qsoftmax(const OperatorContext& context) {
  require_type(context, 0, ElementType::kI8);
  require_exponentials(context, 1, context.shape(0));
  require_integer(context, "numerator", 1, 1, kMostNumerator);
  require_integer(context, "shift", 0, 0, 62);
  require_causal(context);
  return only(require_output(context), context.shape(0));
}

std::vector<TypedShape> infer_qrotary(const OperatorContext& context) {
  for (int i : {0, 1, 2}) require_type(context, i, ElementType::kI8);
  require_element(context, "x_zero_point", 0);
  require_integer(context, "heads", 1, 1, kMaxI32);
  require_integer(context, "multiplier", 1, 1, kMaxI32);
  require_shift(context);
  const Shape &x = context.shape(0), &cosines = context.shape(1), &sines = context.shape(2);
  const int64_t heads = context.node().int_or("heads", 1);
  if (!rotary_geometry(x, cosines, sines, heads))
    reject(context, fmt::format("{} of {} heads, {} cosines and {} sines do not fit each other", to_string(x),
                                heads, to_string(cosines), to_string(sines)));
  return only(require_output(context), x);
}

std::vector<TypedShape> infer_qlayer_norm(const OperatorContext& context) {
  require_activation(context, 0);
  require_last_axis(context, context.shape(0));
  const Shape& x = context.shape(0);
  const int64_t channels = x[x.rank() - 1];
  require_type(context, 1, ElementType::kI32);
  require_vector(context, 1, channels);
  require_per_channel(
      context, 2, "the multiplier", channels, [](int64_t m) { return m != kMinI32; },
      "-2147483647..2147483647");
  require_per_channel(context, 3, "the shift", channels, is_shift, kShifts);
  require_element(context, "x_zero_point", 0);
  require_integer(context, "center", 1, 0, 1);
  require_integer(context, "fraction", 0, 0, 8);
  require_integer(context, "epsilon", 1, 1, kMostEpsilon);
  if (channels > kLongestNorm)
    reject(context, fmt::format("{} channels are more than {}", channels, kLongestNorm));
  return only(require_output(context), x);
}

// Rows of X into the cache, from the position on.
std::vector<TypedShape> infer_qcache_update(const OperatorContext& context) {
  for (int i : {0, 1}) require_activation(context, i);
  for (int i : {0, 1}) require_rank(context, i, 2);
  require_position(context, 2);
  const Shape &cache = context.shape(0), &x = context.shape(1);
  if (context.type(0) != context.type(1)) reject(context, "the cache and its new rows have different types");
  if (x[1] != cache[1] || x[0] > cache[0])
    reject(context, fmt::format("rows {} do not fit a cache {}", to_string(x), to_string(cache)));
  return only(context.type(0), cache);
}

std::vector<AttributeRule> with_output_attributes(std::vector<AttributeRule> attributes) {
  for (const char* name : {"y_zero_point", "clip_low", "clip_high", "bipolar", "output_bits"}) {
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
  table.push_back({domain, "QRescaledAdd", 2, 3, 1, 1,
                   with_output_attributes({bias,
                                           {"multiplier_a", kInt, true},
                                           {"shift_a", kInt, true},
                                           {"multiplier_b", kInt, true},
                                           {"shift_b", kInt, true},
                                           {"subtract", kInt},
                                           multiplier,
                                           shift}),
                   infer_qrescaled_add});
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
  table.push_back({domain, "QMatMul", 2, 4, 1, 1,
                   with_output_attributes({{"a_zero_point", kInt},
                                           {"b_zero_point", kInt},
                                           {"transpose_b", kInt},
                                           {"heads", kInt},
                                           {"groups", kInt},
                                           {"a_columns", kInt},
                                           {"b_columns", kInt},
                                           {"y_columns", kInt},
                                           {"softmax_numerator", kInt},
                                           {"softmax_shift", kInt},
                                           {"softmax_zero_point", kInt},
                                           {"softmax_clip_low", kInt},
                                           {"softmax_clip_high", kInt},
                                           multiplier,
                                           shift}),
                   infer_qmatmul, [](const OperatorContext& context, std::span<const TypedShape> outputs) {
                     const auto geometry =
                         product_geometry(context.shape(0), context.shape(1), product_places(context.node()));
                     return outputs[0].shape.element_count() * geometry->depth;
                   }});
  table.push_back({domain, "QSoftmax", 2, 3, 1, 1,
                   with_output_attributes({{"numerator", kInt, true}, {"causal", kInt}, shift}),
                   infer_qsoftmax});
  table.push_back({domain, "QRotary", 3, 3, 1, 1,
                   with_output_attributes({{"x_zero_point", kInt}, {"heads", kInt}, multiplier, shift}),
                   infer_qrotary});
  table.push_back(
      {domain, "QLayerNorm", 4, 4, 1, 1,
       with_output_attributes(
           {{"x_zero_point", kInt}, {"center", kInt}, {"fraction", kInt}, {"epsilon", kInt, true}}),
       infer_qlayer_norm});
  table.push_back({domain, "QCacheUpdate", 3, 3, 1, 1, {}, infer_qcache_update});
  table.push_back({domain, "QLookup", 2, 2, 1, 1, {}, infer_qlookup});
}

}  // namespace tilewright
