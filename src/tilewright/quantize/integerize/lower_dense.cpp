// Gemm, MatMul and QLinearMatMul with constant weights to QGemm.
#include <fmt/format.h>

#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/quantize/integerize/mac_parameters.h"
#include "tilewright/quantize/integerize/signs.h"

namespace tilewright {
namespace {

QuantizedConstant transposed(const QuantizedConstant& weights) {
  QuantizedConstant result = weights;
  const int64_t rows = weights.integers.shape()[0], columns = weights.integers.shape()[1];
  result.integers = Tensor(weights.integers.type(), Shape{columns, rows});
  result.axis = 1 - weights.axis;
  if (bit_width(weights.integers.type()) == 8) {
    const auto from = weights.integers.bytes();
    const auto to = result.integers.mutable_bytes();
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) to[size_t(c * rows + r)] = from[size_t(r * columns + c)];
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        result.integers.set_integer(c * rows + r, weights.integers.integer_at(r * columns + c));
      }
    }
  }
  return result;
}

struct Dense {
  ValueId x = kNoValue;  // i8 or i16, any rank for MatMul
  bool transpose_x = false;
  bool transpose_weights = true;  // they are [K, O]
  MacOperands mac;                // weights and layout are filled in
};

std::optional<ValueId> emit_dense(IntegerBuilder& builder, const Node& node, Dense dense,
                                  const QuantizedConstant& given_weights, const IntegerForm& form) {
  if (given_weights.integers.shape().rank() != 2) {
    return builder.refuse(node, "only weights of rank 2 have an integer form");
  }
  const QuantizedConstant weights = dense.transpose_weights ? transposed(given_weights) : given_weights;
  if (!weights.per_tensor() && weights.axis != 0) {
    return builder.refuse(node, "the weight scales do not run along the output features");
  }
  const int64_t outputs = weights.integers.shape()[0], depth = weights.integers.shape()[1];
  dense.mac.weights = &weights;
  dense.mac.layout = {1, outputs, depth};
  dense.mac.x_type = builder.graph().value(dense.x).type;
  set_result(dense.mac, builder, form);
  dense.mac.is_dense = true;
  const MacParameters parameters = prepare_mac(dense.mac);
  if (!parameters.problem.empty()) return builder.refuse(node, parameters.problem);

  const Shape x_shape = builder.graph().value(dense.x).shape;
  const Shape y_shape = builder.source().value(node.outputs[0]).shape;
  if (x_shape.rank() < 1) return builder.refuse(node, "its input is a scalar");
  if (dense.transpose_x) {
    const ValueId turned =
        builder.add_value(form.name + "_transposed", dense.mac.x_type, Shape{x_shape[1], x_shape[0]});
    builder.add_node(node, "Transpose", "", {dense.x}, {turned}, true).attributes["perm"] =
        std::vector<int64_t>{1, 0};
    dense.x = turned;
  }
  const int64_t rows = builder.graph().value(dense.x).shape.element_count() / std::max<int64_t>(depth, 1);
  const auto reshape = [&](ValueId from, const Shape& to, const std::string& name) {
    if (builder.graph().value(from).shape == to) return from;
    const ValueId target =
        builder.add_constant(name + "_shape", Tensor(Shape{to.rank()}, std::span<const int64_t>(to.dims())));
    const ValueId reshaped = builder.add_value(name, builder.graph().value(from).type, to);
    builder.add_node(node, "Reshape", "", {from, target}, {reshaped}, true);
    return reshaped;
  };
  const ValueId x = reshape(dense.x, Shape{rows, depth}, form.name + "_rows");
  const ValueId w = builder.add_constant(node.name + "_weights", parameters.weights);
  const ValueId b = builder.add_constant(node.name + "_bias", parameters.bias);
  const ValueId m = builder.add_constant(node.name + "_multiplier", parameters.multiplier);
  const ValueId s = builder.add_constant(node.name + "_shift", parameters.shift);
  const Shape flat{rows, outputs};
  const std::string name = flat == y_shape ? form.name : form.name + "_flat";
  const ValueId out = builder.add_value(name, form.type, flat);
  set_output_form(builder.add_node(node, "QGemm", kTilewrightDomain, {x, w, b, m, s}, {out}, true), form);
  return reshape(out, y_shape, form.name);
}

}  // namespace

