// Functions of one number: activations, and what networks spell out of primitives (x * sigmoid(x),
// x * clip(x + 3, 0, 6) / 6), for the operators that look their results up in a table.
#pragma once

#include <functional>
#include <optional>

#include "tilewright/graph/graph.h"

namespace tilewright {

// What `node` computes of each element of its input 0, in double: Sigmoid, Tanh, HardSigmoid, HardSwish,
// LeakyRelu, PRelu with one constant slope, Elu, Selu, Softplus, Softsign, ThresholdedRelu. nullopt for every
// other operator.
std::optional<std::function<double(double)>> element_function(const Graph& graph, const Node& node);

// element(y, i) = function(element(base, i)), for values of one shape.
struct FunctionOfOne {
  ValueId base = kNoValue;
  std::function<double(double)> function;
};

// `value` as a function of one other value, through as few operators as lead to one for which `is_base`
// holds: activations, arithmetic of single numbers (`number` gives those of constants) and of two functions
// of the same value. nullopt where it depends on several values, or on elements at other positions, or is
// `is_base` itself. `producers`: Graph::producers().
std::optional<FunctionOfOne> function_of_one(const Graph& graph, const std::vector<NodeId>& producers,
                                             ValueId value, const std::function<bool(ValueId)>& is_base,
                                             const std::function<std::optional<double>(ValueId)>& number);

// The number in a constant of one element.
std::optional<double> constant_number(const Graph& graph, ValueId value);

}  // namespace tilewright
