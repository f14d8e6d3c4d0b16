// Runs one integer node with the reference kernels of `tensor`.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// nullopt for operators that have no reference kernel. `inputs` as the node lists them.
std::optional<Tensor> run_reference(const Node& node, const std::vector<Tensor>& inputs);

}  // namespace tilewright
