// One case per function of operator_class.h; windows come from graph/window.h.
#include "tilewright/layers/node_geometry.h"

#include "tilewright/graph/operator_class.h"

namespace tilewright {
namespace {

NodeGeometry convolution(const Node& node, const Shape& x, const Shape& w, bool transposed) {
  NodeGeometry geometry;
  geometry.window = transposed ? transposed_window(node, x, w) : convolution_window(node, x, w);
  geometry.batch = x[0];
  geometry.input_channels = x[1];
  geometry.group = node.int_or("group", 1);
  geometry.output_channels = transposed ? w[1] * geometry.group : w[0];
  return geometry;
}

// Gemm may transpose its operands; ours keep their weights as [O,K], which Gemm calls transB.
std::optional<NodeGeometry> dense(const Node& node, const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) return {};
  const bool columns_first = node.int_or("transA", 0) != 0;
  const bool outputs_last = node.domain.empty() && node.int_or("transB", 0) == 0;
  NodeGeometry geometry;
  geometry.batch = a[columns_first ? 1 : 0];
  geometry.input_channels = a[columns_first ? 0 : 1];
  geometry.output_channels = b[outputs_last ? 1 : 0];
  return geometry;
}

NodeGeometry pool(const Node& node, const Shape& x) {
  const bool global = node.is("GlobalMaxPool") || node.is("GlobalAveragePool");
  NodeGeometry geometry;
  geometry.window = global ? global_window(node, x) : pool_window(node, x);
  geometry.batch = x[0];
  geometry.input_channels = geometry.output_channels = x[1];
  return geometry;
}

}  // namespace

int weight_input(const Node& node) { return node.domain.empty() && node.op.starts_with("QLinear") ? 3 : 1; }

std::optional<NodeGeometry> node_geometry(const Graph& graph, const Node& node) {
  if (!node.has_input(0)) return {};
  const Shape& x = graph.value(node.input(0)).shape;
  const OperatorFunction function = operator_function(node);
  if (function == OperatorFunction::kAveragePool || function == OperatorFunction::kMaxPool) {
    return pool(node, x);
  }
  if (operator_class(node) != OperatorClass::kProduct || !node.has_input(weight_input(node))) return {};
  const Shape& w = graph.value(node.input(weight_input(node))).shape;
  switch (function) {
    case OperatorFunction::kConvolution:
      return convolution(node, x, w, false);
    case OperatorFunction::kTransposedConvolution:
      return convolution(node, x, w, true);
    case OperatorFunction::kDense:
      return dense(node, x, w);
    default:
      return {};
  }
}

}  // namespace tilewright
