// Definitions: ONNX operator reference, opset 17. Attributes are single precision, as files hold them.
#include "tilewright/quantize/integerize/element_function.h"

#include <algorithm>
#include <cmath>

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

}  // namespace tilewright
