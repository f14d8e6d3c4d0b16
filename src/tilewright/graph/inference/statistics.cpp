// Counts from the operator table and the value types alone.
#include "tilewright/graph/inference/statistics.h"

#include "tilewright/graph/operators/node_rules.h"
#include "tilewright/graph/operators/operator_checks.h"

namespace tilewright {
namespace {

int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t bytes_of(ElementType type, const Shape& shape) {
  const int64_t bits = saturating_multiply(saturating_count(shape), bit_width(type));
  return bits / 8 + (bits % 8 != 0);
}

bool usable(const Graph& graph, ValueId id) {
  return id >= 0 && id < ValueId(graph.values.size()) &&
         defect_of({graph.value(id).type, graph.value(id).shape}).empty();
}

}  // namespace

int64_t multiply_accumulates(const Graph& graph, const Node& node) {
  Diagnostics diagnostics;
  const Operator* op = check_node(node, diagnostics);
  if (op == nullptr || op->macs == nullptr) return 0;
  for (ValueId id : node.inputs) {
    if (id != kNoValue && !usable(graph, id)) return 0;
  }
  try {
    const OperatorContext context = context_of(graph, node);
    return op->macs(context, op->infer(context));
  } catch (const Error&) {
    return 0;
  }
}

GraphStatistics statistics(const Graph& graph) {
  GraphStatistics result;
  std::vector<bool> counted(graph.values.size(), false);
  NodeStatistics& total = result.total;
  for (NodeId n = 0; n < NodeId(graph.nodes.size()); ++n) {
    const Node& node = graph.nodes[size_t(n)];
    NodeStatistics own;
    own.node = n;
    own.macs = multiply_accumulates(graph, node);
    for (ValueId id : node.inputs) {
      if (!usable(graph, id)) continue;
      const Value& value = graph.value(id);
      const int64_t bytes = bytes_of(value.type, value.shape);
      if (!value.constant) {
        own.input_bytes = saturating_sum(own.input_bytes, bytes);
        continue;
      }
      own.parameters = saturating_sum(own.parameters, value.constant->size());
      own.parameter_bytes = saturating_sum(own.parameter_bytes, bytes);
      if (counted[size_t(id)]) continue;
      counted[size_t(id)] = true;
      total.parameters = saturating_sum(total.parameters, value.constant->size());
      total.parameter_bytes = saturating_sum(total.parameter_bytes, bytes);
    }
    for (ValueId id : node.outputs) {
      if (usable(graph, id)) {
        own.output_bytes =
            saturating_sum(own.output_bytes, bytes_of(graph.value(id).type, graph.value(id).shape));
      }
    }
    total.macs = saturating_sum(total.macs, own.macs);
    total.input_bytes = saturating_sum(total.input_bytes, own.input_bytes);
    total.output_bytes = saturating_sum(total.output_bytes, own.output_bytes);
    result.nodes.push_back(own);
  }
  return result;
}

}  // namespace tilewright
