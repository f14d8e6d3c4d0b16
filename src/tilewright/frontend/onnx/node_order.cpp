// Kahn's algorithm over names, always taking the ready node that stands first in the file.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/graph_builder.h"

namespace tilewright {
namespace {

constexpr size_t kNotProduced = size_t(-1);

struct Names {
  std::unordered_map<std::string, size_t> producer;  // by value name: node index, or kNotProduced for sources
};

Names collect_names(const OnnxGraph& model, Diagnostics& diagnostics) {
  Names names;
  std::unordered_set<std::string> initializers;
  for (const auto& [name, tensor] : model.initializers) {
    if (!initializers.insert(name).second) {
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("initializer '{}'", name), "", "appears twice");
    }
    names.producer.emplace(name, kNotProduced);
  }
  std::unordered_set<std::string> inputs;
  for (const OnnxValueInfo& input : model.inputs) {
    if (!inputs.insert(input.name).second) {
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", input.name), "", "appears twice");
    }
    names.producer.emplace(input.name, kNotProduced);
  }
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    const OnnxNode& node = model.nodes[n];
    for (const std::string& output : node.outputs) {
      if (output.empty() || names.producer.emplace(output, n).second) continue;
      diagnostics.error(ErrorKind::kInvalidInput, node.label, node.op,
                        fmt::format("produces '{}', which exists already", output));
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> names_read(const OnnxNode& node) {
  std::vector<std::string> names = node.inputs;
  for (const auto& [attribute, body] : node.graphs) {
    std::unordered_set<std::string> own;
    for (const auto& [name, tensor] : body->initializers) own.insert(name);
    for (const OnnxValueInfo& input : body->inputs) own.insert(input.name);
    for (const OnnxNode& inner : body->nodes) own.insert(inner.outputs.begin(), inner.outputs.end());
    const auto add = [&](const std::string& name) {
      if (!own.count(name)) names.push_back(name);
    };
    for (const OnnxNode& inner : body->nodes) std::ranges::for_each(names_read(inner), add);
    for (const OnnxValueInfo& output : body->outputs) add(output.name);
  }
  return names;
}

std::vector<size_t> order_onnx_nodes(const OnnxGraph& model,
                                     const std::function<bool(const std::string&)>& is_around,
                                     Diagnostics& diagnostics) {
  const Names names = collect_names(model, diagnostics);
  std::vector<int> waiting(model.nodes.size(), 0);
  std::vector<std::vector<size_t>> readers(model.nodes.size());
  std::unordered_set<std::string> reported;
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    for (const std::string& input : names_read(model.nodes[n])) {
      if (input.empty()) continue;
      const auto found = names.producer.find(input);
      if (found == names.producer.end()) {
        if (is_around(input)) continue;
        if (reported.insert(input).second) {
          diagnostics.error(ErrorKind::kInvalidInput, model.nodes[n].label, model.nodes[n].op,
                            fmt::format("reads '{}', which nothing produces", input));
        }
        continue;
      }
      if (found->second == kNotProduced) continue;
      readers[found->second].push_back(n);
      ++waiting[n];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    if (waiting[n] == 0) ready.push(n);
  }
  std::vector<size_t> order;
  order.reserve(model.nodes.size());
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (const size_t reader : readers[n]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() < model.nodes.size()) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int count) { return count > 0; });
    const OnnxNode& node = model.nodes[size_t(stuck - waiting.begin())];
    diagnostics.error(ErrorKind::kInvalidInput, node.label, node.op, "is on a cycle, or after one");
  }
  return order;
}

}  // namespace tilewright
