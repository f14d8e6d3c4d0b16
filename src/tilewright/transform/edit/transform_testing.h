// What the tests of the passes share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// "Conv Relu Add": the operators in order.
inline std::string ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

inline const Node* find_op(const Graph& graph, const std::string& op) {
  const auto found =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.op == op; });
  return found == graph.nodes.end() ? nullptr : &*found;
}

inline std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph.value(id).name);
  return names;
}

}  // namespace tilewright
