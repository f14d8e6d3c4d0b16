// Additions, products and averages, and the dispatch over all operators that compute.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/graph/channel_affine.h"
#include "tilewright/quantize/integerize/average_window.h"
#include "tilewright/quantize/integerize/fit_addition.h"
#include "tilewright/quantize/integerize/fit_scale.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

bool is_addition_or_difference(const Node& node) {
  return node.is("Add") || node.is("Sub") || (node.is("Sum") && node.inputs.size() == 2);
}

// A constant operand of an addition as the real numbers it stands for.
std::optional<Tensor> real_constant(IntegerBuilder& builder, ValueId old) {
  if (builder.source().is_constant(old)) return *builder.source().value(old).constant;
  const QuantizedConstant* c = builder.quantized_constant(old);
  if (!c || !c->per_tensor()) return std::nullopt;
  Tensor real(ElementType::kF64, c->integers.shape());
  for (int64_t i = 0; i < real.size(); ++i) {
    real.set_number(i, c->scale(0) * double(c->integers.integer_at(i) - c->zero_point(0)));
  }
  return real;
}

// Addition of a constant to a convolution or dense layer: more bias. The channel axis of `y` is `axis`.
std::optional<std::vector<double>> numbers_per_channel(const Tensor& constant, const Shape& y, int axis) {
  const int offset = y.rank() - constant.shape().rank();
  if (offset < 0) return std::nullopt;
  for (int a = 0; a < constant.shape().rank(); ++a) {
    const int64_t size = constant.shape()[a];
    if (size != 1 && (a + offset != axis || size != y[axis])) return std::nullopt;
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < constant.size(); ++i) numbers.push_back(constant.number_at(i));
  return numbers;
}

// The ConvInteger or MatMulInteger whose result, cast to float, `mul` multiplies.
const Node* scaled_product(const IntegerBuilder& builder, const Node& mul) {
  for (int i : {0, 1}) {
    const Node* cast = builder.producer(mul.input(i));
    if (!cast || !cast->is("Cast")) continue;
    const Node* product = builder.producer(cast->input(0));
    if (product && (product->is("ConvInteger") || product->is("MatMulInteger"))) return product;
  }
  return nullptr;
}

std::optional<ValueId> lower_bias_addition(IntegerBuilder& builder, const Node& node,
                                           const IntegerForm& form) {
  for (int i : {0, 1}) {
    const Node* other = builder.producer(node.input(1 - i));
    if (!other) continue;
    if (node.is("Sub") && i == 0) continue;  // constant - x
    const bool dense = other->is("Gemm") || other->is("MatMul");
    const bool convolution = other->is("Conv");
    const bool transposed = other->is("ConvTranspose");
    const Node* product = other->is("Mul") ? scaled_product(builder, *other) : nullptr;
    if (!dense && !convolution && !transposed && !product) continue;
    const Shape& y = builder.source().value(node.outputs[0]).shape;
    if (y != builder.source().value(node.input(1 - i)).shape) continue;
    const auto constant = real_constant(builder, node.input(i));
    if (!constant) continue;
    const bool last = dense || (product && product->is("MatMulInteger"));
    auto numbers = numbers_per_channel(*constant, y, last ? y.rank() - 1 : 1);
    if (!numbers || numbers->empty()) continue;
    if (node.is("Sub")) {
      for (double& number : *numbers) number = -number;
    }
    if (product) return lower_scaled_product(builder, *other, form, *numbers);
    if (dense) return lower_dense(builder, *other, form, *numbers);
    if (convolution) return lower_convolution(builder, *other, form, *numbers);
    return lower_transposed_convolution(builder, *other, form, *numbers);
  }
  return std::nullopt;
}

// How QAdd forms the sum: the multipliers, and the bias with what the zero points contribute.
std::optional<FittedAddition> encode_sum(const IntegerBuilder& builder, const Node& node,
                                         const Quantization& a, const Quantization& b,
                                         const IntegerForm& form) {
  const int sign = node.is("Sub") ? -1 : 1;
  const float y_scale = form.quantization.scale;
  const Rounding rounding = builder.source().rounding;
  if (rounding == Rounding::kTwice)
    return fit_addition({a, b, form.quantization, sign, {form.low, form.high}});
  const auto encoded = rounding == Rounding::kFloat
                           ? encode_addition_in_float(a.scale / y_scale, float(sign) * b.scale / y_scale)
                           : encode_addition(double(a.scale) / y_scale, double(sign) * b.scale / y_scale);
  if (!encoded) return std::nullopt;
  return FittedAddition{*encoded, -int64_t(encoded->multiplier_a) * a.zero_point -
                                      int64_t(encoded->multiplier_b) * b.zero_point};
}

