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

  // Elements begin..end-1 of the last axis.
  ValueId slice(ValueId value, int64_t begin, int64_t end) {
    Shape shape = graph_.value(value).shape;
    const int64_t axis = shape.rank() - 1;
    shape[int(axis)] = end - begin;
    std::vector<ValueId> inputs{value};
    for (const int64_t number : {begin, end, axis})
      inputs.push_back(graph_.add_constant(name_ + "/part", Tensor::of<int64_t>({1}, {number})));
    return op("Slice", std::move(inputs), graph_.value(value).type, shape);
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

void spell_rotary_embedding(Graph& graph, const Node& node) {
  Spelling s(graph, node.name);
  const ValueId x = node.inputs[0], cosines = node.inputs[1], sines = node.inputs[2];
  const Shape shape = graph.value(x).shape;
  const ElementType type = graph.value(x).type;
  const int64_t size = shape[shape.rank() - 1], half = size / 2;
  const ValueId first = s.slice(x, 0, half), second = s.slice(x, half, size);
  const Shape part = graph.value(first).shape;
  const auto product = [&](ValueId a, ValueId b) { return s.op("Mul", {a, b}, type, part); };
  const ValueId real = s.op("Sub", {product(first, cosines), product(second, sines)}, type, part);
  const ValueId imaginary = s.op("Add", {product(first, sines), product(second, cosines)}, type, part);
  graph.add_node(node.name + "/Concat", "Concat", {real, imaginary}, {node.outputs[0]}).attributes = {
      {"axis", int64_t{-1}}};
}

bool is_later_operator(const Node& node) { return node.is("RMSNormalization") || node.is("RotaryEmbedding"); }

}  // namespace

bool has_later_operators(const Graph& graph) { return std::ranges::any_of(graph.nodes, is_later_operator); }

Graph spelled_out(Graph graph) {
  const size_t count = graph.nodes.size();
  std::vector<bool> replaced(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (!is_later_operator(graph.nodes[i])) continue;
    const Node node = graph.nodes[i];
    if (node.is("RMSNormalization")) {
      spell_rms_normalization(graph, node);
    } else {
      spell_rotary_embedding(graph, node);
    }
    replaced[i] = true;
  }
  replaced.resize(graph.nodes.size(), false);
  graph.erase_nodes(replaced);
  graph.sort_topologically();
  return graph;
}

}  // namespace tilewright
