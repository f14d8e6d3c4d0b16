// Definitions: the QONNX operator descriptions (Quant: clip(round(x / scale + zero point)) in `bit width`
// bits, less one value where narrow; BipolarQuant: the sign, zero counting as positive).
#include "tilewright/frontend/onnx/opset/qonnx_converters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {
namespace {

// Input `index` as one positive (or, with `any`, any) number. Exporters write integers as f32, i64 or i8.
std::optional<float> number_of(const Node& node, NodeConversion& conversion, int index, const char* what,
                               bool any) {
  const auto tensor = node.has_input(index) ? conversion.constant_of(node.input(index)) : std::nullopt;
  if (!tensor || tensor->size() != 1) {
    conversion.unsupported(fmt::format("its {} is not one constant number", what));
    return {};
  }
  const auto value = float(tensor->number_at(0));
  if (!std::isfinite(value) || (!any && value <= 0)) {
    conversion.invalid(fmt::format("its {} is {}", what, value));
    return {};
  }
  return value;
}

void become_constant(Node& node, NodeConversion& conversion, Tensor tensor) {
  node.op = "Identity";
  node.inputs = {conversion.constant("quantized", std::move(tensor))};
  node.attributes.clear();
}

void bipolar(Node& node, NodeConversion& conversion) {
  const auto scale = number_of(node, conversion, 1, "scale", false);
  if (!scale) return;
  const ValueId x = node.inputs[0];
  if (auto weights = conversion.constant_of(x)) {
    for (float& w : weights->mutable_data<float>()) w = w >= 0 ? *scale : -*scale;
    return become_constant(node, conversion, std::move(*weights));
  }
  const ValueId sign =
      conversion.emit("GreaterOrEqual", {x, conversion.constant("zero", Tensor::scalar(0.0f))});
  node.op = "Where";
  node.inputs = {sign, conversion.constant("plus", Tensor::scalar(*scale)),
                 conversion.constant("minus", Tensor::scalar(-*scale))};
  node.attributes.clear();
}

// The integers q of a quantiser as they are stored: q - offset in low..high.
struct Levels {
  ElementType type = ElementType::kI8;
  int64_t low = 0, high = 0, offset = 0;
};

// `most_bits`: 8, or for constants, whose real numbers are known, those of a bias.
std::optional<Levels> levels_of(const Node& node, NodeConversion& conversion, int most_bits) {
  const auto bits = number_of(node, conversion, 3, "bit width", false);
  if (!bits) return {};
  const std::string rounding = node.string_or("rounding_mode", "ROUND");
  if (rounding != "ROUND") {
    conversion.unsupported(fmt::format("rounds by '{}'", rounding), "only ROUND is supported");
    return {};
  }
  const bool is_signed = node.int_or("signed", 1) != 0;
  if (*bits != std::floor(*bits) || *bits < (is_signed ? 2 : 1) || *bits > float(most_bits)) {
    conversion.unsupported(
        fmt::format("has {} bits", *bits),
        "2 to 8 are supported, for constants up to 32, and unsigned 1; signs as BipolarQuant");
    return {};
  }
  const int64_t narrow = node.int_or("narrow", 0) != 0, span = int64_t{1} << int(*bits);
  if (*bits > 8) {
    return Levels{ElementType::kI32, is_signed ? -span / 2 + narrow : 0,
                  (is_signed ? span / 2 : span - narrow) - 1, 0};
  }
  if (is_signed) return Levels{ElementType::kI8, -span / 2 + narrow, span / 2 - 1, 0};
  if (*bits == 8) return Levels{ElementType::kU8, 0, span - 1 - narrow, 0};
  // Centred, so that unsigned numbers of n bits are signed ones of n bits.
  const int64_t offset = *bits == 1 ? 0 : span / 2;
  return Levels{ElementType::kI8, -offset, span - 1 - narrow - offset, offset};
}

// Scales that vary along one axis at most: one number, or one per index of `axis`.
struct WeightScales {
  std::vector<float> numbers;
  int axis = 0;
};

std::optional<WeightScales> weight_scales(const Node& node, NodeConversion& conversion,
                                          const Shape& weights) {
  const auto tensor = node.has_input(1) ? conversion.constant_of(node.input(1)) : std::nullopt;
  if (!tensor || tensor->size() == 1) {
    const auto single = number_of(node, conversion, 1, "scale", false);
    if (!single) return {};
    return WeightScales{{*single}, 0};
  }
  WeightScales result{tensor->to_floats(), -1};
  const int offset = weights.rank() - tensor->shape().rank();
  for (int a = 0; a < tensor->shape().rank() && offset >= 0; ++a) {
    if (tensor->shape()[a] == 1) continue;
    result.axis = result.axis < 0 && tensor->shape()[a] == weights[a + offset] ? a + offset : weights.rank();
  }
  if (result.axis < 0 || result.axis >= weights.rank()) {
    conversion.unsupported(
        fmt::format("has scales {} for weights {}", to_string(tensor->shape()), to_string(weights)),
        "one scale, or one per index of one axis");
    return {};
  }
  for (const float scale : result.numbers) {
    if (scale > 0 && std::isfinite(scale)) continue;
    conversion.invalid(fmt::format("its scale is {}", scale));
    return {};
  }
  return result;
}

// Weights rounded while reading. Integers of more than 8 bits are stored less their zero point, since those
// of 32 bits have none in ONNX.
void quantize_weights(Node& node, NodeConversion& conversion, const Levels& levels, int64_t zero,
                      const std::vector<float>& weights, const Shape& shape) {
  const auto scales = weight_scales(node, conversion, shape);
  if (!scales) return;
  const int64_t inner = shape.count(scales->axis + (shape.rank() > 0), shape.rank());
  const auto count = int64_t(scales->numbers.size());
  const bool wide = levels.type == ElementType::kI32;
  Tensor rounded(levels.type, shape), real(ElementType::kF32, shape);
  for (int64_t i = 0; i < rounded.size(); ++i) {
    const float scale = scales->numbers[size_t(i / inner % count)];
    // The zero point is added before rounding: where it is odd, halves go the other way.
    const double q = std::nearbyint(double(weights[size_t(i)]) / double(scale) + double(zero));
    const auto level = int64_t(std::clamp(q, double(levels.low), double(levels.high)));
    const int64_t stored = wide ? level - zero : level;
    if (std::isnan(q) || stored < lowest(levels.type) || stored > highest(levels.type)) {
      return conversion.unsupported(
          fmt::format("rounds {} to {}, which 32 bits do not hold", weights[size_t(i)], q));
    }
    rounded.set_integer(i, stored);
    real.mutable_data<float>()[size_t(i)] = scale * float(level - zero);
  }
  if (levels.low == -1 && levels.high == 1 && zero == 0) {
    return become_constant(node, conversion, std::move(real));
  }
  const bool single = count == 1;
  const Tensor scale_tensor = single ? Tensor::scalar(scales->numbers[0])
                                     : Tensor(Shape{count}, std::span<const float>(scales->numbers));
  node.op = "DequantizeLinear";
  node.inputs = {conversion.constant("integers", std::move(rounded)),
                 conversion.constant("scale", scale_tensor)};
  if (!wide) {
    Tensor zeros(levels.type, single ? Shape{} : Shape{count});
    for (int64_t i = 0; i < count; ++i) zeros.set_integer(i, zero);
    node.inputs.push_back(conversion.constant("zero_point", std::move(zeros)));
  }
  node.attributes.clear();
  if (!single) node.attributes["axis"] = int64_t(scales->axis);
}

// With a scale of -s, the integers are counted from the other end: those of the scale s and the zero point
// `low + high - zero`.
void quantize_activation(Node& node, NodeConversion& conversion, const Levels& levels, int64_t zero,
                         float scale) {
  const int64_t stored_zero = scale > 0 ? zero : levels.low + levels.high - zero;
  // QuantizeLinear adds its zero point after rounding, which halves only do not notice where it is even: one
  // step of an odd one is added before.
  const bool is_odd = zero % 2 != 0;
  const int64_t even_zero = stored_zero - (is_odd ? (scale > 0 ? 1 : -1) : 0);
  for (const int64_t number : {stored_zero, even_zero}) {
    if (number < lowest(levels.type) || number > highest(levels.type)) {
      return conversion.unsupported(fmt::format("its zero point is {} for the scale {}", zero, scale));
    }
  }
  const auto eight_bits = [&](const char* role, int64_t value) {
    return conversion.constant(role, scalar_of(levels.type, double(value)));
  };
  const auto scalar = conversion.constant("scale", Tensor::scalar(std::fabs(scale)));
  const ValueId zero_point = eight_bits("zero_point", stored_zero);
  ValueId x = node.inputs[0];
  if (is_odd) x = conversion.emit("Add", {x, conversion.constant("step", Tensor::scalar(scale))});
  ValueId integers = conversion.emit(
      "QuantizeLinear", {x, scalar, is_odd ? eight_bits("even_zero_point", even_zero) : zero_point});
  if (levels.low > lowest(levels.type) || levels.high < highest(levels.type)) {
    integers =
        conversion.emit("Clip", {integers, eight_bits("low", levels.low), eight_bits("high", levels.high)});
  }
  node.op = "DequantizeLinear";
  node.inputs = {integers, scalar, zero_point};
  node.attributes.clear();
}

void quant(Node& node, NodeConversion& conversion) {
  constexpr int kWidestConstant = 32, kWidest = 8;
  const auto weights = conversion.constant_of(node.inputs[0]);
  const auto levels = levels_of(node, conversion, weights ? kWidestConstant : kWidest);
  const auto zero = number_of(node, conversion, 2, "zero point", true);
  if (!levels || !zero) return;
  const double stored_zero = double(*zero) - double(levels->offset);
  if (stored_zero != std::floor(stored_zero) || stored_zero < double(lowest(levels->type)) ||
      stored_zero > double(highest(levels->type))) {
    return conversion.unsupported(fmt::format("its zero point is {}", *zero));
  }
  if (weights) {
    return quantize_weights(node, conversion, *levels, int64_t(stored_zero), weights->to_floats(),
                            weights->shape());
  }
  const auto scale = number_of(node, conversion, 1, "scale", true);
  if (!scale) return;
  if (*scale == 0) return conversion.invalid("its scale is 0");
  quantize_activation(node, conversion, *levels, int64_t(stored_zero), *scale);
}

}  // namespace

bool is_qonnx_quantizer(const std::string& domain, const std::string& op) {
  // Some exporters write them without a domain, where ONNX has no such operators.
  const bool known = domain.empty() || domain == "onnx.brevitas" || domain == "qonnx.custom_op.general" ||
                     domain == "finn.custom_op.general";
  return known && (op == "Quant" || op == "BipolarQuant" || op == "MultiThreshold");
}

void convert_qonnx_quantizer(Node& node, NodeConversion& conversion) {
  node.domain.clear();
  if (!node.has_input(0)) return conversion.invalid("has no input");
  // Weights may have been stored as integers already.
  const bool constant = node.op == "Quant" && conversion.constant_of(node.inputs[0]);
  if (conversion.type(node.inputs[0]) != ElementType::kF32 && !constant) {
    return conversion.unsupported(
        fmt::format("quantises {} numbers, only f32 is supported", name(conversion.type(node.inputs[0]))));
  }
  if (node.op == "MultiThreshold") return convert_multi_threshold(node, conversion);
  node.op == "Quant" ? quant(node, conversion) : bipolar(node, conversion);
}

}  // namespace tilewright
