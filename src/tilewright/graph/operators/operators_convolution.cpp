// Convolutions: Conv, ConvTranspose and the integer forms ConvInteger and QLinearConv.
#include "tilewright/graph/operators/operators_convolution.h"

#include <fmt/format.h>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/window.h"

namespace tilewright {
namespace {

int64_t checked_group(const OperatorContext& context) {
  const int64_t group = context.node().int_or("group", 1);
  if (group < 1) reject(context, fmt::format("attribute 'group' is {}", group), "1 or more is needed");
  return group;
}

std::vector<TypedShape> infer_conv(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  require_same_type(context, 0, 1);
  const Shape shape = convolution_shape(context, 0, 1);
  if (context.has(2)) {
    require_same_type(context, 0, 2);
    require_vector(context, 2, context.shape(1)[0]);
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_conv_transpose(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  require_same_type(context, 0, 1);
  const Shape shape = transposed_convolution_shape(context, 0, 1);
  if (context.has(2)) {
    require_same_type(context, 0, 2);
    require_vector(context, 2, shape[1]);
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_conv_integer(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kByte);
  require_class(context, 1, TypeClass::kByte);
  const Shape shape = convolution_shape(context, 0, 1);
  for (int i = 2; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    require_same_type(context, i - 2, i);
    if (i == 2 || saturating_count(context.shape(i)) == 1) {
      require_single_element(context, i);
    } else {
      require_vector(context, i, context.shape(1)[0]);
    }
  }
  return only(ElementType::kI32, shape);
}

std::vector<TypedShape> infer_qlinear_conv(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kByte);
  require_class(context, 3, TypeClass::kByte);
  require_class(context, 7, TypeClass::kByte);
  const Shape shape = convolution_shape(context, 0, 3);
  for (int i : {1, 4, 6}) require_type(context, i, ElementType::kF32);
  require_same_type(context, 0, 2);
  require_same_type(context, 3, 5);
  for (int i : {1, 2, 6, 7}) require_single_element(context, i);
  for (int i : {4, 5}) {
    if (saturating_count(context.shape(i)) != 1) require_vector(context, i, context.shape(3)[0]);
  }
  if (context.has(8)) {
    require_type(context, 8, ElementType::kI32);
    require_vector(context, 8, context.shape(3)[0]);
  }
  return only(context.type(7), shape);
}

}  // namespace

Shape convolution_shape(const OperatorContext& context, int x_index, int weights_index) {
  const Shape& x = context.shape(x_index);
  const Shape& weights = context.shape(weights_index);
  const Window window = convolution_window(context.node(), x, weights);
  const int64_t group = checked_group(context);
  if (saturating_multiply(weights[1], group) != x[1]) {
    reject(context,
           fmt::format("{} channels do not fit weights of shape {} in {} group{}", x[1], to_string(weights),
                       group, group == 1 ? "" : "s"),
           "the weights' second size times group must be the number of channels");
  }
  if (weights[0] % group != 0) {
    reject(context, fmt::format("{} output channels do not divide into {} groups", weights[0], group));
  }
  return window.output_shape(x[0], weights[0]);
}

Shape transposed_convolution_shape(const OperatorContext& context, int x_index, int weights_index) {
  const Shape& x = context.shape(x_index);
  const Shape& weights = context.shape(weights_index);
  const Window window = transposed_window(context.node(), x, weights);
  const int64_t group = checked_group(context);
  if (weights[0] != x[1]) {
    reject(context, fmt::format("{} channels do not fit weights of shape {}", x[1], to_string(weights)),
           "the weights' first size must be the number of channels");
  }
  if (x[1] % group != 0) {
    reject(context, fmt::format("{} channels do not divide into {} groups", x[1], group));
  }
  return window.output_shape(x[0], saturating_multiply(weights[1], group));
}

int64_t convolution_macs(const Shape& weights, const Shape& output) {
  return saturating_multiply(saturating_count(output),
                             saturating_count(Shape({weights.begin() + 1, weights.end()})));
}

int64_t weighted_macs(const OperatorContext& context, std::span<const TypedShape> outputs) {
  return convolution_macs(context.shape(1), outputs[0].shape);
}

int64_t transposed_convolution_macs(const Shape& x, const Shape& weights) {
  return saturating_multiply(saturating_count(x),
                             saturating_count(Shape({weights.begin() + 1, weights.end()})));
}

void add_convolution_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kInts = AttributeKind::kInts, kString = AttributeKind::kString;
  const std::vector<AttributeRule> attributes{{"auto_pad", kString}, {"dilations", kInts},
                                              {"group", kInt},       {"kernel_shape", kInts},
                                              {"pads", kInts},       {"strides", kInts}};
  std::vector<AttributeRule> transposed = attributes;
  transposed.push_back({"output_padding", kInts});
  transposed.push_back({"output_shape", kInts});
  table.push_back({"", "Conv", 2, 3, 1, 1, attributes, infer_conv, weighted_macs});
  table.push_back({"", "ConvInteger", 2, 4, 1, 1, attributes, infer_conv_integer, weighted_macs});
  table.push_back({"", "QLinearConv", 8, 9, 1, 1, attributes, infer_qlinear_conv,
                   [](const OperatorContext& context, std::span<const TypedShape> outputs) {
                     return convolution_macs(context.shape(3), outputs[0].shape);
                   }});
  table.push_back({"", "ConvTranspose", 2, 3, 1, 1, transposed, infer_conv_transpose,
                   [](const OperatorContext& context, std::span<const TypedShape>) {
                     return transposed_convolution_macs(context.shape(0), context.shape(1));
                   }});
}

}  // namespace tilewright
