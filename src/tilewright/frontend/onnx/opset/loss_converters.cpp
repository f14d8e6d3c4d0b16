// The losses of training, which exported evaluation graphs still hold: the score of each target's class,
// weighted, without those to be ignored. Formulas: ONNX operator reference.
#include <fmt/format.h>

#include <numeric>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

std::vector<int64_t> all_axes(const Shape& shape) {
  std::vector<int64_t> axes(size_t(shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Scores [N, C, ...], targets [N, ...], weights [C] or none.
bool fits(NodeConversion& conversion, const Steps& s, const Node& node) {
  if (!node.has_input(1)) {
    conversion.invalid("has no targets");
    return false;
  }
  const Shape scores = s.shape(node.input(0)), targets = s.shape(node.input(1));
  std::vector<int64_t> wanted = scores.dims();
  if (wanted.size() >= 2) wanted.erase(wanted.begin() + 1);
  const bool weights_fit =
      !node.has_input(2) || (scores.rank() >= 2 && s.shape(node.input(2)) == Shape{scores[1]});
  if (scores.rank() >= 2 && targets == Shape(wanted) && weights_fit) return true;
  conversion.invalid(
      fmt::format("has scores {} for targets {}, or weights of another length than the classes",
                  to_string(scores), to_string(targets)));
  return false;
}

// The loss of log probabilities; kNoValue after an error.
ValueId likelihood_loss(const Node& node, Steps& s, ValueId scores) {
  NodeConversion& conversion = s.conversion();
  const std::string reduction = node.string_or("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    conversion.invalid(fmt::format("reduces by '{}'", reduction));
    return kNoValue;
  }
  ValueId targets = node.input(1), ignored = kNoValue;
  const Shape shape = s.shape(targets);
  if (node.has("ignore_index")) {
    ignored = s.op("Equal", {targets, s.number_like(targets, double(node.int_or("ignore_index", 0)))});
    targets = s.op("Where", {ignored, s.number_like(targets, 0), targets});
  }
  std::vector<int64_t> column = shape.dims();
  column.insert(column.begin() + 1, 1);
  const ValueId picked =
      s.op("GatherElements", {scores, s.reshape(targets, Shape(column))}, {{"axis", int64_t{1}}});
  ValueId loss = s.op("Neg", {s.reshape(picked, shape)});
  ValueId weights = kNoValue;
  if (node.has_input(2)) weights = s.op("Gather", {node.input(2), targets}, {{"axis", int64_t{0}}});
  if (ignored != kNoValue) {
    const ValueId counted = weights != kNoValue ? weights : s.filled(s.type(scores), shape, 1);
    weights = s.op("Where", {ignored, s.number_like(scores, 0), counted});
  }
  if (weights != kNoValue) loss = s.op("Mul", {loss, weights});
  if (reduction == "none") return loss;
  const ValueId sum = s.sum(loss, all_axes(shape), false);
  if (reduction == "sum") return sum;
  const ValueId count = weights != kNoValue ? s.sum(weights, all_axes(shape), false)
                                            : s.number_like(scores, double(shape.element_count()));
  return s.op("Div", {sum, count});
}

}  // namespace

void convert_likelihood_loss(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!fits(conversion, s, node)) return;
  conversion.define(node.outputs[0], likelihood_loss(node, s, node.input(0)));
  node.outputs.clear();
}

void convert_cross_entropy_loss(Node& node, NodeConversion& conversion) {
  Steps s(conversion);
  if (!fits(conversion, s, node)) return;
  const ValueId log_probabilities = s.op("LogSoftmax", {node.input(0)}, {{"axis", int64_t{1}}});
  conversion.define(node.outputs[0], likelihood_loss(node, s, log_probabilities));
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue)
    conversion.define(node.outputs[1], log_probabilities);
  node.outputs.clear();
}

}  // namespace tilewright
