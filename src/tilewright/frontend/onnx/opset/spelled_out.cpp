// New nodes come last and are sorted into place; the last of them writes what the operator wrote.
#include "tilewright/frontend/onnx/opset/spelled_out.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

// Values and nodes named after one node.
class Spelling {
 public:
  Spelling(Graph& graph, std::string name) : graph_(graph), name_(std::move(name)) {}

  ValueId op(const std::string& op, std::vector<ValueId> inputs, ElementType type, const Shape& shape,
             Attributes attributes = {}) {
    const std::string name = name_ + "/" + op;
    const ValueId result = graph_.add_value(name, type, shape);
    graph_.add_node(name, op, std::move(inputs), {result}).attributes = std::move(attributes);
    return result;
  }

  ValueId cast(ValueId value, ElementType type) {
    if (graph_.value(value).type == type) return value;
    return op("Cast", {value}, type, Shape(graph_.value(value).shape), {{"to", *onnx_code_of(type)}});
  }

  ValueId number(ElementType type, double number) {
    Tensor tensor(type, Shape{});
    tensor.set_number(0, number);
    return graph_.add_constant(name_ + "/epsilon", std::move(tensor));
  }

 private:
  Graph& graph_;
  const std::string name_;
};

void spell_rms_normalization(Graph& graph, const Node& node) {
  Spelling s(graph, node.name);
  const ValueId x = node.inputs[0];
  const Shape shape = graph.value(x).shape;
  const ElementType type = graph.value(x).type,
                    wide_type = type == ElementType::kF64 ? type : ElementType::kF32;
  const int64_t axis = node.int_or("axis", -1), rank = shape.rank();
  std::vector<int64_t> axes;
  Shape mean_shape = shape;
  for (int64_t a = axis < 0 ? axis + rank : axis; a < rank; ++a) {
    axes.push_back(a);
    mean_shape[int(a)] = 1;
  }
  const ValueId wide = s.cast(x, wide_type);
  const ValueId square = s.op("Mul", {wide, wide}, wide_type, shape);
  const ValueId mean = s.op("ReduceMean", {square}, wide_type, mean_shape, {{"axes", axes}});
  const ValueId epsilon = s.number(wide_type, double(node.float_or("epsilon", 1e-5f)));
  const ValueId sum = s.op("Add", {mean, epsilon}, wide_type, mean_shape);
  const ValueId root = s.op("Sqrt", {sum}, wide_type, mean_shape);
  const ValueId quotient = s.cast(s.op("Div", {wide, root}, wide_type, shape), type);
  graph.add_node(node.name + "/Mul", "Mul", {quotient, node.inputs[1]}, {node.outputs[0]});
}

}  // namespace

bool has_later_operators(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return node.is("RMSNormalization"); });
}

Graph spelled_out(Graph graph) {
  const size_t count = graph.nodes.size();
  std::vector<bool> replaced(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (!graph.nodes[i].is("RMSNormalization")) continue;
    const Node node = graph.nodes[i];
    spell_rms_normalization(graph, node);
    replaced[i] = true;
  }
  replaced.resize(graph.nodes.size(), false);
  graph.erase_nodes(replaced);
  graph.sort_topologically();
  return graph;
}

}  // namespace tilewright