std::optional<ValueId> lower_dense(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                   const std::vector<double>& extra) {
  const Graph& source = builder.source();
  const Twin* x = builder.twin(node.input(0));
  const QuantizedConstant* weights = builder.quantized_constant(node.input(1));
  if (!weights && !source.is_constant(node.input(1))) {
    return builder.refuse(node, "both factors are computed, and it adds a bias");
  }
  if (!x) return builder.refuse(node, "its input is not quantised");
  std::optional<QuantizedConstant> ternary;
  if (!weights && is_narrow(*x)) {
    const bool transposed_weights = node.is("Gemm") && node.int_or("transB", 0) != 0;
    ternary = ternary_constant(*source.value(node.input(1)).constant, transposed_weights ? 0 : 1);
    if (ternary) weights = &*ternary;
  }
  if (!weights) return builder.refuse(node, "its weights are not a quantised constant");
  Dense dense;
  dense.x = x->id;
  dense.mac.x = x->quantization;
  const Shape& y = source.value(node.outputs[0]).shape;
  if (node.is("Gemm")) {
    dense.transpose_x = node.int_or("transA", 0) != 0;
    dense.transpose_weights = node.int_or("transB", 0) == 0;
    dense.mac.alpha = node.float_or("alpha", 1);
    dense.mac.beta = node.float_or("beta", 1);
    if (node.has_input(2)) {
      if (!varies_by_column_only(source.value(node.input(2)).shape, y[y.rank() - 1])) {
        return builder.refuse(node, "its bias is not one number per output feature");
      }
      dense.mac.integer_bias = builder.quantized_constant(node.input(2));
      const Tensor* bias = source.constant_input(node, 2);
      if (!dense.mac.integer_bias && !bias) return builder.refuse(node, "its bias is not constant");
      for (int64_t o = 0; !dense.mac.integer_bias && o < bias->size(); ++o) {
        dense.mac.real_bias.push_back(bias->number_at(o) * dense.mac.beta);
      }
    }
  }
  if (!extra.empty()) {
    std::vector<double>& bias = dense.mac.real_bias;
    if (bias.size() < extra.size()) bias.resize(extra.size(), bias.empty() ? 0.0 : bias[0]);
    if (extra.size() != 1 && extra.size() != bias.size()) {
      return builder.refuse(node, "the addition after it is not one number per output feature");
    }
    for (size_t o = 0; o < bias.size(); ++o) bias[o] += extra[extra.size() == 1 ? 0 : o];
  }
  return emit_dense(builder, node, dense, *weights, form);
}

std::optional<ValueId> lower_qlinear_matmul(IntegerBuilder& builder, const Node& node) {
  const auto given = qlinear_product(builder, node, 1);
  if (!given) return std::nullopt;
  Dense dense;
  dense.x = given->product.stored->id;
  dense.mac.x = given->product.x;
  return emit_dense(builder, node, dense, given->product.weights, given->form);
}

std::optional<ValueId> lower_integer_matmul(IntegerBuilder& builder, const Node& node,
                                            const std::vector<double>& scales, const IntegerForm& form,
                                            const std::vector<double>& extra) {
  const auto product = integer_product(builder, node, scales, 1);
  if (!product) return std::nullopt;
  Dense dense;
  dense.x = product->stored->id;
  dense.mac.x = product->x;
  dense.mac.real_bias = extra;
  return emit_dense(builder, node, dense, product->weights, form);
}

}  // namespace tilewright
