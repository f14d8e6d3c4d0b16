// Heads that share keys are not repeated: the queries of all of them are rows of one product.
#include "tilewright/frontend/onnx/opset/attention_steps.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tilewright {

ValueId split_heads(Steps& s, ValueId x, int64_t heads) {
  if (x == kNoValue) return x;
  const Shape shape = s.shape(x);
  return s.transpose(s.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

ValueId joined_heads(Steps& s, ValueId x) {
  if (x == kNoValue) return x;
  const Shape shape = s.shape(x);
  return s.reshape(s.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

AttentionValues attend(Steps& s, const AttentionOperands& operands) {
  AttentionValues values;
  if (operands.q == kNoValue || operands.k == kNoValue || operands.v == kNoValue) return values;
  const Shape q = s.shape(operands.q), k = s.shape(operands.k), v = s.shape(operands.v);
  const ElementType type = s.type(operands.q);
  const int64_t shared = q[1] / k[1];
  const Shape all{q[0], q[1], q[2], k[2]}, grouped{q[0], k[1], shared * q[2], k[2]};
  const ValueId scaled = s.op("Mul", {operands.q, s.number(type, operands.scale)});
  const ValueId rows = s.reshape(scaled, {q[0], k[1], shared * q[2], q[3]});
  values.scores = s.reshape(s.op("MatMul", {rows, s.transpose(operands.k, {0, 1, 3, 2})}), all);
  values.capped = values.scores;
  if (operands.softcap != 0) {
    const ValueId cap = s.number(type, operands.softcap);
    values.capped = s.op("Mul", {s.op("Tanh", {s.op("Div", {values.scores, cap})}), cap});
  }
  values.biased = sum_of(s, values.capped, operands.bias);
  const ValueId scores = s.cast(values.biased, operands.softmax_type);
  values.weights = s.cast(s.op("Softmax", {scores}, {{"axis", int64_t{-1}}}), type);
  if (operands.bias != kNoValue && operands.hides_rows) {
    const ValueId largest = s.op("ReduceMax", {operands.bias}, {{"axes", std::vector<int64_t>{-1}}});
    const ValueId lowest = s.number(type, -std::numeric_limits<double>::infinity());
    values.weights = s.op("Where", {s.op("Equal", {largest, lowest}), s.number(type, 0), values.weights});
  }
  const ValueId product = s.op("MatMul", {s.reshape(values.weights, grouped), operands.v});
  values.result = s.reshape(product, {q[0], q[1], q[2], v[3]});
  return values;
}

double default_attention_scale(int64_t head_size) { return 1 / std::sqrt(double(head_size)); }

ValueId causal_bias(Steps& s, ElementType type, int64_t length, int64_t keys, int64_t offset, int64_t window,
                    bool last_sees_all) {
  constexpr int64_t kMostElements = 1 << 26;
  if (length > 0 && keys > kMostElements / length) {
    s.conversion().unsupported(fmt::format("hides later keys in {} x {} scores", length, keys),
                               "give it at most 2^26 scores");
    return kNoValue;
  }
  Tensor bias(type, Shape{length, keys});
  for (int64_t i = 0; i < length - (last_sees_all ? 1 : 0); ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const bool is_seen = j <= i + offset && (window < 0 || j >= i + offset - window);
      if (!is_seen) bias.set_number(i * keys + j, -std::numeric_limits<double>::infinity());
    }
  }
  return s.conversion().constant("causal", std::move(bias));
}

ValueId sum_of(Steps& s, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return s.op("Add", {a, b});
}

ValueId rotated(Steps& s, ValueId x, ValueId cosines, ValueId sines, int64_t width, bool interleaved) {
  if (x == kNoValue || cosines == kNoValue || sines == kNoValue) return kNoValue;
  const Shape shape = s.shape(x);
  const int64_t half = width / 2;
  const ValueId turning = s.slice(x, 3, 0, width);
  const Shape pairs{shape[0], shape[1], shape[2], half, 2}, single{shape[0], shape[1], shape[2], half, 1};
  ValueId a = kNoValue, b = kNoValue;
  if (interleaved) {
    const ValueId both = s.reshape(turning, pairs);
    a = s.pick(both, 4, 0);
    b = s.pick(both, 4, 1);
  } else {
    a = s.slice(x, 3, 0, half);
    b = s.slice(x, 3, half, width);
  }
  ValueId real = s.op("Sub", {s.op("Mul", {a, cosines}), s.op("Mul", {b, sines})});
  ValueId imaginary = s.op("Add", {s.op("Mul", {a, sines}), s.op("Mul", {b, cosines})});
  std::vector<ValueId> parts = {real, imaginary};
  if (interleaved) {
    const ValueId both = s.concat({s.reshape(real, single), s.reshape(imaginary, single)}, 4);
    parts = {s.reshape(both, {shape[0], shape[1], shape[2], width})};
  }
  if (width < shape[3]) parts.push_back(s.slice(x, 3, width, shape[3]));
  return s.concat(std::move(parts), 3);
}

}  // namespace tilewright
