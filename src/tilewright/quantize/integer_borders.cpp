// Conversions at the borders go; what only moves a result moves its integers.
#include <algorithm>
#include <utility>

#include "tilewright/quantize/integerize/integer_builder.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

namespace {

// Movement that needs no number of its own.
bool moves_real_numbers(const Graph& graph, const Node& node) {
  return only_moves_data(graph, node) && !node.is("Pad") && node.outputs.size() == 1 &&
         !graph.is_constant(node.input(0)) && graph.value(node.outputs[0]).type == ElementType::kF32;
}

}  // namespace

Graph with_integer_borders(Graph graph, std::vector<IntegerBorder>* borders) {
  const std::vector<std::vector<NodeId>> readers = graph.consumers();
  const std::vector<NodeId> producers = graph.producers();
  std::vector<bool> gone(graph.nodes.size(), false);
  // `border` becomes `integers`, which `converter` converts.
  const auto replace = [&](ValueId& border, ValueId integers, const Node& converter) {
    std::swap(graph.value(border).name, graph.value(integers).name);
    const auto q = constant_quantization(graph, converter.input(1), converter.input(2));
    if (borders != nullptr && q)
      borders->push_back({graph.value(integers).name, double(q->scale), q->zero_point});
    border = integers;
  };
  for (ValueId& input : graph.inputs) {
    if (readers[size_t(input)].size() != 1 || graph.is_output(input)) continue;
    const NodeId reader = readers[size_t(input)][0];
    const Node& node = graph.nodes[size_t(reader)];
    if (!node.is("QuantizeLinear") || node.input(0) != input) continue;
    gone[size_t(reader)] = true;
    replace(input, node.outputs[0], node);
  }
  for (ValueId& output : graph.outputs) {
    if (!readers[size_t(output)].empty()) continue;
    // What only moves the real numbers moves the integers.
    std::vector<NodeId> moves;
    NodeId producer = producers[size_t(output)];
    while (producer != kNoNode && moves_real_numbers(graph, graph.nodes[size_t(producer)])) {
      const ValueId from = graph.nodes[size_t(producer)].input(0);
      if (readers[size_t(from)].size() != 1 || graph.is_output(from)) break;
      moves.push_back(producer);
      producer = producers[size_t(from)];
    }
    if (producer == kNoNode) continue;
    const Node node = graph.nodes[size_t(producer)];
    if (!node.is("DequantizeLinear") || graph.is_constant(node.input(0)) || graph.is_output(node.input(0)))
      continue;
    if (moves.empty()) {
      replace(output, node.input(0), node);
      continue;
    }
    const auto q = constant_quantization(graph, node.input(1), node.input(2));
    if (!q) continue;  // a scale per channel: its axis would move as well
    graph.nodes[size_t(moves.back())].inputs[0] = node.input(0);
    for (const NodeId move : moves) {
      graph.value(graph.nodes[size_t(move)].outputs[0]).type = graph.value(node.input(0)).type;
    }
    if (borders != nullptr) borders->push_back({graph.value(output).name, double(q->scale), q->zero_point});
  }
  graph.erase_nodes(gone);
  graph.remove_dead();
  return graph;
}

}  // namespace tilewright