// The i8 or i16 operand of an addition or a product: a twin of `shape`, or a constant that the source
// dequantises, spread to it.
std::optional<Twin> quantized_operand(IntegerBuilder& builder, ValueId old, const Shape& shape) {
  if (const Twin* twin = builder.twin(old)) {
    if (builder.graph().value(twin->id).shape != shape) return std::nullopt;
    return *twin;
  }
  const QuantizedConstant* c = builder.quantized_constant(old);
  if (!c || !c->per_tensor()) return std::nullopt;
  if (!is_activation(c->integers.type())) return std::nullopt;
  const ElementType type = signed_activation(c->integers.type());
  const int32_t zero = unsigned_shift(c->integers.type());
  const Shape& from = c->integers.shape();
  const int offset = shape.rank() - from.rank();
  if (offset < 0) return std::nullopt;
  for (int a = 0; a < from.rank(); ++a) {
    if (from[a] != 1 && from[a] != shape[a + offset]) return std::nullopt;
  }
  Tensor spread(type, shape);
  const std::vector<int64_t> strides = from.strides(), to_strides = shape.strides();
  for (int64_t i = 0; i < spread.size(); ++i) {
    int64_t index = 0;
    for (int a = 0; a < from.rank(); ++a) {
      if (from[a] != 1) index += i / to_strides[size_t(a + offset)] % shape[a + offset] * strides[size_t(a)];
    }
    spread.set_integer(i, c->integers.integer_at(index) + zero);
  }
  return Twin{builder.add_constant(builder.source().value(old).name + "_spread", std::move(spread)),
              {float(c->scale(0)), int32_t(c->zero_point(0) + zero)},
              lowest(type),
              highest(type)};
}

}  // namespace

void set_output_form(Node& node, const IntegerForm& form) {
  if (form.bipolar) {
    node.attributes["clip_low"] = int64_t{0};
    node.attributes["clip_high"] = int64_t{1};
    node.attributes["bipolar"] = int64_t{1};
    return;
  }
  if (form.quantization.zero_point != 0)
    node.attributes["y_zero_point"] = int64_t(form.quantization.zero_point);
  if (form.low != lowest(form.type)) node.attributes["clip_low"] = form.low;
  if (form.high != highest(form.type)) node.attributes["clip_high"] = form.high;
  if (form.type == ElementType::kI16) node.attributes["output_bits"] = int64_t{16};
}

namespace {

// QRescaledAdd, after TFLite's kernels: both operands in units of twice the larger scale, times 2^-15.
std::optional<ValueId> lower_rescaled_addition(IntegerBuilder& builder, const Node& node, const Twin& a,
                                               const Twin& b, const IntegerForm& form) {
  constexpr double kUnits = 1 << 15;
  const double unit = 2 * double(std::max(a.quantization.scale, b.quantization.scale));
  const double ratio = unit / (kUnits * double(form.quantization.scale));
  const double ratio_a = double(a.quantization.scale) / unit, ratio_b = double(b.quantization.scale) / unit;
  constexpr double kLeast = 0x1p-30;
  if (!(ratio > 0 && ratio < 0x1p30) || !(ratio_a > kLeast) || !(ratio_b > kLeast)) {
    return builder.refuse(node, "the ratios of input to output scale cannot be encoded");
  }
  const bool subtract = node.is("Sub");
  const double offset =
      ratio_a * a.quantization.zero_point + (subtract ? -1 : 1) * ratio_b * b.quantization.zero_point;
  const auto encode = builder.source().rounding == Rounding::kOnce ? encode_scale : encode_scale_twice;
  const ValueId out = builder.add_value(form.name, form.type, builder.source().value(node.outputs[0]).shape);
  Node& lowered = builder.add_node(node, "QRescaledAdd", kTilewrightDomain, {a.id, b.id}, {out}, true);
  const auto set_scale = [&](const std::string& suffix, const Requantization& r) {
    lowered.attributes["multiplier" + suffix] = int64_t(r.multiplier);
    lowered.attributes["shift" + suffix] = int64_t(r.shift);
  };
  set_scale("_a", encode(ratio_a));
  set_scale("_b", encode(ratio_b));
  set_scale("", encode(ratio));
  if (offset != 0) lowered.attributes["bias"] = int64_t(std::llround(-offset * kUnits));
  if (subtract) lowered.attributes["subtract"] = int64_t{1};
  set_output_form(lowered, form);
  return out;
}

// Neither a number nor a list of numbers.
bool differs_along_axes(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(), [](int64_t size) { return size > 1; }) > 1;
}

}  // namespace

