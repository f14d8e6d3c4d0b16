// For the tests of the operator table: a graph of one node, and what inference says about it as text.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/inference/shape_inference.h"

namespace tilewright::testing {

struct Given {
  ElementType type = ElementType::kF32;
  Shape shape;
  std::optional<Tensor> constant;
  bool absent = false;
};

inline Given f32(Shape shape) { return {ElementType::kF32, std::move(shape), std::nullopt}; }
inline Given of(ElementType type, Shape shape) { return {type, std::move(shape), std::nullopt}; }
inline Given constant(Tensor tensor) { return {tensor.type(), tensor.shape(), tensor}; }
inline Given ints(std::initializer_list<int64_t> values) {
  return constant(Tensor::of<int64_t>({int64_t(values.size())}, values));
}
inline Given floats(std::initializer_list<float> values) {
  return constant(Tensor::of<float>({int64_t(values.size())}, values));
}
inline Given i32s(std::initializer_list<int32_t> values) {
  return constant(Tensor::of<int32_t>({int64_t(values.size())}, values));
}
inline Given none() { return {ElementType::kF32, {}, std::nullopt, true}; }

using Ints = std::vector<int64_t>;

inline Graph single_node(const std::string& op, const std::vector<Given>& inputs, Attributes attributes = {},
                         int outputs = 1, const std::string& domain = "") {
  Graph graph;
  std::vector<ValueId> ids, results;
  for (const Given& given : inputs) {
    const std::string name = "x" + std::to_string(ids.size());
    ids.push_back(given.absent     ? kNoValue
                  : given.constant ? graph.add_constant(name, *given.constant)
                                   : graph.add_input(name, given.type, given.shape));
  }
  for (int i = 0; i < outputs; ++i)
    results.push_back(graph.add_value("y" + std::to_string(i), ElementType::kF32, {}));
  graph.outputs = results;
  graph.add_node("n", op, ids, results, domain).attributes = std::move(attributes);
  return graph;
}

// "f32[1x2] i64[1x2]", or the problems, one per line.
inline std::string infer(const std::string& op, const std::vector<Given>& inputs, Attributes attributes = {},
                         int outputs = 1, const std::string& domain = "") {
  Graph graph = single_node(op, inputs, std::move(attributes), outputs, domain);
  Diagnostics diagnostics;
  infer_shapes(graph, diagnostics);
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) {
    text += (text.empty() ? "" : "\n") +
            std::string(problem.kind == ErrorKind::kUnsupported ? "unsupported: " : "") + to_string(problem);
  }
  if (!text.empty()) return text;
  for (ValueId id : graph.outputs) {
    text += (text.empty() ? "" : " ") + to_string(graph.value(id).type, graph.value(id).shape);
  }
  return text;
}

}  // namespace tilewright::testing
