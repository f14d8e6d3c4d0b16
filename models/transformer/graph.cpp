// The scaling of scores is part of the queries' weights: it would be a node more, and a rounding more in
// integers. Queries of heads that share keys are rows of one product, as our reader has it.
#include "graph.h"

#include <cmath>

namespace transformer {

using tilewright::Attributes;
using tilewright::ElementType;
using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

namespace {

// Scores of what a token may not see. More than enough for a softmax, and small enough for 8 bits to hold
// beside other scores.
constexpr float kHidden = -30;

Tensor causal_mask(int64_t tokens) {
  std::vector<float> mask(size_t(tokens * tokens));
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = i + 1; j < tokens; ++j) mask[size_t(i * tokens + j)] = kHidden;
  return Tensor({tokens, tokens}, std::span<const float>(mask));
}

}  // namespace

ValueId GraphWriter::node(const std::string& name, const std::string& op, const std::vector<ValueId>& inputs,
                          const Shape& shape, const Attributes& attributes) {
  const ValueId value = graph.add_value(name, ElementType::kF32, shape);
  graph.add_node(name, op, inputs, {value}).attributes = attributes;
  return value;
}

ValueId GraphWriter::weight(const std::string& name) { return graph.add_constant(name, weights_.at(name)); }

ValueId GraphWriter::constant(const std::string& name, const std::function<Tensor()>& make) {
  const auto [at, is_new] = shared_.try_emplace(name, tilewright::kNoValue);
  if (is_new) at->second = graph.add_constant(name, make());
  return at->second;
}

ValueId GraphWriter::number(const std::string& name, float value) {
  return constant(name, [&] { return Tensor(Shape{}, std::span<const float>(&value, 1)); });
}

ValueId GraphWriter::integers(const std::string& name, const std::vector<int64_t>& values) {
  return constant(name, [&] { return Tensor({int64_t(values.size())}, std::span<const int64_t>(values)); });
}

ValueId GraphWriter::reshape(const std::string& name, ValueId value, const Shape& shape) {
  const std::vector<int64_t> sizes(shape.begin(), shape.end());
  std::string constant = "shape";
  for (const int64_t size : sizes) constant += "." + std::to_string(size);
  return node(name, "Reshape", {value, integers(constant, sizes)}, shape);
}

ValueId GraphWriter::dense(const std::string& name, ValueId rows) {
  const Shape in = graph.value(rows).shape;
  const ValueId factors = weight(name + ".weight");
  const Shape out{in[0], in[1], graph.value(factors).shape[1]};
  const std::string bias = name + ".bias";
  if (weights_.count(bias) == 0) return node(name, "MatMul", {rows, factors}, out);
  return node(name, "Add", {node(name + ".product", "MatMul", {rows, factors}, out), weight(bias)}, out);
}

ValueId GraphWriter::norm(const Form& form, const std::string& name, ValueId rows) {
  const Shape shape = graph.value(rows).shape;
  const Attributes attributes = {{"axis", int64_t{-1}}, {"epsilon", form.epsilon}};
  std::vector<ValueId> inputs = {rows, weight(name + ".scale")};
  if (form.language) return node(name, "RMSNormalization", inputs, shape, attributes);
  inputs.push_back(weight(name + ".shift"));
  return node(name, "LayerNormalization", inputs, shape, attributes);
}

// The two halves of each head turned by the angles of their place.
ValueId GraphWriter::turn(const Form& form, const std::string& name, ValueId by_head) {
  const Shape shape = graph.value(by_head).shape;
  const int64_t half = form.head() / 2;
  const Shape part{shape[0], shape[1], shape[2], half}, angles{form.tokens, half};
  const auto table = [&](const char* constant_name, const std::vector<float>& values) {
    return constant(constant_name, [&] { return Tensor(angles, std::span<const float>(values)); });
  };
  const ValueId cosines = table("cosines", rotary_cosines(form)), sines = table("sines", rotary_sines(form));
  const ValueId start = integers("start", {0}), middle = integers("middle", {half}),
                end = integers("end", {2 * half}), last = integers("last_axis", {3});
  const ValueId a = node(name + ".first", "Slice", {by_head, start, middle, last}, part);
  const ValueId b = node(name + ".second", "Slice", {by_head, middle, end, last}, part);
  const auto product = [&](const char* suffix, ValueId value, ValueId factor) {
    return node(name + suffix, "Mul", {value, factor}, part);
  };
  const ValueId real = node(name + ".real", "Sub",
                            {product(".first.cosine", a, cosines), product(".second.sine", b, sines)}, part);
  const ValueId imaginary =
      node(name + ".imaginary", "Add",
           {product(".first.sine", a, sines), product(".second.cosine", b, cosines)}, part);
  return node(name + ".turned", "Concat", {real, imaginary}, shape, {{"axis", int64_t{-1}}});
}

