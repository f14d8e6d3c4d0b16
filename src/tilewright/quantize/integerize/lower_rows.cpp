// What transformers compute: products of two activations, softmax, norms and rotary embedding along the last
// axis (docs/reference/arithmetic.md, "Transformers").
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/quantize/integerize/element_function.h"
#include "tilewright/quantize/integerize/lower_operators.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright {
namespace {

// The largest distance from its zero point that a twin's value has.
int64_t reach(const Twin& twin) {
  const int64_t zero = twin.quantization.zero_point;
  return std::max(std::abs(twin.low - zero), std::abs(twin.high - zero));
}

bool is_encodable(double scale) { return std::isfinite(scale) && scale > 0 && scale < 0x1p31; }

// Whether the node works along the last axis of its input alone.
bool along_last_axis(const Graph& graph, const Node& node) {
  const int rank = graph.value(node.input(0)).shape.rank();
  const int64_t axis = node.int_or("axis", -1);
  return rank >= 1 && (axis == -1 || axis == rank - 1);
}

// Enough below the other scores for e^x to be nothing beside one step of 8 bits.
constexpr double kHiddenScore = -16;

// The tokens of a mask [..., tokens, tokens], the same for all leading axes; 0 when it is not causal.
int64_t causal_tokens(const Tensor& mask, const Shape& scores) {
  const int rank = mask.shape().rank();
  if (rank < 2 || rank > scores.rank() || mask.type() != ElementType::kF32) return 0;
  const int64_t tokens = mask.shape()[rank - 1];
  if (tokens < 2 || mask.size() == 0 || mask.shape()[rank - 2] != tokens ||
      scores[scores.rank() - 1] != tokens || scores[scores.rank() - 2] != tokens)
    return 0;
  const auto values = mask.data<float>();
  for (int64_t i = 0; i < mask.size(); ++i) {
    const bool hides = i % tokens > i / tokens % tokens;
    const float value = values[size_t(i)];
    if (hides ? !(double(value) <= kHiddenScore) : value != 0) return 0;
  }
  return tokens;
}

// Constants of at most 1 in size, such as cosines, in steps of 1/127; larger ones in as many steps.
double table_scale(const Tensor& cosines, const Tensor& sines) {
  double largest = 1;
  for (const Tensor* table : {&cosines, &sines})
    for (int64_t i = 0; i < table->size(); ++i) largest = std::max(largest, std::abs(table->number_at(i)));
  return largest / 127;
}

Tensor quantized_table(const Tensor& table, double scale) {
  Tensor integers(ElementType::kI8, table.shape());
  for (int64_t i = 0; i < table.size(); ++i)
    integers.set_integer(i, std::clamp<int64_t>(std::llround(table.number_at(i) / scale), -127, 127));
  return integers;
}

ValueId exchanged(IntegerBuilder& builder, const Node& node, ValueId x, const std::string& name) {
  const Shape shape = builder.graph().value(x).shape;
  const ValueId y = builder.add_value(name, builder.graph().value(x).type, Shape{shape[1], shape[0]});
  builder.add_node(node, "Transpose", "", {x}, {y}, true).attributes["perm"] = std::vector<int64_t>{1, 0};
  return y;
}

}  // namespace

bool multiplies_computed(const Graph& graph, const Node& node) {
  if (!node.is("Gemm") && !node.is("MatMul")) return false;
  const auto computed = [&](int i) { return node.has_input(i) && !graph.is_constant(node.input(i)); };
  return computed(0) && computed(1) && !node.has_input(2);
}

std::optional<ScaledProduct> product_times_number(const Graph& graph, const std::vector<NodeId>& producers,
                                                  const Node& scaling) {
  const bool divides = scaling.is("Div");
  if ((!scaling.is("Mul") && !divides) || scaling.inputs.size() != 2) return std::nullopt;
  for (const int i : {0, 1}) {
    if (divides && i == 1) break;
    const std::optional<double> number = constant_number(graph, scaling.input(1 - i));
    const NodeId producer = producers[size_t(scaling.input(i))];
    if (!number || !(*number > 0) || producer == kNoNode) continue;
    const Node& product = graph.nodes[size_t(producer)];
    if (multiplies_computed(graph, product) &&
        graph.value(scaling.outputs[0]).shape == graph.value(product.outputs[0]).shape) {
      return ScaledProduct{&product, divides ? 1 / *number : *number};
    }
  }
  return std::nullopt;
}

