// Functions of one quantised value to QLookup: activations, and chains of float operators that amount to one.
// All 256 results, 65,536 for 16 bits, are computed here, in double, rounded half up and clipped. The table
// is therefore exact, whatever the function.
#include <cmath>
#include <functional>

#include "tilewright/quantize/integerize/element_function.h"
#include "tilewright/quantize/integerize/fit_scale.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

int64_t rounded(double real, const IntegerForm& form) {
  const double scaled = real / double(form.quantization.scale);
  const double below = std::floor(scaled);
  const double integer = below + (scaled - below >= 0.5 ? 1 : 0) + form.quantization.zero_point;
  if (!(integer > double(form.low))) return form.low;
  return integer < double(form.high) ? int64_t(integer) : form.high;
}

// TFLite's LEAKY_RELU has a scale for each half, rounded as it rounds copies. Nullopt: no such operator, or a
// slope that is not between 0 and 1.
std::optional<std::function<int64_t(int64_t)>> leaky_copy(const IntegerBuilder& builder, const Node& node,
                                                          const Quantization& x, const IntegerForm& form) {
  const Rounding rounding = builder.rounding_of(form.type);
  const float slope = node.float_or("alpha", 0.01F);
  const double ratio = double(x.scale) / double(form.quantization.scale);
  if (rounding == Rounding::kOnce || !node.is("LeakyRelu") || !(slope > 0 && slope < 1) ||
      !(ratio < 0x1p30)) {
    return std::nullopt;
  }
  const float in_float = x.scale / form.quantization.scale;
  // The kernels compute their scales in floats, which 8 bits do not show.
  const bool wide = form.type == ElementType::kI16;
  const float in_float_below = wide ? x.scale * slope / form.quantization.scale : in_float * slope;
  const Requantization above = encode_copy(rounding, wide ? double(in_float) : ratio, in_float);
  const Requantization below =
      encode_copy(rounding, wide ? double(in_float_below) : ratio * double(slope), in_float_below);
  return [=](int64_t q) {
    const auto offset = int32_t(q - x.zero_point);
    return clip(scaled(offset, offset > 0 ? above : below) + form.quantization.zero_point, form.low,
                form.high);
  };
}

}  // namespace

std::optional<ValueId> lower_function(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  const auto is_base = [&](ValueId v) { return builder.twin(v) != nullptr && v != node.outputs[0]; };
  const auto number = [&](ValueId v) -> std::optional<double> {
    const QuantizedConstant* c = builder.quantized_constant(v);
    if (c == nullptr) return constant_number(builder.source(), v);
    if (c->integers.size() != 1) return std::nullopt;
    return c->scale(0) * double(c->integers.integer_at(0) - c->zero_point(0));
  };
  const auto function =
      function_of_one(builder.source(), builder.producers(), node.outputs[0], is_base, number);
  if (!function) return std::nullopt;
  const Twin source = *builder.twin(function->base);
  const ElementType from = builder.type_of(source);
  const int64_t low = lowest(from), high = highest(from);
  Tensor table(form.type, {high - low + 1});
  const auto copy =
      node.input(0) == function->base ? leaky_copy(builder, node, source.quantization, form) : std::nullopt;
  for (int64_t q = low; q <= high; ++q) {
    table.set_integer(
        q - low,
        copy ? (*copy)(q) : rounded(function->function(dequantize_number(q, source.quantization)), form));
  }
  const ValueId t = builder.add_constant(node.name + "_table", std::move(table));
  const ValueId out = builder.add_value(form.name, form.type, builder.graph().value(source.id).shape);
  builder.add_node(node, "QLookup", kTilewrightDomain, {source.id, t}, {out}, true);
  return out;
}

std::optional<ValueId> lower_lookup(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  if (const auto table = lower_function(builder, node, form)) return table;
  const bool known = element_function(builder.source(), node).has_value();
  return builder.refuse(node, known ? "its input is not quantised" : "this operator has no integer form");
}

}  // namespace tilewright
