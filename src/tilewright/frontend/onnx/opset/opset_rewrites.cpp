// Operators that the graph does not have, in terms of those it has. Formulas: the function bodies and
// reference definitions of the ONNX operator specification.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

// Short forms for one node being rewritten. Values that could not be emitted are kNoValue, and what is made
// from them as well: the failure has been reported.
class Rewriter {
 public:
  Rewriter(Node& node, NodeConversion& conversion) : node_(node), conversion_(conversion) {}

  ElementType type() const { return conversion_.type(x()); }
  Shape shape() const { return conversion_.shape(x()); }
  ValueId x() const { return node_.inputs[0]; }
  ValueId number(double value) { return conversion_.constant("number", scalar_of(type(), value)); }
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return conversion_.emit(op, std::move(inputs), std::move(attributes));
  }
  // The node becomes the last step.
  void finish(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    node_.op = op;
    node_.inputs = std::move(inputs);
    node_.attributes = std::move(attributes);
  }
  void reshape_to(ValueId value, const Shape& shape) {
    finish("Reshape", {value, conversion_.constant("shape", int64_list(shape.dims()))});
  }

 private:
  Node& node_;
  NodeConversion& conversion_;
};

Shape without_axes(const Shape& shape, const std::vector<bool>& removed) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!removed[size_t(axis)]) dims.push_back(shape[axis]);
  }
  return Shape(std::move(dims));
}

}  // namespace

void rewrite_cast_like(Node& node, NodeConversion& conversion) {
  if (!node.has_input(1)) return conversion.invalid("has no second input");
  const ElementType type = conversion.type(node.inputs[1]);
  if (!has_onnx_type(type)) return conversion.unsupported(fmt::format("casts to {}", name(type)));
  Rewriter(node, conversion).finish("Cast", {node.inputs[0]}, {{"to", int64_t(onnx_storage_type(type))}});
}

// x / 2 * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) in place of the error
// function.
void rewrite_gelu(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const std::string approximation = node.string_or("approximate", "none");
  ValueId inner = kNoValue;
  if (approximation == "none") {
    inner = r.emit("Erf", {r.emit("Mul", {r.x(), r.number(std::sqrt(0.5))})});
  } else if (approximation == "tanh") {
    const ValueId square = r.emit("Mul", {r.x(), r.x()});
    const ValueId sum = r.emit("Add", {r.emit("Mul", {square, r.number(0.044715)}), r.number(1.0)});
    const ValueId scaled = r.emit("Mul", {r.emit("Mul", {sum, r.x()}), r.number(std::sqrt(2.0 / M_PI))});
    inner = r.emit("Tanh", {scaled});
  } else {
    return conversion.unsupported(fmt::format("approximates by '{}'", approximation));
  }
  r.finish("Mul", {r.emit("Mul", {r.x(), r.number(0.5)}), r.emit("Add", {inner, r.number(1.0)})});
}

// x * tanh(softplus(x)).
void rewrite_mish(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  r.finish("Mul", {r.x(), r.emit("Tanh", {r.emit("Softplus", {r.x()})})});
}

// alpha * elu(x / alpha).
void rewrite_celu(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const double alpha = double(node.float_or("alpha", 1.0f));
  if (alpha == 0) return conversion.invalid("attribute 'alpha' is 0");
  r.finish("Mul", {r.emit("Elu", {r.emit("Div", {r.x(), r.number(alpha)})}), r.number(alpha)});
}

// x - bias above lambd, x + bias below -lambd, 0 between. Integers are compared as real numbers, since the
// bounds are, and what results is cut off.
void rewrite_shrink(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const double bias = double(node.float_or("bias", 0.0f)), lambda = double(node.float_or("lambd", 0.5f));
  const ElementType type = r.type(), real = is_float(type) ? type : ElementType::kF64;
  const auto cast_to = [](ElementType to) { return Attributes{{"to", int64_t{onnx_storage_type(to)}}}; };
  const auto number = [&](double value) { return conversion.constant("number", scalar_of(real, value)); };
  const ValueId x = type == real ? r.x() : r.emit("Cast", {r.x()}, cast_to(real));
  const ValueId below = r.emit("Less", {x, number(-lambda)});
  const ValueId above = r.emit("Greater", {x, number(lambda)});
  const ValueId raised = r.emit("Where", {below, r.emit("Add", {x, number(bias)}), number(0)});
  const ValueId lowered = r.emit("Sub", {x, number(bias)});
  if (type == real) return r.finish("Where", {above, lowered, raised});
  r.finish("Cast", {r.emit("Where", {above, lowered, raised})}, cast_to(type));
}

void rewrite_is_nan(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  r.finish("Not", {r.emit("Equal", {r.x(), r.x()})});
}

void rewrite_is_inf(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const bool negative = node.int_or("detect_negative", 1) != 0,
             positive = node.int_or("detect_positive", 1) != 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive) return r.finish("Equal", {r.emit("Abs", {r.x()}), r.number(infinity)});
  if (positive) return r.finish("Equal", {r.x(), r.number(infinity)});
  if (negative) return r.finish("Equal", {r.x(), r.number(-infinity)});
  // Neither: false for every element, NaN included.
  const ValueId same = r.emit("Equal", {r.x(), r.x()});
  r.finish("And", {same, r.emit("Not", {same})});
}

