// Integer nodes, and whole networks of them, with the reference kernels of `tensor`.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// nullopt for operators that have no reference kernel. `inputs` as the node lists them.
std::optional<Tensor> run_reference(const Node& node, const std::vector<Tensor>& inputs);

// Output 0 of an integer graph of one input, every integer operator by its reference kernel, the rest by the
// host engine. Fails the test where an integer operator has none, or fewer than `least` nodes were run so.
Tensor run_by_reference(const Graph& graph, const Tensor& input, int least);

}  // namespace tilewright
