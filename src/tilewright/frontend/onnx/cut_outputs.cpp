// Outputs chosen by the user replace those of the file; what only the others need is not looked at.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/graph_builder.h"

namespace tilewright {
namespace {

// The value that `name` means: a value, or the first output of a node; empty if there is neither.
std::string value_called(const OnnxModel& model, const std::string& name) {
  for (const OnnxNode& node : model.nodes) {
    if (std::ranges::find(node.outputs, name) != node.outputs.end()) return name;
  }
  for (const OnnxNode& node : model.nodes) {
    if (node.name == name && !node.outputs.empty()) return node.outputs[0];
  }
  return "";
}

}  // namespace

void cut_at_outputs(OnnxModel& model, const std::vector<std::string>& outputs, Diagnostics& diagnostics) {
  if (outputs.empty()) return;
  std::vector<OnnxValueInfo> chosen;
  for (const std::string& name : outputs) {
    OnnxValueInfo info;
    info.name = value_called(model, name);
    if (info.name.empty()) {
      diagnostics.error(ErrorKind::kInvalidInput, fmt::format("output '{}'", name), "",
                        "is neither a node nor what a node computes",
                        "'tilewright inspect' lists the nodes of a model that can be read");
      continue;
    }
    const auto declared = std::ranges::find(model.outputs, info.name, &OnnxValueInfo::name);
    chosen.push_back(declared != model.outputs.end() ? *declared : info);
  }
  model.outputs = std::move(chosen);
  std::unordered_map<std::string, const OnnxNode*> producers;
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& output : node.outputs) producers.emplace(output, &node);
  }
  std::unordered_set<std::string> needed;
  std::unordered_set<const OnnxNode*> kept;
  std::vector<std::string> open;
  for (const OnnxValueInfo& info : model.outputs) open.push_back(info.name);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!needed.insert(name).second) continue;
    const auto producer = producers.find(name);
    if (producer == producers.end() || !kept.insert(producer->second).second) continue;
    for (const std::string& input : names_read(*producer->second)) open.push_back(input);
  }
  std::vector<OnnxNode> nodes;
  for (OnnxNode& node : model.nodes) {
    if (kept.count(&node)) nodes.push_back(std::move(node));
  }
  model.nodes = std::move(nodes);
  std::erase_if(model.inputs, [&](const OnnxValueInfo& input) { return !needed.count(input.name); });
  std::erase_if(model.initializers,
                [&](const auto& initializer) { return !needed.count(initializer.first); });
}

}  // namespace tilewright
