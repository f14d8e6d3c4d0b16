// Running single nodes in tests: builds the node, calls evaluate, returns the outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/error_text_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"

namespace tilewright::testing {

// nullopt stands for an absent optional input. The graph's declarations are taken from the result, so shapes
// are for the test to check.
inline std::vector<Tensor> run_op(const std::string& op, const std::vector<std::optional<Tensor>>& inputs,
                                  Attributes attributes = {}, int outputs = 1, const std::string& domain = "",
                                  HostOptions options = {}) {
  Node node;
  node.name = "n";
  node.domain = domain;
  node.op = op;
  node.attributes = std::move(attributes);
  std::vector<KernelOperand> operands;
  std::vector<const Tensor*> pointers;
  for (const std::optional<Tensor>& input : inputs) {
    node.inputs.push_back(input ? ValueId(node.inputs.size()) : kNoValue);
    pointers.push_back(input ? &*input : nullptr);
    operands.push_back(input ? KernelOperand{true, input->type(), input->shape(), &*input} : KernelOperand{});
  }
  for (int i = 0; i < outputs; ++i) node.outputs.push_back(ValueId(inputs.size()) + i);
  return PreparedNode(node, operands, options).run(pointers, options);
}

inline Tensor f32(Shape shape, std::initializer_list<float> values) {
  return Tensor::of<float>(std::move(shape), values);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Uniform in [-1, 1).
inline Tensor random_tensor(Random& random, ElementType type, Shape shape) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, 2 * random.uniform() - 1);
  return tensor;
}

// max |a - b|; infinity when the shapes differ.
inline double distance(const Tensor& a, const Tensor& b) {
  double largest = a.shape() == b.shape() ? 0 : std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < a.size() && i < b.size(); ++i) {
    largest = std::max(largest, std::abs(a.number_at(i) - b.number_at(i)));
  }
  return largest;
}

inline Tensor i64(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(Shape{int64_t(values.size())}, values);
}

}  // namespace tilewright::testing
