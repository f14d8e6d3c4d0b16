// Nodes without multiply-accumulates are no layers, and are not refused either.
#include "tilewright/flow/map/array_target.h"

#include <map>

#include "tilewright/flow/map/map.h"
#include "tilewright/hardware/array_hardware.h"

namespace tilewright {
namespace {

Diagnostics unmapped_nodes(const Graph& graph, const std::string& machine, const SharedFolders& folders) {
  find_array_hardware(machine, folders.hardware);
  std::map<std::string, const Node*> by_name;
  for (const Node& node : graph.nodes) by_name[node.name] = &node;
  Diagnostics refusals;
  for (const UnmappedNode& node : network_of(graph).unmapped)
    refusals.error(ErrorKind::kUnsupported, where(*by_name.at(node.name)), node.op, node.reason);
  return refusals;
}

}  // namespace

const Target& array_target() {
  static const Target target = {.name = "array", .refusals = unmapped_nodes};
  return target;
}

}  // namespace tilewright