std::optional<ValueId> lower_product(IntegerBuilder& builder, const Node& node, const IntegerForm& form,
                                     double factor) {
  const Twin *a = builder.twin(node.input(0)), *b = builder.twin(node.input(1));
  // The weights of a model may come through DequantizeLinear: a dense layer.
  if (builder.quantized_constant(node.input(1)) != nullptr) return lower_dense(builder, node, form);
  for (const int i : {0, 1}) {
    if ((i == 0 ? a : b) == nullptr)
      return builder.refuse(node, fmt::format("its input {} is not quantised", i));
  }
  if (form.bipolar) return builder.refuse(node, "its sign has no integer form");
  const Twin left = *a, right = *b;
  ValueId x = left.id, w = right.id;
  bool turned = false;
  if (node.is("Gemm")) {
    factor *= node.float_or("alpha", 1);
    if (node.int_or("transA", 0) != 0) x = exchanged(builder, node, x, form.name + "_transposed");
    turned = node.int_or("transB", 0) != 0;
  }
  const Shape x_shape = builder.graph().value(x).shape, w_shape = builder.graph().value(w).shape;
  const int rank = x_shape.rank();
  if (rank < 2 || w_shape.rank() != rank || !std::equal(x_shape.begin(), x_shape.end() - 2, w_shape.begin()))
    return builder.refuse(node, "a product of matrices whose batch axes broadcast has no integer form");
  const int64_t depth = x_shape[rank - 1];
  if (depth * reach(left) * reach(right) > INT32_MAX)
    return builder.refuse(node, fmt::format("sums of {} products leave 32 bits", depth));
  const double scale = double(left.quantization.scale) * double(right.quantization.scale) * factor /
                       double(form.quantization.scale);
  if (!is_encodable(scale))
    return builder.refuse(node,
                          fmt::format("the ratio {} of input to output scale cannot be encoded", scale));
  const Requantization r = encode_scale(scale);
  const ValueId y = builder.add_value(form.name, form.type, builder.source().value(node.outputs[0]).shape);
  Node& lowered = builder.add_node(node, "QMatMul", kTilewrightDomain, {x, w}, {y}, true);
  if (left.quantization.zero_point != 0)
    lowered.attributes["a_zero_point"] = int64_t(left.quantization.zero_point);
  if (right.quantization.zero_point != 0)
    lowered.attributes["b_zero_point"] = int64_t(right.quantization.zero_point);
  if (turned) lowered.attributes["transpose_b"] = int64_t{1};
  lowered.attributes["multiplier"] = int64_t(r.multiplier);
  lowered.attributes["shift"] = int64_t(r.shift);
  set_output_form(lowered, form);
  return y;
}

std::optional<CausalScores> causal_scores(const Graph& graph, const std::vector<NodeId>& producers,
                                          const Node& softmax) {
  if (!softmax.is("Softmax") || !along_last_axis(graph, softmax)) return std::nullopt;
  const NodeId producer = producers[size_t(softmax.input(0))];
  if (producer == kNoNode || !graph.nodes[size_t(producer)].is("Add")) return std::nullopt;
  const Node& sum = graph.nodes[size_t(producer)];
  for (const int i : {0, 1}) {
    const Tensor* mask = graph.constant_input(sum, 1 - i);
    const ValueId scores = sum.input(i);
    if (mask == nullptr || graph.is_constant(scores)) continue;
    const Shape& shape = graph.value(scores).shape;
    const int64_t tokens = shape == graph.value(sum.outputs[0]).shape ? causal_tokens(*mask, shape) : 0;
    if (tokens > 0) return CausalScores{scores, tokens};
  }
  return std::nullopt;
}

std::optional<ValueId> lower_softmax(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  const auto causal = causal_scores(builder.source(), builder.producers(), node);
  const Twin* x = builder.twin(causal ? causal->scores : node.input(0));
  if (x == nullptr) return builder.refuse(node, "its input is not quantised");
  if (builder.type_of(*x) != ElementType::kI8)
    return builder.refuse(node, "a softmax of 16-bit values has no integer form");
  if (!along_last_axis(builder.source(), node))
    return builder.refuse(node, "a softmax along another axis than the last has no integer form");
  const Shape shape = builder.graph().value(x->id).shape;
  if (shape[shape.rank() - 1] > kLongestSoftmax)
    return builder.refuse(node, fmt::format("its rows are longer than {}", kLongestSoftmax));
  const double one = 1 / double(form.quantization.scale);
  if (!is_encodable(one) || one < 0x1p-20)
    return builder.refuse(node,
                          fmt::format("the output scale {} cannot be encoded", form.quantization.scale));
  const int64_t largest = std::min(kMostExponential, INT32_MAX / shape[shape.rank() - 1]);
  Tensor table(ElementType::kI32, Shape{256});
  for (int64_t d = 0; d < 256; ++d) {
    table.set_integer(d,
                      std::llround(double(largest) * std::exp(-double(x->quantization.scale) * double(d))));
  }
  // The inverse of the smallest sum, which is one exponential, has 31 bits.
  int shift = 0;
  while (shift < 62 && std::ldexp(one, shift + 1) < double(largest) * 0x1p31) ++shift;
  const ValueId source = x->id;
  const ValueId t = builder.add_constant(node.name + "_exponentials", std::move(table));
  const ValueId y = builder.add_value(form.name, form.type, shape);
  Node& lowered = builder.add_node(node, "QSoftmax", kTilewrightDomain, {source, t}, {y}, true);
  lowered.attributes["numerator"] = int64_t(std::llround(std::ldexp(one, shift)));
  lowered.attributes["shift"] = int64_t{shift};
  if (causal) lowered.attributes["causal"] = causal->tokens;
  set_output_form(lowered, form);
  return y;
}