// Dense, [1][tokens][heads * size] -> [1][heads][tokens][size].
ValueId GraphWriter::heads(const Form& form, const std::string& name, ValueId rows, bool turned) {
  const ValueId flat = dense(name, rows);
  const int64_t size = form.head(), count = graph.value(flat).shape[2] / size;
  const ValueId split = reshape(name + ".split", flat, {1, form.tokens, count, size});
  const ValueId by_head = node(name + ".heads", "Transpose", {split}, {1, count, form.tokens, size},
                               {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return turned ? turn(form, name, by_head) : by_head;
}

ValueId GraphWriter::attention(const Form& form, const std::string& name, ValueId rows) {
  const int64_t t = form.tokens, size = form.head(), shared = form.heads / form.key_heads;
  const Shape all{1, form.heads, t, t}, grouped{1, form.key_heads, shared * t, t};
  ValueId q = heads(form, name + ".query", rows, form.language);
  const ValueId k = heads(form, name + ".key", rows, form.language),
                v = heads(form, name + ".value", rows, false);
  if (shared > 1) q = reshape(name + ".query.grouped", q, {1, form.key_heads, shared * t, size});
  const ValueId across = node(name + ".key.across", "Transpose", {k}, {1, form.key_heads, size, t},
                              {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  ValueId scores = node(name + ".scores", "MatMul", {q, across}, grouped);
  if (shared > 1) scores = reshape(name + ".scores.by_head", scores, all);
  if (form.language)
    scores = node(name + ".masked", "Add", {scores, constant("mask", [&] { return causal_mask(t); })}, all);
  ValueId shares = node(name + ".shares", "Softmax", {scores}, all, {{"axis", int64_t{-1}}});
  if (shared > 1) shares = reshape(name + ".shares.grouped", shares, grouped);
  ValueId mixed = node(name + ".mixed", "MatMul", {shares, v}, {1, form.key_heads, shared * t, size});
  if (shared > 1) mixed = reshape(name + ".mixed.by_head", mixed, {1, form.heads, t, size});
  mixed = node(name + ".mixed.rows", "Transpose", {mixed}, {1, t, form.heads, size},
               {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return dense(name + ".output", reshape(name + ".joined", mixed, {1, t, form.width}));
}

// x (1 + erf(x / sqrt 2)) / 2, as PyTorch exports it: opset 17 has no Gelu.
ValueId GraphWriter::gelu(const std::string& name, ValueId rows) {
  const Shape shape = graph.value(rows).shape;
  const ValueId scaled =
      node(name + ".scaled", "Div", {rows, number("square_root_of_two", std::sqrt(2.0f))}, shape);
  const ValueId erf = node(name + ".erf", "Erf", {scaled}, shape);
  const ValueId sum = node(name + ".sum", "Add", {erf, number("one", 1)}, shape);
  const ValueId twice = node(name + ".twice", "Mul", {rows, sum}, shape);
  return node(name, "Mul", {twice, number("half", 0.5f)}, shape);
}

ValueId GraphWriter::gated_silu(const std::string& name, ValueId rows) {
  const ValueId raised = dense(name + ".up", rows), gate = dense(name + ".gate", rows);
  const Shape shape = graph.value(gate).shape;
  const ValueId sigmoid = node(name + ".sigmoid", "Sigmoid", {gate}, shape);
  const ValueId silu = node(name + ".silu", "Mul", {gate, sigmoid}, shape);
  return node(name + ".gated", "Mul", {silu, raised}, shape);
}

ValueId GraphWriter::trunk(const Form& form, ValueId rows) {
  const Shape shape = graph.value(rows).shape;
  for (int64_t i = 1; i <= form.depth; ++i) {
    const std::string name = "block" + std::to_string(i);
    const std::string attends = name + ".attention", raises = name + ".dense";
    rows = node(attends + ".sum", "Add",
                {rows, attention(form, attends, norm(form, attends + ".norm", rows))}, shape);
    const ValueId normed = norm(form, raises + ".norm", rows);
    const ValueId hidden =
        form.language ? gated_silu(raises, normed) : gelu(raises + ".gelu", dense(raises + ".up", normed));
    rows = node(raises + ".sum", "Add", {rows, dense(raises + ".down", hidden)}, shape);
  }
  return norm(form, "norm", rows);
}

int64_t learned_numbers(const tilewright::Graph& graph) {
  int64_t sum = 0;
  for (const tilewright::Value& value : graph.values) {
    const auto ends_with = [&](const char* end) { return value.name.ends_with(end); };
    if (value.constant && (ends_with(".weight") || ends_with(".bias") || ends_with(".scale") ||
                           ends_with(".shift") || value.name == "places" || value.name == "embedding"))
      sum += value.shape.element_count();
  }
  return sum;
}

Weights with_scaled_queries(const Form& form, Weights weights) {
  for (auto& [name, tensor] : weights) {
    if (name.find(".query.") == std::string::npos) continue;
    for (float& v : tensor.mutable_data<float>()) v /= std::sqrt(float(form.head()));
  }
  return weights;
}

}  // namespace transformer
