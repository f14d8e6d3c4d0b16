// Values that readers add to a graph. Their names are already unique; Graph::add_value, which ensures that,
// would compare with every existing value.
#pragma once

#include <string>
#include <utility>

#include "tilewright/graph/graph.h"

namespace tilewright {

// Type and shape are not known yet: f32, a scalar.
inline ValueId append_value(Graph& graph, std::string name) {
  graph.values.push_back({std::move(name), ElementType::kF32, Shape{}, std::nullopt});
  return ValueId(graph.values.size()) - 1;
}

inline ValueId append_constant(Graph& graph, std::string name, Tensor tensor) {
  graph.values.push_back({std::move(name), tensor.type(), tensor.shape(), std::nullopt});
  graph.values.back().constant = std::move(tensor);
  return ValueId(graph.values.size()) - 1;
}

}  // namespace tilewright