std::optional<ValueId> lower_rotary(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  const Twin* found = builder.twin(node.input(0));
  if (found == nullptr) return builder.refuse(node, "its input is not quantised");
  const Twin x = *found;
  if (builder.type_of(x) != ElementType::kI8)
    return builder.refuse(node, "a rotary embedding of 16-bit values has no integer form");
  const Tensor *cosines = builder.source().constant_input(node, 1),
               *sines = builder.source().constant_input(node, 2);
  if (cosines == nullptr || sines == nullptr)
    return builder.refuse(node, "its cosines and sines are not constants");
  const double step = table_scale(*cosines, *sines),
               scale = double(x.quantization.scale) * step / double(form.quantization.scale);
  if (!is_encodable(scale))
    return builder.refuse(node,
                          fmt::format("the ratio {} of input to output scale cannot be encoded", scale));
  const ValueId c = builder.add_constant(node.name + "_cosines", quantized_table(*cosines, step)),
                s = builder.add_constant(node.name + "_sines", quantized_table(*sines, step));
  const ValueId y = builder.add_value(form.name, form.type, builder.graph().value(x.id).shape);
  Node& lowered = builder.add_node(node, "QRotary", kTilewrightDomain, {x.id, c, s}, {y}, true);
  const Requantization r = encode_scale(scale);
  if (x.quantization.zero_point != 0) lowered.attributes["x_zero_point"] = int64_t(x.quantization.zero_point);
  lowered.attributes["multiplier"] = int64_t(r.multiplier);
  lowered.attributes["shift"] = int64_t(r.shift);
  set_output_form(lowered, form);
  return y;
}

std::optional<ValueId> lower_norm(IntegerBuilder& builder, const Node& node, const IntegerForm& form) {
  const Twin* found = builder.twin(node.input(0));
  if (found == nullptr) return builder.refuse(node, "its input is not quantised");
  const Twin x = *found;
  const bool centers = node.is("LayerNormalization");
  if (!along_last_axis(builder.source(), node))
    return builder.refuse(node, "a normalisation of more than the last axis has no integer form");
  const Shape shape = builder.graph().value(x.id).shape;
  const int64_t channels = shape[shape.rank() - 1];
  const Tensor *gamma = builder.source().constant_input(node, 1),
               *beta = builder.source().constant_input(node, 2);
  if (gamma == nullptr || gamma->size() != channels ||
      (node.has_input(2) && (beta == nullptr || beta->size() != channels))) {
    return builder.refuse(node, "its factors and summands are not constants, one per channel");
  }
  const double step = x.quantization.scale;
  const int64_t zero = x.quantization.zero_point;
  // Small variances need bits below the unit of epsilon, large ones the bits above.
  const double most = double(x.high - x.low + 1) * double(channels);
  int fraction = 8;
  while (fraction > 0 && most * most * std::ldexp(1.0, 2 * fraction) > double(kMostEpsilon)) --fraction;
  const double epsilon =
      std::max(1.0, std::round(double(node.float_or("epsilon", 1e-5F)) *
                               std::pow(double(channels) / step, 2) * std::ldexp(1.0, 2 * fraction)));
  if (channels > kLongestNorm || !(epsilon <= double(kMostEpsilon)))
    return builder.refuse(node, fmt::format("its sums over {} channels leave 62 bits", channels));
  const double unit = std::ldexp(1.0, -kNormFraction);
  constexpr double kMostBias = 0x1p30;
  Tensor bias(ElementType::kI32, {channels}), multiplier(ElementType::kI32, {channels}),
      shift(ElementType::kI32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    const double factor = gamma->number_at(c) * unit;
    const double offset = beta == nullptr ? 0 : beta->number_at(c);
    const double scale = std::abs(factor) / double(form.quantization.scale);
    if (factor == 0 && offset == 0) {
      multiplier.set_integer(c, 0);
      continue;
    }
    if (!is_encodable(scale) || std::abs(offset / factor) > kMostBias) {
      return builder.refuse(
          node, fmt::format("the summand {} of channel {} is too large beside its factor {}", offset, c,
                            gamma->number_at(c)));
    }
    const Requantization r = encode_scale(scale);
    bias.set_integer(c, std::llround(offset / factor));
    multiplier.set_integer(c, factor < 0 ? -int64_t(r.multiplier) : r.multiplier);
    shift.set_integer(c, r.shift);
  }
  const ValueId b = builder.add_constant(node.name + "_bias", std::move(bias)),
                m = builder.add_constant(node.name + "_multiplier", std::move(multiplier)),
                s = builder.add_constant(node.name + "_shift", std::move(shift));
  const ValueId y = builder.add_value(form.name, form.type, shape);
  Node& lowered = builder.add_node(node, "QLayerNorm", kTilewrightDomain, {x.id, b, m, s}, {y}, true);
  if (zero != 0) lowered.attributes["x_zero_point"] = zero;
  if (!centers) lowered.attributes["center"] = int64_t{0};
  if (fraction != 0) lowered.attributes["fraction"] = int64_t{fraction};
  lowered.attributes["epsilon"] = int64_t(epsilon);
  set_output_form(lowered, form);
  return y;
}

}  // namespace tilewright
