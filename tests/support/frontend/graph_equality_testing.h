// For tests: whether two graphs are the same but for the order of their values.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "tilewright/graph/graph.h"

namespace tilewright {

inline std::string describe_difference(const Graph& a, const Graph& b) {
  const auto names = [](const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<std::string> result;
    for (const ValueId id : ids) result.push_back(id == kNoValue ? "" : graph.value(id).name);
    return result;
  };
  if (names(a, a.inputs) != names(b, b.inputs)) return "inputs";
  if (names(a, a.outputs) != names(b, b.outputs)) return "outputs";
  if (a.nodes.size() != b.nodes.size()) return "number of nodes";
  std::map<std::string, const Value*> values;
  for (const Value& value : a.values) values[value.name] = &value;
  if (a.values.size() != b.values.size()) return "number of values";
  for (const Value& value : b.values) {
    const auto found = values.find(value.name);
    if (found == values.end()) return "value " + value.name + " is new";
    const Value& other = *found->second;
    if (other.type != value.type || !(other.shape == value.shape)) return "type of " + value.name;
    if (other.constant.has_value() != value.constant.has_value()) return "constness of " + value.name;
    if (other.constant && !other.constant->identical(*value.constant)) return "elements of " + value.name;
  }
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    const Node &x = a.nodes[n], &y = b.nodes[n];
    if (x.name != y.name || x.op != y.op || x.domain != y.domain)
      return fmt::format("node {} or {}", x.name, y.name);
    if (names(a, x.inputs) != names(b, y.inputs)) return "inputs of " + x.name;
    if (names(a, x.outputs) != names(b, y.outputs)) return "outputs of " + x.name;
    if (x.attributes.size() != y.attributes.size()) return "attributes of " + x.name;
    for (const auto& [name, value] : x.attributes) {
      const auto found = y.attributes.find(name);
      if (found == y.attributes.end() || found->second.index() != value.index())
        return name + " of " + x.name;
      const Tensor* tensor = std::get_if<Tensor>(&value);
      const bool same = tensor ? tensor->identical(std::get<Tensor>(found->second))
                               : std::visit(
                                     [&](const auto& left) {
                                       using T = std::decay_t<decltype(left)>;
                                       if constexpr (std::is_same_v<T, Tensor>) {
                                         return true;
                                       } else {
                                         return left == std::get<T>(found->second);
                                       }
                                     },
                                     value);
      if (!same) return name + " of " + x.name;
    }
  }
  return "";
}

}  // namespace tilewright
