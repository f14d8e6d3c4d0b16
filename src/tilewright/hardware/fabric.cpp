// Fabrics: their links and transfer times. Links follow from the grid: from every tile, each span along each
// dimension, both ways, around the edge where the fabric wraps. Transfer times are shortest paths over the
// links, found with a queue per distance (Dial's algorithm), since distances are small whole numbers.
#include "tilewright/hardware/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tilewright/base/plain_text.h"

namespace tilewright {
namespace {

// Neighbour of coordinate `at` by `step` in a dimension of `size`; -1 outside.
int moved(int at, int step, int size, bool wrap) {
  const int to = at + step;
  if (to >= 0 && to < size) return to;
  return wrap && size > 1 ? ((to % size) + size) % size : -1;
}

constexpr int kFar = 1 << 28;

std::vector<int> distances_from(int start, const std::vector<std::vector<FabricLink>>& leaving,
                                bool count_links) {
  std::vector<int> distance(leaving.size(), kFar);
  std::vector<std::vector<int>> open{{start}};  // by distance
  distance[start] = 0;
  for (int so_far = 0; so_far < int(open.size()); ++so_far) {
    while (!open[so_far].empty()) {
      const int tile = open[so_far].back();
      open[so_far].pop_back();
      if (distance[tile] != so_far) continue;  // found nearer meanwhile
      for (const FabricLink& link : leaving[tile]) {
        const int next = so_far + (count_links ? 1 : link.cycles);
        if (next >= distance[link.to]) continue;
        distance[link.to] = next;
        if (next >= int(open.size())) open.resize(next + 1);
        open[next].push_back(link.to);
      }
    }
  }
  return distance;
}

std::vector<std::vector<FabricLink>> leaving_links(const Fabric& fabric) {
  std::vector<std::vector<FabricLink>> leaving(fabric.tiles());
  for (const FabricLink& link : fabric_links(fabric)) leaving[link.from].push_back(link);
  return leaving;
}

}  // namespace

std::vector<FabricLink> fabric_links(const Fabric& fabric) {
  std::vector<FabricLink> links;
  for (int from = 0; from < fabric.tiles(); ++from) {
    const int row = from / fabric.columns, column = from % fabric.columns;
    std::vector<FabricLink> leaving;
    for (const int span : fabric.spans) {
      for (const int step : {-span, span}) {
        const int to_column = moved(column, step, fabric.columns, fabric.wrap);
        const int to_row = moved(row, step, fabric.rows, fabric.wrap);
        if (to_column >= 0) {
          leaving.push_back({from, row * fabric.columns + to_column, span * fabric.cycles_per_distance});
        }
        if (to_row >= 0) {
          leaving.push_back({from, to_row * fabric.columns + column, span * fabric.cycles_per_distance});
        }
      }
    }
    std::sort(leaving.begin(), leaving.end(), [](const FabricLink& a, const FabricLink& b) {
      return std::pair(a.to, a.cycles) < std::pair(b.to, b.cycles);
    });
    int last = from;
    for (const FabricLink& link : leaving) {
      if (link.to != from && link.to != last) links.push_back(link);
      last = link.to;
    }
  }
  return links;
}

std::vector<std::vector<int>> transfer_cycles(const Fabric& fabric, const Deadline* deadline) {
  const std::vector<std::vector<FabricLink>> leaving = leaving_links(fabric);
  const bool within_clock = fabric.cycles_per_distance == 0;
  std::vector<std::vector<int>> cycles;
  for (int from = 0; from < fabric.tiles(); ++from) {
    if (deadline) deadline->check();
    cycles.push_back(distances_from(from, leaving, within_clock));
    for (int& entry : cycles.back()) {
      if (entry == kFar) {
        entry = -1;
      } else if (within_clock && entry > 0) {
        entry = (entry - 1) / fabric.hops_per_cycle;  // the last clock of the way is the consumer's own
      }
    }
  }
  return cycles;
}

void Fabric::verify(Diagnostics& diagnostics) const {
  const auto error = [&](const char* field, std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, "fabric '" + name + "'", field, std::move(message),
                      std::move(hint));
  };
  if (!valid_utf8(name)) error("name", "is not UTF-8", "write it in UTF-8");
  if (rows < 1 || columns < 1) {
    error("columns", fmt::format("{} x {} tiles are not an array", rows, columns),
          "at least one row and one column");
    return;
  }
  if (int64_t{rows} * columns > kMostTiles) {
    error("rows", fmt::format("{} x {} tiles", rows, columns), fmt::format("at most {}", kMostTiles));
    return;
  }
  if (spans.empty() && tiles() > 1) error("spans", "no links between the tiles", "e.g. [1, 2]");
  const int longest = std::max(rows, columns) - 1;
  for (const int span : spans) {
    if (span < 1 || (span > longest && tiles() > 1)) {
      error("spans", fmt::format("{} is outside 1..{} of {} x {} tiles", span, longest, rows, columns),
            "distances along one dimension");
    }
  }
  if (operation_latency_cycles < 1) error("operation_latency_cycles", "is below 1", "a result takes a clock");
  if (cycles_per_distance < 0) error("cycles_per_distance", "is negative", "0: links within the clock");
  if (hops_per_cycle < 1) error("hops_per_cycle", "is below 1", "1: one link in a clock");
  if (!diagnostics.ok()) return;
  const std::vector<int> reach = distances_from(0, leaving_links(*this), true);
  std::string cut_off;
  for (int tile = 0; tile < tiles(); ++tile) {
    if (reach[tile] == kFar) cut_off += (cut_off.empty() ? "" : ", ") + std::to_string(tile);
  }
  if (!cut_off.empty()) error("spans", "no links lead from tile 0 to tiles " + cut_off, "add a span of 1");
}

}  // namespace tilewright
