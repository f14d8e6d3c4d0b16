// Marks bit by bit; nets are at most some thousand bits wide.
#include "tilewright/netlist/usage.h"

#include <algorithm>

namespace tilewright::netlist {

BitUsage::BitUsage(const Module& module, const Netlist& design, const Library& library) {
  for (const Net& net : module.nets) read_.emplace_back(size_t(net.width), false);
  for_each_read(module, [&](NetId net, int low, int width) {
    std::vector<bool>& bits = read_[size_t(net)];
    std::fill(bits.begin() + low, bits.begin() + low + width, true);
  });
  for (const Instance& instance : module.instances) {
    std::vector<Port> ports;
    if (const Module* const inner = design.module(instance.module)) {
      ports = inner->ports;
    } else {
      library.ports(instance.module, instance.parameters, ports);
    }
    for (const Port& port : ports) {
      const auto connected = instance.connections.find(port.name);
      if (port.direction != Direction::kInput || connected == instance.connections.end()) continue;
      if (connected->second == kNoNet) continue;
      std::vector<bool>& bits = read_[size_t(connected->second)];
      std::fill(bits.begin(), bits.end(), true);
    }
  }
}

bool BitUsage::all_read(NetId net) const {
  const std::vector<bool>& bits = read_[size_t(net)];
  return std::find(bits.begin(), bits.end(), false) == bits.end();
}

bool uses_clock(const Module& module) {
  return !module.registers.empty() || !module.memories.empty() || !module.fifos.empty() ||
         !module.pipelines.empty() || !module.state_machines.empty() || !module.instances.empty();
}

}  // namespace tilewright::netlist
