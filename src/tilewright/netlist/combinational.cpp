// Modules are finished before those that instantiate them. In a module, depth-first search over its nets
// finds loops, and reachability from every input gives the paths that its users see.
#include "tilewright/netlist/combinational.h"

#include <algorithm>

namespace tilewright::netlist {
namespace {

using Successors = std::vector<std::vector<NetId>>;

Successors successors(const Module& module, const std::vector<std::pair<NetId, NetId>>& edges) {
  Successors result(module.nets.size());
  for (const auto& [from, to] : edges) result[size_t(from)].push_back(to);
  return result;
}

}  // namespace

CombinationalPaths::CombinationalPaths(const Netlist& design, const Library& library)
    : design_(design), library_(library) {
  for (const Module& module : design.modules) paths_of(module);
}

const CombinationalPaths::PortPairs& CombinationalPaths::paths_of(const Module& module) {
  const auto known = paths_.find(module.name);
  if (known != paths_.end()) return known->second;
  paths_[module.name];  // modules that contain themselves end here; the verifier names them
  for (const Instance& instance : module.instances) {
    if (const Module* const inner = design_.module(instance.module)) paths_of(*inner);
  }
  const Successors next = successors(module, edges(module));
  PortPairs pairs;
  for (const Port& input : module.ports) {
    const NetId start = module.net(input.name);
    if (input.direction != Direction::kInput || start == kNoNet) continue;
    std::vector<bool> reached(module.nets.size());
    std::vector<NetId> open{start};
    while (!open.empty()) {
      const NetId net = open.back();
      open.pop_back();
      for (const NetId to : next[size_t(net)]) {
        if (!reached[size_t(to)]) open.push_back(to);
        reached[size_t(to)] = true;
      }
    }
    for (const Port& output : module.ports) {
      const NetId end = module.net(output.name);
      if (output.direction == Direction::kOutput && end != kNoNet && reached[size_t(end)]) {
        pairs.insert({input.name, output.name});
      }
    }
  }
  return paths_[module.name] = pairs;
}

CombinationalPaths::PortPairs CombinationalPaths::paths_of(const Instance& instance) const {
  if (design_.module(instance.module) != nullptr) return paths_.at(instance.module);
  PortPairs pairs;
  std::vector<Port> ports;
  if (!library_.ports(instance.module, instance.parameters, ports)) return pairs;
  for (const Port& output : ports) {
    if (output.direction != Direction::kOutput) continue;
    for (const Port& input : ports) {
      if (input.direction == Direction::kInput &&
          library_.combinational(instance.module, instance.parameters, output.name, input.name)) {
        pairs.insert({input.name, output.name});
      }
    }
  }
  return pairs;
}

std::vector<std::pair<NetId, NetId>> CombinationalPaths::edges(const Module& module) const {
  std::vector<std::pair<NetId, NetId>> result;
  for (const Assign& assign : module.assigns) {
    for (const NetId operand : assign.operands) result.emplace_back(operand, assign.result);
  }
  for (const Instance& instance : module.instances) {
    for (const auto& [input, output] : paths_of(instance)) {
      const auto from = instance.connections.find(input), to = instance.connections.find(output);
      if (from == instance.connections.end() || to == instance.connections.end()) continue;
      if (from->second != kNoNet && to->second != kNoNet) result.emplace_back(from->second, to->second);
    }
  }
  return result;
}

std::vector<NetId> CombinationalPaths::loop(const Module& module) const {
  const Successors next = successors(module, edges(module));
  enum class Mark { kNew, kOpen, kDone };
  std::vector<Mark> marks(module.nets.size(), Mark::kNew);
  for (NetId root = 0; root < NetId(module.nets.size()); ++root) {
    std::vector<std::pair<NetId, size_t>> path;  // a net, and how many of its successors were seen
    if (marks[size_t(root)] == Mark::kNew) path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [net, seen] = path.back();
      marks[size_t(net)] = Mark::kOpen;
      if (seen == next[size_t(net)].size()) {
        marks[size_t(net)] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const NetId to = next[size_t(net)][seen++];
      if (marks[size_t(to)] == Mark::kNew) {
        path.emplace_back(to, 0);
      } else if (marks[size_t(to)] == Mark::kOpen) {
        const auto begin =
            std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == to; });
        std::vector<NetId> nets;
        for (auto step = begin; step != path.end(); ++step) nets.push_back(step->first);
        return nets;
      }
    }
  }
  return {};
}

}  // namespace tilewright::netlist
