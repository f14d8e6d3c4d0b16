// The order of a design's combinational logic.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// Which inputs of each module its outputs depend on within a cycle, through instances too.
class CombinationalPaths {
 public:
  // Errors: what Library::ports throws.
  CombinationalPaths(const Netlist& design, const Library& library);

  // Nets of `module` by the nets that they depend on directly: (from, to).
  std::vector<std::pair<NetId, NetId>> edges(const Module& module) const;
  // A loop as nets, each depending on the one before; empty: there is none.
  std::vector<NetId> loop(const Module& module) const;

 private:
  using PortPairs = std::set<std::pair<std::string, std::string>>;  // input, output
  const PortPairs& paths_of(const Module& module);
  PortPairs paths_of(const Instance& instance) const;

  const Netlist& design_;
  const Library& library_;
  std::map<std::string, PortPairs> paths_;
};

}  // namespace tilewright::netlist