// 1 at the first largest element along the axis, 0 elsewhere.
void rewrite_hardmax(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const int axis = normalize_axis(node.int_or("axis", -1), r.shape().rank());
  const ValueId index = r.emit("ArgMax", {r.x()}, {{"axis", int64_t(axis)}, {"keepdims", int64_t{0}}});
  Tensor values(r.type(), Shape{2});
  values.set_number(1, 1.0);
  r.finish("OneHot",
           {index, conversion.constant("depth", Tensor::scalar(r.shape()[axis])),
            conversion.constant("values", std::move(values))},
           {{"axis", int64_t(axis)}});
}

// log(sum(x)), and max + log(sum(exp(x - max))), which does not overflow.
void rewrite_reduce_log_sum(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const int rank = r.shape().rank();
  const auto axes = checked_axes(conversion, node.ints_or("axes", {}), rank);
  if (!axes) return;
  const bool keeps = node.int_or("keepdims", 1) != 0;
  std::vector<bool> reduced(size_t(rank), axes->empty());
  for (const int axis : *axes) reduced[size_t(axis)] = true;
  std::vector<int64_t> all;
  for (int axis = 0; axis < rank; ++axis) {
    if (reduced[size_t(axis)]) all.push_back(axis);
  }
  if (all.empty()) return r.finish(node.op == "ReduceLogSum" ? "Log" : "Identity", {r.x()});
  const Shape result = keeps ? Shape{} : without_axes(r.shape(), reduced);
  const ValueId axes_input = conversion.constant("axes", int64_list(all));
  const auto sum_of = [&](ValueId value) {
    return r.emit("ReduceSum", {value, axes_input}, {{"keepdims", int64_t{1}}});
  };
  if (node.op == "ReduceLogSum") {
    if (keeps) return r.finish("Log", {sum_of(r.x())});
    return r.reshape_to(r.emit("Log", {sum_of(r.x())}), result);
  }
  const ValueId largest = r.emit("ReduceMax", {r.x()}, {{"axes", all}, {"keepdims", int64_t{1}}});
  const ValueId sum = sum_of(r.emit("Exp", {r.emit("Sub", {r.x(), largest})}));
  if (keeps) return r.finish("Add", {largest, r.emit("Log", {sum})});
  r.reshape_to(r.emit("Add", {largest, r.emit("Log", {sum})}), result);
}

// (x - mean) / (sqrt(variance) + 1e-9) over the axes, {0, 2, 3} unless stated.
void rewrite_mean_variance_normalization(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const Attributes over = {{"axes", node.ints_or("axes", {0, 2, 3})}, {"keepdims", int64_t{1}}};
  const ValueId centred = r.emit("Sub", {r.x(), r.emit("ReduceMean", {r.x()}, over)});
  const ValueId variance = r.emit("ReduceMean", {r.emit("Mul", {centred, centred})}, over);
  r.finish("Div", {centred, r.emit("Add", {r.emit("Sqrt", {variance}), r.number(1e-9)})});
}

// Instance normalisation of [N, groups, rest], then scale and bias: per group in opset 18, per channel in 21.
void rewrite_group_normalization(Node& node, NodeConversion& conversion) {
  Rewriter r(node, conversion);
  const Shape shape = r.shape();
  const int64_t groups = node.int_or("num_groups", 0);
  if (shape.rank() < 3 || groups < 1 || shape[1] % groups != 0 || !node.has_input(1) || !node.has_input(2)) {
    return conversion.invalid(fmt::format("needs channels that {} groups divide, a scale and a bias; has {}",
                                          groups, to_string(shape)));
  }
  const bool per_group = conversion.opset() < 21;
  const int64_t wanted = per_group ? groups : shape[1];
  for (const int input : {1, 2}) {
    const int64_t given = conversion.shape(node.inputs[size_t(input)]).element_count();
    if (given == wanted) continue;
    return conversion.invalid(fmt::format("has {} numbers as {}; needs {}, one per {} in opset {}", given,
                                          input == 1 ? "scale" : "bias", wanted,
                                          per_group ? "group" : "channel", conversion.opset()));
  }
  Tensor ones(r.type(), Shape{groups}), zeros(r.type(), Shape{groups});
  for (int64_t i = 0; i < groups; ++i) ones.set_number(i, 1.0);
  const ValueId grouped =
      r.emit("Reshape", {r.x(), conversion.constant("groups", int64_list({shape[0], groups, -1}))});
  const ValueId normal =
      r.emit("InstanceNormalization",
             {grouped, conversion.constant("one", ones), conversion.constant("zero", zeros)},
             {{"epsilon", node.float_or("epsilon", 1e-5f)}});
  if (per_group) {
    const Shape column{groups, 1};
    const ValueId scaled = r.emit("Mul", {normal, reshaped(conversion, node.inputs[1], column)});
    const ValueId shifted = r.emit("Add", {scaled, reshaped(conversion, node.inputs[2], column)});
    return r.reshape_to(shifted, shape);
  }
  std::vector<int64_t> per_channel(size_t(shape.rank() - 1), 1);
  per_channel[0] = shape[1];
  const ValueId restored =
      r.emit("Reshape", {normal, conversion.constant("shape", int64_list(shape.dims()))});
  const ValueId scaled = r.emit("Mul", {restored, reshaped(conversion, node.inputs[1], Shape(per_channel))});
  r.finish("Add", {scaled, reshaped(conversion, node.inputs[2], Shape(per_channel))});
}

}  // namespace tilewright
