// QuantizeLinear and DequantizeLinear of opsets 19 to 23: types by attribute, scales per block.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

std::optional<ElementType> type_of_number(int64_t number) {
  return number < 0 || number > 1000 ? std::nullopt : element_type_from_onnx(int(number));
}

std::string name_of_number(int64_t number) {
  return onnx_type_name(number < 0 || number > 1000 ? -1 : int(number));
}

int64_t taken(Node& node, const std::string& attribute) {
  const int64_t number = node.int_or(attribute, 0);
  node.attributes.erase(attribute);
  return number;
}

// (x - zero point) * scale, where `block` neighbours along an axis share both: integers become real numbers
// by a DequantizeLinear of scale 1, since not all of them have other operators.
ValueId dequantized_by_blocks(Node& node, NodeConversion& conversion, int64_t block) {
  constexpr int64_t kLargestBlock = int64_t{1} << 40;
  Steps s(conversion);
  const Shape x = s.shape(node.input(0)), scale = s.shape(node.input(1));
  const int axis = normalize_axis(node.int_or("axis", 1), x.rank());
  bool fits = block > 0 && block <= kLargestBlock && scale.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = scale[i] == (i == axis ? (x[i] + block - 1) / block : x[i]);
  }
  if (!fits || (node.has_input(2) && s.shape(node.input(2)) != scale)) {
    conversion.error(ErrorKind::kInvalidInput,
                     fmt::format("its scales {} do not fit blocks of {} of {} along axis {}",
                                 to_string(scale), block, to_string(x), axis),
                     "give it a scale and a zero point for every block");
    return kNoValue;
  }
  std::vector<int64_t> blocks(static_cast<size_t>(x[axis]));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = int64_t(i) / block;
  const ValueId one = s.number_like(node.input(1), 1);
  const auto spread = [&](ValueId value) {
    return s.op("Gather", {value, s.integers(blocks)}, {{"axis", int64_t(axis)}});
  };
  ValueId y = s.op("DequantizeLinear", {node.input(0), one});
  if (node.has_input(2)) y = s.op("Sub", {y, spread(s.op("DequantizeLinear", {node.input(2), one}))});
  return s.op("Mul", {y, spread(node.input(1))});
}

}  // namespace

void convert_quantize(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 19) return;
  node.attributes.erase("saturate");
  if (taken(node, "block_size") != 0) return conversion.unsupported("is blocked (block_size)");
  const int64_t precision = taken(node, "precision"), number = taken(node, "output_dtype");
  if (precision != 0 && node.has_input(1) && type_of_number(precision) != conversion.type(node.input(1))) {
    return conversion.unsupported(fmt::format("divides in {}", name_of_number(precision)),
                                  "give its scale that type, or leave out the attribute 'precision'");
  }
  if (number == 0 || node.has_input(2) || !node.has_input(1)) return;
  const auto type = type_of_number(number);
  if (!type || !is_integer(*type))
    return conversion.unsupported(fmt::format("quantises to {}", name_of_number(number)));
  input_slot(node, 2) = conversion.constant("zero_point", Tensor(*type, conversion.shape(node.inputs[1])));
}

void convert_dequantize(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 19) return;
  const int64_t block = taken(node, "block_size"), number = taken(node, "output_dtype");
  if (!node.has_input(1) || (block == 0 && number == 0)) return;
  const auto type = number == 0 ? std::optional(conversion.type(node.input(1))) : type_of_number(number);
  if (!type || !is_float(*type)) {
    return conversion.unsupported(fmt::format("dequantises to {}", name_of_number(number)),
                                  "let it give f32 or half precision");
  }
  if (block == 0 && *type == conversion.type(node.input(1))) return;
  Steps s(conversion);
  const ValueId y = block != 0 ? dequantized_by_blocks(node, conversion, block)
                               : s.op("DequantizeLinear", node.inputs, node.attributes);
  conversion.define(node.outputs[0], s.cast(y, *type));
  node.outputs.clear();
}

}  // namespace tilewright
