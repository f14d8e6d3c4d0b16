// Corners by grid coordinates; symmetries by trying the eight maps of a rectangle (those that shift, too,
// where the array wraps) and keeping those under which links and allowed tiles stay what they are.
#include "tilewright/cgra/kernel/sub_array.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace tilewright::cgra {
namespace {

// Calls visit(map) for each; one at a time, since a large torus has a great many.
template <typename Visit>
void candidate_symmetries(const Fabric& fabric, const Visit& visit) {
  const int rows = fabric.rows, columns = fabric.columns;
  for (int kind = 0; kind < 8; ++kind) {
    if ((kind & 4) != 0 && rows != columns) continue;
    for (int shift = 0; shift < (fabric.wrap ? rows * columns : 1); ++shift) {
      std::vector<int> map;
      for (int tile = 0; tile < rows * columns; ++tile) {
        int row = (tile / columns + shift / columns) % rows;
        int column = (tile % columns + shift % columns) % columns;
        if ((kind & 1) != 0) row = rows - 1 - row;
        if ((kind & 2) != 0) column = columns - 1 - column;
        if ((kind & 4) != 0) std::swap(row, column);
        map.push_back(row * columns + column);
      }
      visit(map);
    }
  }
}

bool keeps_links(const std::vector<int>& map, const std::set<std::pair<int, int>>& links,
                 const std::vector<std::vector<uint8_t>>& allowed) {
  for (const auto& [from, to] : links) {
    if (links.count({map[from], map[to]}) == 0) return false;
  }
  for (const std::vector<uint8_t>& tiles : allowed) {
    for (size_t tile = 0; tile < tiles.size(); ++tile) {
      if (tiles[tile] != tiles[map[tile]]) return false;
    }
  }
  return true;
}

}  // namespace

Fabric corner_array(const Fabric& fabric, int rows, int columns) {
  Fabric corner = fabric;
  corner.rows = rows;
  corner.columns = columns;
  corner.wrap = fabric.wrap && rows == fabric.rows && columns == fabric.columns;
  std::erase_if(corner.spans, [&](int span) { return span > std::max(rows, columns) - 1; });
  return corner;
}

GraphMapping embed_mapping(GraphMapping mapping, const Fabric& corner, const Fabric& fabric) {
  const auto moved = [&](int tile) { return tile / corner.columns * fabric.columns + tile % corner.columns; };
  for (Place& place : mapping.places) place.tile = moved(place.tile);
  for (Route& route : mapping.routes) {
    for (RouteStep& step : route) step.tile = moved(step.tile);
  }
  return mapping;
}

std::vector<Fabric> growing_arrays(const Fabric& fabric, int operations, int ii) {
  std::vector<Fabric> arrays;
  for (int side = 4; side <= std::max(fabric.rows, fabric.columns); ++side) {
    const int rows = std::min(side, fabric.rows), columns = std::min(side, fabric.columns);
    Fabric corner = corner_array(fabric, rows, columns);
    corner.wrap = false;
    if (corner != fabric && int64_t(rows) * columns * ii >= operations) arrays.push_back(std::move(corner));
  }
  arrays.push_back(fabric);
  return arrays;
}

std::vector<int> representative_tiles(const Fabric& fabric, const std::vector<std::vector<uint8_t>>& allowed,
                                      const Deadline* deadline) {
  std::set<std::pair<int, int>> links;
  for (const FabricLink& link : fabric_links(fabric)) links.insert({link.from, link.to});
  std::vector<int> least(fabric.tiles());
  std::iota(least.begin(), least.end(), 0);
  candidate_symmetries(fabric, [&](const std::vector<int>& map) {
    if (deadline) deadline->check();
    if (!keeps_links(map, links, allowed)) return;
    for (int tile = 0; tile < fabric.tiles(); ++tile) least[tile] = std::min(least[tile], map[tile]);
  });
  std::vector<int> tiles;
  for (int tile = 0; tile < fabric.tiles(); ++tile) {
    if (least[tile] == tile) tiles.push_back(tile);
  }
  return tiles;
}

}  // namespace tilewright::cgra