std::optional<ValueId> lower_addition(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  if (const auto folded = lower_bias_addition(builder, node, form)) return folded;
  if (form.bipolar) return builder.refuse(node, "the sign of a sum of two activations has no integer form");
  const Shape shape = builder.source().value(node.outputs[0]).shape;
  for (int i : {0, 1}) {
    if (!builder.twin(node.input(i)) && !builder.quantized_constant(node.input(i))) {
      const Tensor* constant = builder.source().constant_input(node, i);
      if (constant != nullptr && differs_along_axes(constant->shape()))
        return builder.refuse(node, "it adds a constant of several axes that is no causal mask of a Softmax");
      return builder.refuse(node, fmt::format("its input {} is not quantised", i));
    }
  }
  const auto a = quantized_operand(builder, node.input(0), shape);
  const auto b = quantized_operand(builder, node.input(1), shape);
  if (!a || !b) return builder.refuse(node, "only operands of one shape have an integer form");
  const bool wide = form.type == ElementType::kI16 || builder.type_of(*a) == ElementType::kI16 ||
                    builder.type_of(*b) == ElementType::kI16;
  if (wide) return lower_rescaled_addition(builder, node, *a, *b, form);
  const auto encoded = encode_sum(builder, node, a->quantization, b->quantization, form);
  if (!encoded) return builder.refuse(node, "the ratios of input to output scale cannot be encoded");
  const ValueId out = builder.add_value(form.name, ElementType::kI8, shape);
  Node& lowered = builder.add_node(node, "QAdd", kTilewrightDomain, {a->id, b->id}, {out}, true);
  lowered.attributes["multiplier_a"] = int64_t(encoded->multipliers.multiplier_a);
  lowered.attributes["multiplier_b"] = int64_t(encoded->multipliers.multiplier_b);
  lowered.attributes["shift"] = int64_t(encoded->multipliers.shift);
  lowered.attributes["bias"] = encoded->bias;
  set_output_form(lowered, form);
  return out;
}

namespace {

// How QAveragePool scales the sums of its windows.
struct AverageForm {
  Requantization scale;
  int64_t bias = 0;
  int64_t y_zero_point = 0;
};

AverageForm average_form(const IntegerBuilder& builder, const Node& node, const Twin& twin,
                         const IntegerForm& form, int64_t count, double ratio) {
  const Quantization &x = twin.quantization, &y = form.quantization;
  const ElementType type = builder.type_of(twin);
  const bool wide = type == ElementType::kI16 || form.type == ElementType::kI16;
  const Rounding rounding = builder.rounding_of(wide ? ElementType::kI16 : type);
  if (rounding != Rounding::kOnce && !node.is("ReduceMean") && x == y) {
    // TFLite divides the sum of the integers in the file, which for u8 are 128 larger. Quotients need few
    // bits; a shift below 32 is never taken for one that rounds twice.
    const int largest_shift = wide ? 62 : 31;
    const int64_t zero = form.is_unsigned ? lowest(type) : 0;
    const FittedScale fitted =
        fit_scale(ratio, average_rule(count), {count * (lowest(type) - zero), count * (highest(type) - zero)},
                  {form.low - zero, form.high - zero}, largest_shift);
    return {fitted.scale, -count * zero, zero};
  }
  const IntegerRange sums{count * (lowest(type) - x.zero_point), count * (highest(type) - x.zero_point)};
  const float in_float = x.scale / (y.scale * float(count));
  return {
      encode_rounded(rounding, ratio, in_float, sums, {form.low - y.zero_point, form.high - y.zero_point}),
      -count * x.zero_point, y.zero_point};
}

}  // namespace

