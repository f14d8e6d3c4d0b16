// The fit of a problem's parts, before anything is searched.
#include "tilewright/cgra/problem/problem.h"

#include <fmt/format.h>

namespace tilewright::cgra {
namespace {

constexpr int kMostWait = 1 << 24;  // clocks between a value and a later iteration that reads it
constexpr int kMostTime = 1 << 24;  // clocks to the start of a fixed node: sums of several stay within an int

}  // namespace

Rules usual_rules(const Fabric& fabric) {
  Rules rules;
  rules.starters_apart = fabric.starters_apart;
  rules.siblings_apart = fabric.siblings_apart;
  return rules;
}

void MappingProblem::verify(Diagnostics& diagnostics) const {
  const auto error = [&](std::string where, const char* field, std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, std::move(where), field, std::move(message), std::move(hint));
  };
  fabric.verify(diagnostics);
  graph.verify(fabric.operands, diagnostics);
  if (ii < 1 || ii > fabric.max_ii) {
    error("fabric '" + fabric.name + "'", "ii", fmt::format("{} is outside 1..{}", ii, fabric.max_ii),
          "the spoke RAM holds one entry per slot");
  }
  for (const DataflowNode& node : graph.nodes) {
    for (const Operand& operand : node.operands) {
      if (operand.kind != OperandKind::kNode || int64_t{operand.distance} * ii <= kMostWait) continue;
      error("node '" + node.name + "'", "operands",
            fmt::format("a distance of {} iterations, {} clocks apart", operand.distance, ii),
            fmt::format("at most {} clocks together", kMostWait));
    }
  }
  for (const auto* fixed : {&fixed_tiles, &fixed_times}) {
    if (!fixed->empty() && fixed->size() != graph.nodes.size()) {
      error("problem", "fixed", "one entry per node is expected", "leave free nodes empty");
      return;
    }
  }
  if (!graph.variables.empty() && fabric.tile_memories == 0) {
    error("fabric '" + fabric.name + "'", "tile_memories",
          "the graph has variables, the tiles have no memories", "take a fabric with tile memories");
  }
  for (size_t node = 0; node < fixed_tiles.size(); ++node) {
    if (fixed_tiles[node] && (*fixed_tiles[node] < 0 || *fixed_tiles[node] >= fabric.tiles())) {
      error("node '" + graph.nodes[node].name + "'", "fixed",
            fmt::format("tile {} does not exist", *fixed_tiles[node]),
            fmt::format("0..{}", fabric.tiles() - 1));
    }
  }
  for (size_t node = 0; node < fixed_times.size(); ++node) {
    if (fixed_times[node] && *fixed_times[node] < 0) {
      error("node '" + graph.nodes[node].name + "'", "fixed", "a time below 0", "times count from 0");
    }
    if (fixed_times[node] && *fixed_times[node] > kMostTime) {
      error("node '" + graph.nodes[node].name + "'", "fixed",
            fmt::format("a time of {} clocks", *fixed_times[node]), fmt::format("at most {}", kMostTime));
    }
  }
  if (!diagnostics.ok() || fixed_tiles.empty() || !rules.variables_together) return;
  for (const std::vector<int>& group : graph.same_tile_groups()) {
    int first = -1;
    for (const int node : group) {
      if (!fixed_tiles[node]) continue;
      if (first >= 0 && *fixed_tiles[first] != *fixed_tiles[node]) {
        error("node '" + graph.nodes[node].name + "'", "fixed",
              fmt::format("shares a variable with '{}', which is fixed to tile {} (this one: {})",
                          graph.nodes[first].name, *fixed_tiles[first], *fixed_tiles[node]),
              "a variable lives on one tile");
      }
      first = node;
    }
  }
}

}  // namespace tilewright::cgra
