// Definitions: ONNX operator reference, opset 17. Attributes are single precision, as files hold them.
#include "tilewright/quantize/integerize/element_function.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

std::function<double(double)> leaky(double slope) {
  return [slope](double x) { return x < 0 ? slope * x : x; };
}

double unit_clip(double x) { return std::clamp(x, 0.0, 1.0); }

}  // namespace

std::optional<std::function<double(double)>> element_function(const Graph& graph, const Node& node) {
  if (node.is("Sigmoid")) return [](double x) { return 1 / (1 + std::exp(-x)); };
  if (node.is("Tanh")) return [](double x) { return std::tanh(x); };
  if (node.is("HardSwish")) return [](double x) { return x * unit_clip(x / 6 + 0.5); };
  if (node.is("Softplus")) {
    return [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); };
  }
  if (node.is("Softsign")) return [](double x) { return x / (1 + std::abs(x)); };
  if (node.is("LeakyRelu")) return leaky(double(node.float_or("alpha", 0.01f)));
  if (node.is("PRelu")) {
    const Tensor* slope = graph.constant_input(node, 1);
    if (slope == nullptr || slope->size() != 1) return std::nullopt;
    return leaky(slope->number_at(0));
  }
  if (node.is("HardSigmoid")) {
    const double alpha = double(node.float_or("alpha", 0.2f)), beta = double(node.float_or("beta", 0.5f));
    return [alpha, beta](double x) { return unit_clip(alpha * x + beta); };
  }
  if (node.is("Elu")) {
    const double alpha = double(node.float_or("alpha", 1));
    return [alpha](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
  }
  if (node.is("Selu")) {
    const double alpha = double(node.float_or("alpha", 1.67326319217681884765625f));
    const double gamma = double(node.float_or("gamma", 1.05070102214813232421875f));
    return [alpha, gamma](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); };
  }
  if (node.is("ThresholdedRelu")) {
    const double alpha = double(node.float_or("alpha", 1));
    return [alpha](double x) { return x > alpha ? x : 0; };
  }
  return std::nullopt;
}

namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// Operators of one number without attributes that are no activation of a layer.
Unary primitive(const Node& node) {
  struct Entry {
    const char* op;
    Unary function;
  };
  static constexpr Entry kPrimitives[] = {
      {"Abs", [](double x) { return std::abs(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Dropout", [](double x) { return x; }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Identity", [](double x) { return x; }},
      {"Log", [](double x) { return std::log(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sign", sign},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
  };
  for (const Entry& entry : kPrimitives) {
    if (node.is(entry.op)) return entry.function;
  }
  return nullptr;
}

Binary arithmetic(const Node& node) {
  if (node.inputs.size() != 2) return nullptr;
  if (node.is("Add") || node.is("Sum")) return [](double a, double b) { return a + b; };
  if (node.is("Sub")) return [](double a, double b) { return a - b; };
  if (node.is("Mul")) return [](double a, double b) { return a * b; };
  if (node.is("Div")) return [](double a, double b) { return a / b; };
  if (node.is("Max")) return [](double a, double b) { return std::max(a, b); };
  if (node.is("Min")) return [](double a, double b) { return std::min(a, b); };
  if (node.is("Pow")) return [](double a, double b) { return std::pow(a, b); };
  return nullptr;
}

// A function of one value while it is put together; a constant has no base.
class FunctionSearch {
 public:
  FunctionSearch(const Graph& graph, const std::vector<NodeId>& producers,
                 const std::function<bool(ValueId)>& is_base,
                 const std::function<std::optional<double>(ValueId)>& number)
      : graph_(graph), producers_(producers), is_base_(is_base), number_(number) {}

  std::optional<FunctionOfOne> of(ValueId value) {
    if (value == kNoValue || ++visited_ > kMostVisited) return std::nullopt;
    if (const auto constant = number_(value)) {
      return FunctionOfOne{kNoValue, [c = *constant](double) { return c; }};
    }
    if (is_base_(value)) return FunctionOfOne{value, [](double x) { return x; }};
    const NodeId producer = producers_[size_t(value)];
    return producer == kNoNode ? std::nullopt : of(graph_.nodes[size_t(producer)]);
  }

  std::optional<FunctionOfOne> of(const Node& node) {
    if (graph_.value(node.outputs[0]).type != ElementType::kF32) return std::nullopt;
    std::optional<FunctionOfOne> result;
    if (const auto activation = element_function(graph_, node)) {
      result = applied(node, *activation);
    } else if (const Unary unary = primitive(node)) {
      result = applied(node, unary);
    } else if (node.is("Clip")) {
      result = clipped(node);
    } else if (const Binary binary = arithmetic(node)) {
      result = combined(node, binary);
    }
    if (!result || result->base == kNoValue) return result;
    const bool same_shape = graph_.value(result->base).shape == graph_.value(node.outputs[0]).shape;
    return same_shape ? result : std::nullopt;
  }

 private:
  static constexpr int kMostVisited = 64;  // values; x * f(x) visits x twice

  std::optional<FunctionOfOne> applied(const Node& node, const std::function<double(double)>& outer) {
    auto inner = of(node.input(0));
    if (!inner) return std::nullopt;
    return FunctionOfOne{inner->base,
                         [outer, f = std::move(inner->function)](double x) { return outer(f(x)); }};
  }

  std::optional<FunctionOfOne> clipped(const Node& node) {
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    for (int i : {1, 2}) {
      if (!node.has_input(i)) continue;
      const auto bound = number_(node.input(i));
      if (!bound) return std::nullopt;
      (i == 1 ? low : high) = *bound;
    }
    return applied(node, [low, high](double x) { return std::min(std::max(x, low), high); });
  }

  std::optional<FunctionOfOne> combined(const Node& node, Binary operation) {
    const auto a = of(node.input(0));
    const auto b = a ? of(node.input(1)) : std::nullopt;
    if (!b || (a->base != kNoValue && b->base != kNoValue && a->base != b->base)) return std::nullopt;
    return FunctionOfOne{
        a->base == kNoValue ? b->base : a->base,
        [operation, f = a->function, g = b->function](double x) { return operation(f(x), g(x)); }};
  }

  const Graph& graph_;
  const std::vector<NodeId>& producers_;
  const std::function<bool(ValueId)>& is_base_;
  const std::function<std::optional<double>(ValueId)>& number_;
  int visited_ = 0;
};

}  // namespace

std::optional<double> constant_number(const Graph& graph, ValueId value) {
  if (value == kNoValue || !graph.is_constant(value)) return std::nullopt;
  const Tensor& constant = *graph.value(value).constant;
  return constant.size() == 1 ? std::optional(constant.number_at(0)) : std::nullopt;
}

std::optional<FunctionOfOne> function_of_one(const Graph& graph, const std::vector<NodeId>& producers,
                                             ValueId value, const std::function<bool(ValueId)>& is_base,
                                             const std::function<std::optional<double>(ValueId)>& number) {
  const NodeId producer = producers[size_t(value)];
  if (producer == kNoNode || is_base(value)) return std::nullopt;
  auto result = FunctionSearch(graph, producers, is_base, number).of(graph.nodes[size_t(producer)]);
  return result && result->base != kNoValue ? result : std::nullopt;
}

}  // namespace tilewright
