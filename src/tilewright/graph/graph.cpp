// Names are made unique by the first free numeric suffix, producers and readers are found by one scan of the
// nodes, and erase_nodes() renumbers the values that remain. The sort is Kahn's algorithm, always taking the
// ready node that stood first.
#include "tilewright/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <queue>
#include <string_view>

namespace tilewright {
namespace {

template <typename T>
T attribute_or(const Node& node, const std::string& attribute, T fallback, const char* type_name) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return fallback;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw Error({{ErrorKind::kInvalidInput, where(node), node.op,
                fmt::format("attribute '{}' is not {}", attribute, type_name), ""}});
}

// `wanted` or, when an element of `named` has that name, the first of wanted_1, wanted_2, ... that is free.
// One pass: models with thousands of nodes without a name are common.
template <typename Named>
std::string unique_name(std::string wanted, const std::vector<Named>& named) {
  bool taken = false;
  std::vector<bool> used(named.size() + 2, false);  // suffixes; one of 1..size + 1 is free
  for (const Named& other : named) {
    const std::string_view name = other.name;
    if (!name.starts_with(wanted)) continue;
    if (name.size() == wanted.size()) {
      taken = true;
    } else if (name[wanted.size()] == '_') {
      size_t number = 0;
      const std::string_view digits = name.substr(wanted.size() + 1);
      const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (result.ec == std::errc{} && result.ptr == digits.data() + digits.size() && number < used.size())
        used[number] = true;
    }
  }
  if (!taken) return wanted;
  size_t free = 1;
  while (used[free]) ++free;
  return fmt::format("{}_{}", wanted, free);
}

}  // namespace

std::string where(const Node& node) { return fmt::format("node '{}'", node.name); }

int64_t Node::int_or(const std::string& attribute, int64_t fallback) const {
  return attribute_or(*this, attribute, fallback, "an integer");
}
float Node::float_or(const std::string& attribute, float fallback) const {
  return attribute_or(*this, attribute, fallback, "a float");
}
std::string Node::string_or(const std::string& attribute, const std::string& fallback) const {
  return attribute_or(*this, attribute, fallback, "a string");
}
std::vector<int64_t> Node::ints_or(const std::string& attribute, std::vector<int64_t> fallback) const {
  return attribute_or(*this, attribute, std::move(fallback), "a list of integers");
}
std::vector<float> Node::floats_or(const std::string& attribute, std::vector<float> fallback) const {
  return attribute_or(*this, attribute, std::move(fallback), "a list of floats");
}

const Tensor* Graph::constant_input(const Node& node, int index) const {
  const ValueId id = node.input(index);
  return is_constant(id) ? &*value(id).constant : nullptr;
}

ValueId Graph::add_value(const std::string& value_name, ElementType type, Shape shape) {
  values.push_back(
      {unique_name(value_name.empty() ? "value" : value_name, values), type, std::move(shape), std::nullopt});
  return ValueId(values.size()) - 1;
}

ValueId Graph::add_constant(const std::string& value_name, Tensor tensor) {
  const ValueId id = add_value(value_name, tensor.type(), tensor.shape());
  value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::add_input(const std::string& value_name, ElementType type, Shape shape) {
  inputs.push_back(add_value(value_name, type, std::move(shape)));
  return inputs.back();
}

Node& Graph::add_node(const std::string& node_name, const std::string& op, std::vector<ValueId> node_inputs,
                      std::vector<ValueId> node_outputs, const std::string& domain) {
  nodes.push_back({unique_name(node_name.empty() ? op : node_name, nodes),
                   domain,
                   op,
                   std::move(node_inputs),
                   std::move(node_outputs),
                   {}});
  return nodes.back();
}

std::vector<NodeId> Graph::producers() const {
  std::vector<NodeId> producer(values.size(), kNoNode);
  for (NodeId n = 0; n < NodeId(nodes.size()); ++n) {
    for (ValueId v : nodes[size_t(n)].outputs) {
      if (v != kNoValue) producer[size_t(v)] = n;
    }
  }
  return producer;
}

std::vector<std::vector<NodeId>> Graph::consumers() const {
  std::vector<std::vector<NodeId>> readers(values.size());
  for (NodeId n = 0; n < NodeId(nodes.size()); ++n) {
    for (ValueId v : nodes[size_t(n)].inputs) {
      if (v != kNoValue) readers[size_t(v)].push_back(n);
    }
  }
  return readers;
}

bool Graph::is_output(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::erase_nodes(const std::vector<bool>& dead) {
  std::vector<Node> kept_nodes;
  std::vector<bool> used(values.size(), false);
  const auto mark = [&](const std::vector<ValueId>& ids) {
    for (ValueId v : ids) {
      if (v != kNoValue) used[size_t(v)] = true;
    }
  };
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (dead[n]) continue;
    mark(nodes[n].inputs);
    mark(nodes[n].outputs);
    kept_nodes.push_back(std::move(nodes[n]));
  }
  mark(inputs);
  mark(outputs);
  nodes = std::move(kept_nodes);

  std::vector<ValueId> renumbered(values.size(), kNoValue);
  std::vector<Value> kept_values;
  for (size_t v = 0; v < values.size(); ++v) {
    if (!used[v]) continue;
    renumbered[v] = ValueId(kept_values.size());
    kept_values.push_back(std::move(values[v]));
  }
  values = std::move(kept_values);
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& v : ids) v = v == kNoValue ? kNoValue : renumbered[size_t(v)];
  };
  for (Node& node : nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
  renumber(inputs);
  renumber(outputs);
}

void Graph::remove_dead() {
  std::vector<bool> needed(values.size(), false), dead(nodes.size(), true);
  for (ValueId v : outputs) needed[size_t(v)] = true;
  for (size_t n = nodes.size(); n-- > 0;) {
    for (ValueId& v : nodes[n].outputs) {
      if (v != kNoValue && needed[size_t(v)]) dead[n] = false;
    }
    if (dead[n]) continue;
    for (ValueId v : nodes[n].inputs) {
      if (v != kNoValue) needed[size_t(v)] = true;
    }
  }
  erase_nodes(dead);
}

void Graph::sort_topologically() {
  const std::vector<NodeId> producer = producers();
  const std::vector<std::vector<NodeId>> readers = consumers();
  std::vector<int> waiting(nodes.size(), 0);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;  // lowest old position first
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (ValueId v : nodes[n].inputs) waiting[n] += v != kNoValue && producer[size_t(v)] != kNoNode;
    if (waiting[n] == 0) ready.push(NodeId(n));
  }
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  while (!ready.empty()) {
    const NodeId n = ready.top();
    ready.pop();
    for (ValueId v : nodes[size_t(n)].outputs) {
      if (v == kNoValue) continue;
      for (NodeId reader : readers[size_t(v)]) {
        if (--waiting[size_t(reader)] == 0) ready.push(reader);
      }
    }
    waiting[size_t(n)] = -1;
    sorted.push_back(nodes[size_t(n)]);
  }
  if (sorted.size() != nodes.size()) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int count) { return count > 0; });
    const Node& node = nodes[size_t(stuck - waiting.begin())];
    throw Error({{ErrorKind::kInvalidInput, where(node), node.op, "is part of a cycle", ""}});
  }
  nodes = std::move(sorted);
}

}  // namespace tilewright
