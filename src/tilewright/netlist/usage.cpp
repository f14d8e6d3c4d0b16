// Marks bit by bit; nets are at most some thousand bits wide.
#include "tilewright/netlist/usage.h"

#include <algorithm>

namespace tilewright::netlist {

BitUsage::BitUsage(const Module& module) {
  for (const Net& net : module.nets) read_.emplace_back(size_t(net.width), false);
  for_each_read(module, [&](NetId net, int low, int width) {
    std::vector<bool>& bits = read_[size_t(net)];
    std::fill(bits.begin() + low, bits.begin() + low + width, true);
  });
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