std::optional<ValueId> lower_multiplication(IntegerBuilder& builder, const Node& node,
                                            const IntegerForm& form) {
  std::vector<Twin> operands;
  for (int i : {0, 1}) {
    const ValueId old = node.input(i);
    const auto operand = quantized_operand(builder, old, builder.source().value(old).shape);
    if (!operand) return builder.refuse(node, fmt::format("its input {} is not quantised", i));
    operands.push_back(*operand);
  }
  const Quantization &a = operands[0].quantization, &b = operands[1].quantization;
  const double ratio = double(a.scale) * double(b.scale) / double(form.quantization.scale);
  if (!std::isfinite(ratio) || ratio <= 0 || ratio >= 0x1p31) {
    return builder.refuse(node,
                          fmt::format("the ratio {} of input to output scale cannot be encoded", ratio));
  }
  const auto magnitude = [](const Twin& twin) {
    const int64_t zero = twin.quantization.zero_point;
    return std::max(std::abs(twin.low - zero), std::abs(twin.high - zero));
  };
  const bool wide = form.type == ElementType::kI16 || builder.type_of(operands[0]) == ElementType::kI16 ||
                    builder.type_of(operands[1]) == ElementType::kI16;
  const int64_t largest = wide ? magnitude(operands[0]) * magnitude(operands[1]) : 255 * 255;
  if (largest > INT32_MAX) return builder.refuse(node, "its products leave 32 bits");
  const int64_t zero = form.quantization.zero_point;
  const Rounding rounding = builder.rounding_of(wide ? ElementType::kI16 : form.type);
  // TFLite computes the scale in floats, which 8 bits do not show.
  const float in_float = a.scale * b.scale / form.quantization.scale;
  const Requantization r =
      encode_rounded(rounding, wide && rounding == Rounding::kTwice ? double(in_float) : ratio, in_float,
                     {-largest, largest}, {form.low - zero, form.high - zero});
  const Shape shape = builder.source().value(node.outputs[0]).shape;
  const ValueId out = builder.add_value(form.name, form.type, shape);
  Node& lowered =
      builder.add_node(node, "QMul", kTilewrightDomain, {operands[0].id, operands[1].id}, {out}, true);
  if (a.zero_point != 0) lowered.attributes["a_zero_point"] = int64_t(a.zero_point);
  if (b.zero_point != 0) lowered.attributes["b_zero_point"] = int64_t(b.zero_point);
  lowered.attributes["multiplier"] = int64_t(r.multiplier);
  lowered.attributes["shift"] = int64_t(r.shift);
  set_output_form(lowered, form);
  return out;
}

// x * scale[c] + shift[c] of a quantised value with channels along axis 1: a depthwise layer whose multiplier
// is the factor of its channel, exact but for the bias, which is a multiple of 1/64 of the input's step.
std::optional<ValueId> emit_channel_affine(IntegerBuilder& builder, const Node& node, const Twin& x,
                                           const std::vector<double>& scale,
                                           const std::vector<double>& summands, const IntegerForm& form) {
  constexpr int64_t kWeight = 64;
  const Shape shape = builder.source().value(node.outputs[0]).shape;
  if (shape.rank() < 3 || shape.rank() > 4) {
    return builder.refuse(node, "factors per channel have an integer form with one or two spatial axes");
  }
  const int64_t channels = shape[1];
  Tensor weights(ElementType::kI8, {channels, 1, 1, 1}), bias(ElementType::kI32, {channels});
  Tensor multiplier(ElementType::kI32, {channels}), shift(ElementType::kI32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    // A channel without a factor is its summand alone, in steps of the output.
    const double factor = scale[size_t(c)], size = factor == 0 ? 1 : std::abs(factor);
    const double step = factor == 0 ? double(form.quantization.scale) / kWeight
                                    : size * double(x.quantization.scale) / kWeight;
    const int64_t weight = factor == 0 ? 0 : factor < 0 ? -kWeight : kWeight;
    const double ratio = step / double(form.quantization.scale);
    const double summand = summands[size_t(c)] / step - double(weight) * x.quantization.zero_point;
    if (!(std::abs(summand) < 0x1p30) || !(ratio > 0) || ratio >= 0x1p31) {
      return builder.refuse(node, fmt::format("the numbers of channel {} cannot be encoded", c));
    }
    const Requantization r = encode_scale(ratio);
    weights.set_integer(c, weight);
    bias.set_integer(c, std::llround(summand));
    multiplier.set_integer(c, r.multiplier);
    shift.set_integer(c, r.shift);
  }
  const bool row = shape.rank() == 3;
  const Shape image = row ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
  const ValueId in = builder.reshaped(node, x.id, form.name + "_row", image);
  const ValueId out = builder.add_value(row ? form.name + "_rows" : form.name, form.type, image);
  const ValueId w = builder.add_constant(form.name + "_weights", std::move(weights));
  const ValueId b = builder.add_constant(form.name + "_bias", std::move(bias));
  const ValueId m = builder.add_constant(form.name + "_multiplier", std::move(multiplier));
  const ValueId s = builder.add_constant(form.name + "_shift", std::move(shift));
  Node& lowered = builder.add_node(node, "QConv", kTilewrightDomain, {in, w, b, m, s}, {out}, true);
  lowered.attributes["group"] = channels;
  set_output_form(lowered, form);
  return builder.reshaped(node, out, form.name, shape);
}

