// Activation functions as real functions of one number, for the operators that look their results up in a
// table.
#pragma once

#include <functional>
#include <optional>

#include "tilewright/graph/graph.h"

namespace tilewright {

// What `node` computes of each element of its input 0, in double: Sigmoid, Tanh, HardSigmoid, HardSwish,
// LeakyRelu, PRelu with one constant slope, Elu, Selu, Softplus, Softsign, ThresholdedRelu. nullopt for every
// other operator.
std::optional<std::function<double(double)>> element_function(const Graph& graph, const Node& node);

}  // namespace tilewright
