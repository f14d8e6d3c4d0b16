// Functions of one quantised value to QLookup: activations, and chains of float operators that amount to one.
// All 256 results are computed here, in double, rounded half up and clipped. The table is therefore exact,
// whatever the function.
#include <cmath>

#include "tilewright/quantize/integerize/element_function.h"
#include "tilewright/quantize/integerize/lower_operators.h"

namespace tilewright {
namespace {

int64_t rounded(double real, const IntegerForm& form) {
  const double scaled = real / double(form.quantization.scale);
  const double below = std::floor(scaled);
  const double integer = below + (scaled - below >= 0.5 ? 1 : 0) + form.quantization.zero_point;
  if (!(integer > double(form.low))) return form.low;
  return integer < double(form.high) ? int64_t(integer) : form.high;
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
  Tensor table(ElementType::kI8, {256});
  for (int64_t q = -128; q <= 127; ++q) {
    table.set_integer(q + 128, rounded(function->function(dequantize_number(q, source.quantization)), form));
  }
  const ValueId t = builder.add_constant(node.name + "_table", std::move(table));
  const ValueId out = builder.add_value(form.name, ElementType::kI8, builder.graph().value(source.id).shape);
  builder.add_node(node, "QLookup", kTilewrightDomain, {source.id, t}, {out}, true);
  return out;
}

std::optional<ValueId> lower_lookup(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  if (const auto table = lower_function(builder, node, form)) return table;
  const bool known = element_function(builder.source(), node).has_value();
  return builder.refuse(node, known ? "its input is not quantised" : "this operator has no integer form");
}

}  // namespace tilewright