std::optional<ValueId> lower_channel_affine(IntegerBuilder& builder, const Node& node,
                                            const IntegerForm& form) {
  const auto affine = as_channel_affine(builder.source(), node);
  if (!affine) return builder.refuse(node, "its factors are not constant, one per channel");
  const Twin* const given = builder.twin(affine->input);
  if (!given) return builder.refuse(node, "its input is not quantised");
  const Twin x = *given;
  return emit_channel_affine(builder, node, x, affine->scale, affine->shift, form);
}

// With slopes of at most 1 the larger of x and slope * x, with slopes of at least 1 the smaller: rounding and
// clipping keep the order, so it is exact.
std::optional<ValueId> lower_channel_prelu(IntegerBuilder& builder, const Node& node,
                                           const IntegerForm& form) {
  const auto slopes = prelu_slopes(builder.source(), node);
  if (!slopes) return builder.refuse(node, "its slopes are not constant, one per channel");
  const auto at_most = [&](double s) { return s <= 1; };
  const auto at_least = [&](double s) { return s >= 1; };
  const bool larger = std::all_of(slopes->begin(), slopes->end(), at_most);
  if (!larger && !std::all_of(slopes->begin(), slopes->end(), at_least)) {
    return builder.refuse(node, "some of its slopes are above 1, others below");
  }
  const Twin* const given = builder.twin(node.input(0));
  if (!given) return builder.refuse(node, "its input is not quantised");
  const Twin x = *given;
  const std::vector<double> none(slopes->size(), 0), ones(slopes->size(), 1);
  IntegerForm side = form;
  side.name = form.name + "_straight";
  const auto straight = emit_channel_affine(builder, node, x, ones, none, side);
  side.name = form.name + "_sloped";
  const auto sloped = straight ? emit_channel_affine(builder, node, x, *slopes, none, side) : std::nullopt;
  if (!sloped) return std::nullopt;
  const ValueId out = builder.add_value(form.name, form.type, builder.source().value(node.outputs[0]).shape);
  builder.add_node(node, larger ? "Max" : "Min", "", {*straight, *sloped}, {out}, true);
  return out;
}

std::optional<ValueId> lower_average(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  const Twin* const given = builder.twin(node.input(0));
  if (!given) return builder.refuse(node, "its input is not quantised");
  const Twin twin = *given, *const x = &twin;
  const AverageWindow average = average_window(builder.source(), node);
  if (!average.problem.empty()) return builder.refuse(node, average.problem);
  const int64_t count = average.elements();
  const double ratio = double(x->quantization.scale) / (double(form.quantization.scale) * double(count));
  if (!std::isfinite(ratio) || ratio <= 0 || ratio >= 0x1p31) {
    return builder.refuse(node,
                          fmt::format("the ratio {} of input to output scale cannot be encoded", ratio));
  }
  const ElementType type = builder.type_of(*x);
  if (count >= int64_t{1} << (30 - bit_width(type)))
    return builder.refuse(node, "the sum of a window overflows 32 bits");
  const AverageForm scaled = average_form(builder, node, *x, form, count, ratio);
  const Shape y = builder.source().value(node.outputs[0]).shape;
  const Shape from = builder.source().value(node.input(0)).shape;
  const bool row = from.rank() == 3;
  ValueId x_id = x->id;
  Shape pooled = y;
  if (row) {
    x_id = builder.reshaped(node, x_id, form.name + "_row", {from[0], from[1], 1, from[2]});
    pooled = Shape{y[0], y[1], 1, y.rank() == 3 ? y[2] : 1};
  } else if (y.rank() != 4) {  // ReduceMean without keepdims
    pooled = Shape{y[0], y[1], 1, 1};
  }
  const ValueId out = builder.add_value(pooled == y ? form.name : form.name + "_pooled", form.type, pooled);
  Node& lowered = builder.add_node(node, "QAveragePool", kTilewrightDomain, {x_id}, {out}, true);
  lowered.attributes["kernel_shape"] = average.kernel;
  lowered.attributes["strides"] = average.strides;
  lowered.attributes["pads"] = average.pads;
  if (average.padded) lowered.attributes["pad_value"] = int64_t(x->quantization.zero_point);
  lowered.attributes["bias"] = scaled.bias;
  lowered.attributes["multiplier"] = int64_t(scaled.scale.multiplier);
  lowered.attributes["shift"] = int64_t(scaled.scale.shift);
  set_output_form(lowered, form);
  lowered.attributes["y_zero_point"] = scaled.y_zero_point;
  return builder.reshaped(node, out, form.name, y);
}

