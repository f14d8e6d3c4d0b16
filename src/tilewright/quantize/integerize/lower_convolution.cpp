// Conv, ConvTranspose and QLinearConv to QConv and QConvTranspose.
#include <fmt/format.h>

#include <memory>

#include "tilewright/graph/window.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/quantize/integerize/mac_parameters.h"
#include "tilewright/quantize/integerize/signs.h"

namespace tilewright {
namespace {

constexpr const char* kSpatialAxes = "only one or two spatial axes have an integer form";

struct Operands {
  const Twin* x = nullptr;
  const QuantizedConstant* weights = nullptr;
  std::shared_ptr<const QuantizedConstant> ternary;  // where the weights were found to be that
  MacOperands mac;
};

// The activation and the weights of a float operator; the bias, if any, goes to `mac`.
std::optional<Operands> float_operands(IntegerBuilder& builder, const Node& node) {
  Operands operands;
  operands.x = builder.twin(node.input(0));
  if (!operands.x) return builder.refuse(node, "its input is not quantised");
  operands.weights = builder.quantized_constant(node.input(1));
  const Tensor* real = builder.source().constant_input(node, 1);
  if (!operands.weights && real != nullptr && node.is("Conv") && is_narrow(*operands.x)) {
    if (auto ternary = ternary_constant(*real, 0)) {
      operands.ternary = std::make_shared<QuantizedConstant>(std::move(*ternary));
      operands.weights = operands.ternary.get();
    }
  }
  if (!operands.weights) return builder.refuse(node, "its weights are not a quantised constant");
  if (!node.has_input(2)) return operands;
  operands.mac.integer_bias = builder.quantized_constant(node.input(2));
  if (operands.mac.integer_bias) return operands;
  const Tensor* bias = builder.source().constant_input(node, 2);
  if (!bias) return builder.refuse(node, "its bias is not constant");
  for (int64_t o = 0; o < bias->size(); ++o) operands.mac.real_bias.push_back(bias->number_at(o));
  return operands;
}

// `product` outlives them.
Operands stored_operands(const StoredProduct& product) {
  Operands operands;
  operands.x = product.stored;
  operands.weights = &product.weights;
  operands.mac.x = product.x;
  return operands;
}

bool add_extra_bias(std::vector<double>& bias, const std::vector<double>& extra, int64_t channels) {
  if (extra.empty()) return true;
  if (int64_t(extra.size()) != channels && extra.size() != 1) return false;
  bias.resize(size_t(channels), bias.size() == 1 ? bias[0] : 0.0);
  for (size_t o = 0; o < bias.size(); ++o) bias[o] += extra[extra.size() == 1 ? 0 : o];
  return true;
}

// What a window of one axis says of each axis, with `row` for a height of 1 before it.
std::vector<int64_t> with_rows(std::vector<int64_t> columns, int64_t row) {
  columns.insert(columns.begin() + long(columns.size() / 2), row);
  columns.insert(columns.begin(), row);
  return columns;
}

// The operator itself, once activation, weights and bias are known; `attributes` beside those of all. One
// spatial axis is an image of one row.
std::optional<ValueId> emit(IntegerBuilder& builder, const Node& node, const char* op,
                            const Operands& operands, const Window& window, const IntegerForm& form,
                            Attributes attributes = {}) {
  MacParameters parameters = prepare_mac(operands.mac);
  if (!parameters.problem.empty()) return builder.refuse(node, parameters.problem);
  const bool rows = window.rank() == 1;
  ValueId x = operands.x->id;
  Shape shape = builder.source().value(node.outputs[0]).shape;
  if (rows) {
    const Shape w = parameters.weights.shape(), from = builder.graph().value(x).shape;
    parameters.weights = parameters.weights.reshaped({w[0], w[1], 1, w[2]});
    x = builder.reshaped(node, x, form.name + "_row", {from[0], from[1], 1, from[2]});
    shape = {shape[0], shape[1], 1, shape[2]};
  }
  const ValueId w = builder.add_constant(node.name + "_weights", parameters.weights);
  const ValueId b = builder.add_constant(node.name + "_bias", parameters.bias);
  const ValueId m = builder.add_constant(node.name + "_multiplier", parameters.multiplier);
  const ValueId s = builder.add_constant(node.name + "_shift", parameters.shift);
  const ValueId out = builder.add_value(rows ? form.name + "_rows" : form.name, form.type, shape);
  Node& lowered = builder.add_node(node, op, kTilewrightDomain, {x, w, b, m, s}, {out}, true);
  lowered.attributes = std::move(attributes);
  std::vector<int64_t> strides, dilations;
  for (const WindowAxis& axis : window.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
  }
  if (rows) {
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
  }
  lowered.attributes["strides"] = strides;
  lowered.attributes["dilations"] = dilations;
  lowered.attributes["pads"] = rows ? with_rows(window.pads(), 0) : window.pads();
  lowered.attributes["group"] = node.int_or("group", 1);
  set_output_form(lowered, form);
  if (lowered.op == "QConv" && window.has_padding() && operands.mac.x.zero_point != 0) {
    lowered.attributes["pad_value"] = int64_t(operands.mac.x.zero_point);
  }
  return builder.reshaped(node, out, form.name, builder.source().value(node.outputs[0]).shape);
}

std::optional<ValueId> convolution(IntegerBuilder& builder, const Node& node, Operands operands,
                                   const Shape& x, const IntegerForm& form) {
  const QuantizedConstant& weights = *operands.weights;
  const Shape& shape = weights.integers.shape();
  if (shape.rank() < 3 || shape.rank() > 4) return builder.refuse(node, kSpatialAxes);
  if (!weights.per_tensor() && weights.axis != 0) {
    return builder.refuse(node, "the weight scales do not run along the output channels");
  }
  operands.mac.weights = &weights;
  operands.mac.layout = {1, shape[0], shape.count(1, shape.rank())};
  operands.mac.x_type = builder.type_of(*operands.x);
  set_result(operands.mac, builder, form);
  return emit(builder, node, "QConv", operands, convolution_window(node, x, shape), form);
}

}  // namespace

std::optional<ValueId> lower_convolution(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                         const std::vector<double>& extra) {
  auto operands = float_operands(builder, node);
  if (!operands) return std::nullopt;
  operands->mac.x = operands->x->quantization;
  if (!add_extra_bias(operands->mac.real_bias, extra, builder.source().value(node.outputs[0]).shape[1])) {
    return builder.refuse(node, "the addition after it is not one number per channel");
  }
  return convolution(builder, node, *operands, builder.source().value(node.input(0)).shape, form);
}

std::optional<ValueId> lower_transposed_convolution(IntegerBuilder& builder, const Node& node,
                                                    const IntegerForm& form,
                                                    const std::vector<double>& extra) {
  auto operands = float_operands(builder, node);
  if (!operands) return std::nullopt;
  const QuantizedConstant& weights = *operands->weights;
  const Shape& shape = weights.integers.shape();
  if (shape.rank() < 3 || shape.rank() > 4) return builder.refuse(node, kSpatialAxes);
  if (!weights.per_tensor() && weights.axis != 1) {
    return builder.refuse(node, "the weight scales do not run along the output channels");
  }
  if (operands->x->quantization.zero_point != 0) {
    return builder.refuse(node, fmt::format("its input has the zero point {}; only 0 has an integer form",
                                            operands->x->quantization.zero_point));
  }
  const int64_t groups = node.int_or("group", 1);
  operands->mac.x = operands->x->quantization;
  operands->mac.x_type = builder.type_of(*operands->x);
  set_result(operands->mac, builder, form);
  operands->mac.weights = &weights;
  operands->mac.layout = {groups, shape[1], shape.count(2, shape.rank())};
  if (!add_extra_bias(operands->mac.real_bias, extra, operands->mac.layout.channels())) {
    return builder.refuse(node, "the addition after it is not one number per channel");
  }
  const Shape& x = builder.source().value(node.input(0)).shape;
  const Window window = transposed_window(node, x, shape);
  // What the window's output exceeds the shortest one by.
  std::vector<int64_t> output_padding(window.rank() == 1 ? 1 : 0, 0);
  for (const WindowAxis& axis : window.axes) {
    output_padding.push_back(axis.output - ((axis.input - 1) * axis.stride + axis.effective_kernel() -
                                            axis.pad_begin - axis.pad_end));
  }
  return emit(builder, node, "QConvTranspose", *operands, window, form, {{"output_padding", output_padding}});
}

std::optional<ValueId> lower_qlinear_convolution(IntegerBuilder& builder, const Node& node) {
  const Graph& source = builder.source();
  const auto given = qlinear_product(builder, node, 0);
  if (!given) return std::nullopt;
  const auto& [product, form] = *given;
  Operands operands = stored_operands(product);
  QuantizedConstant bias;
  if (node.has_input(8)) {
    const Tensor* b = source.constant_input(node, 8);
    if (!b) return builder.refuse(node, "its bias is not constant");
    // By definition in units of x_scale * w_scale.
    bias.integers = *b;
    for (int64_t o = 0; o < b->size(); ++o) {
      bias.scales.push_back(float(double(product.x.scale) * product.weights.scale(o)));
      bias.zero_points.push_back(0);
    }
    operands.mac.integer_bias = &bias;
  }
  return convolution(builder, node, operands, source.value(node.input(0)).shape, form);
}

std::optional<ValueId> lower_integer_convolution(IntegerBuilder& builder, const Node& node,
                                                 const std::vector<double>& scales, const IntegerForm& form,
                                                 const std::vector<double>& extra) {
  const Graph& source = builder.source();
  const auto product = integer_product(builder, node, scales, 0);
  if (!product) return std::nullopt;
  Operands operands = stored_operands(*product);
  if (!add_extra_bias(operands.mac.real_bias, extra, source.value(node.outputs[0]).shape[1])) {
    return builder.refuse(node, "the addition after it is not one number per channel");
  }
  return convolution(builder, node, operands, source.value(node.input(0)).shape, form);
}

}  // namespace tilewright