std::optional<ValueId> lower_scaled_product(IntegerBuilder& builder, const Node& mul, const IntegerForm& form,
                                            const std::vector<double>& extra) {
  const Node* product = scaled_product(builder, mul);
  if (!product) return builder.refuse(mul, "this operator has no integer form");
  const bool convolution = product->is("ConvInteger");
  const Shape& y = builder.source().value(product->outputs[0]).shape;
  if (builder.source().value(mul.outputs[0]).shape != y) {
    return builder.refuse(mul, "it changes the shape of what it scales");
  }
  for (int i : {0, 1}) {
    const auto constant = real_constant(builder, mul.input(i));
    if (!constant) continue;
    const auto scales = numbers_per_channel(*constant, y, convolution ? 1 : y.rank() - 1);
    if (!scales) return builder.refuse(mul, "it does not scale by one number per output channel");
    return convolution ? lower_integer_convolution(builder, *product, *scales, form, extra)
                       : lower_integer_matmul(builder, *product, *scales, form, extra);
  }
  return builder.refuse(mul, "the scale is computed");
}

std::optional<ValueId> lower_operator(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  if (node.is("Conv")) return lower_convolution(builder, node, form);
  if (node.is("ConvTranspose")) return lower_transposed_convolution(builder, node, form);
  if (multiplies_computed(builder.source(), node)) return lower_product(builder, node, form);
  if (node.is("Gemm") || node.is("MatMul")) return lower_dense(builder, node, form);
  if (is_addition_or_difference(node)) {
    auto sum = lower_addition(builder, node, form);
    if (!sum && !form.bipolar) sum = lower_function(builder, node, form);
    if (!sum && !form.bipolar && as_channel_affine(builder.source(), node)) {
      sum = lower_channel_affine(builder, node, form);
    }
    return sum;
  }
  if (form.bipolar) return builder.refuse(node, "its sign has no integer form");
  if (node.is("AveragePool") || node.is("GlobalAveragePool") || node.is("ReduceMean")) {
    return lower_average(builder, node, form);
  }
  if (node.is("Softmax")) return lower_softmax(builder, node, form);
  if (node.is("RotaryEmbedding")) return lower_rotary(builder, node, form);
  if (node.is("LayerNormalization") || node.is("RMSNormalization")) return lower_norm(builder, node, form);
  if (const auto product = product_times_number(builder.source(), builder.producers(), node))
    return lower_product(builder, *product->product, form, product->factor);
  if (node.is("Mul")) {
    if (scaled_product(builder, node)) return lower_scaled_product(builder, node, form);
    if (const auto table = lower_function(builder, node, form)) return table;
    return as_channel_affine(builder.source(), node) ? lower_channel_affine(builder, node, form)
                                                     : lower_multiplication(builder, node, form);
  }
  if (node.is("BatchNormalization")) return lower_channel_affine(builder, node, form);
  if (node.is("Resize")) return lower_linear_resize(builder, node, form);
  if (node.is("PRelu") && prelu_slopes(builder.source(), node))
    return lower_channel_prelu(builder, node, form);
  return lower_lookup(builder, node, form);
}

}  // namespace tilewright
