// Candidate permutations of the grid are checked against the transfer times, orbits joined by union-find.
// Twins are found by equal signatures of neighbours.
#include "tilewright/cgra/exact/symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tilewright::cgra {
namespace {

std::vector<std::vector<int>> candidates(int rows, int columns) {
  std::vector<std::vector<int>> permutations;
  const auto add = [&](auto&& target) {
    std::vector<int> permutation;
    for (int tile = 0; tile < rows * columns; ++tile)
      permutation.push_back(target(tile / columns, tile % columns));
    permutations.push_back(std::move(permutation));
  };
  add([&](int row, int column) { return row * columns + columns - 1 - column; });
  add([&](int row, int column) { return (rows - 1 - row) * columns + column; });
  add([&](int row, int column) { return row * columns + (column + 1) % columns; });
  add([&](int row, int column) { return (row + 1) % rows * columns + column; });
  if (rows == columns) add([&](int row, int column) { return column * columns + row; });
  // Half turns remain where memory columns or fixed tiles rule out the reflections themselves.
  add([&](int row, int column) { return (rows - 1 - row) * columns + columns - 1 - column; });
  return permutations;
}

bool keeps_transfers(const std::vector<int>& permutation, const std::vector<std::vector<int>>& transfer,
                     const std::vector<std::vector<uint8_t>>& allowed) {
  const size_t tiles = permutation.size();
  for (size_t a = 0; a < tiles; ++a) {
    for (size_t b = 0; b < tiles; ++b) {
      if (transfer[a][b] != transfer[permutation[a]][permutation[b]]) return false;
    }
    for (const std::vector<uint8_t>& row : allowed) {
      if (row[a] != row[permutation[a]]) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<int> tile_representatives(const std::vector<std::vector<int>>& transfer, int columns,
                                      const std::vector<std::vector<uint8_t>>& allowed) {
  const int tiles = int(transfer.size());
  std::vector<int> first(tiles);
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](int tile) {
    while (first[tile] != tile) tile = first[tile] = first[first[tile]];
    return tile;
  };
  for (const std::vector<int>& permutation : candidates(tiles / columns, columns)) {
    if (!keeps_transfers(permutation, transfer, allowed)) continue;
    for (int tile = 0; tile < tiles; ++tile) {
      const int a = root(tile), b = root(permutation[tile]);
      first[std::max(a, b)] = std::min(a, b);
    }
  }
  for (int tile = 0; tile < tiles; ++tile) first[tile] = root(tile);
  return first;
}

std::vector<std::vector<int>> twin_nodes(const PlacementConstraints& constraints,
                                         const SortedConstraints& sorted) {
  const int nodes = constraints.model.nodes;
  std::vector<std::vector<std::tuple<int, int, int>>> neighbours(nodes);  // direction, other, distance
  for (const Edge& edge : sorted.edges) {
    neighbours[edge.from].emplace_back(0, edge.to, edge.distance);
    neighbours[edge.to].emplace_back(1, edge.from, edge.distance);
  }
  std::map<std::tuple<std::vector<std::tuple<int, int, int>>, std::vector<uint8_t>, int, int>,
           std::vector<int>>
      alike;
  for (int node = 0; node < nodes; ++node) {
    const bool alone = sorted.units[sorted.unit[node]].size() == 1;
    if (!alone || !sorted.occupies[node] || sorted.counted[node] != sorted.counted.front() ||
        sorted.fixed_time[node] >= 0 || sorted.stored[node])
      continue;
    std::sort(neighbours[node].begin(), neighbours[node].end());
    alike[{neighbours[node], sorted.allowed[sorted.unit[node]], constraints.release(node),
           constraints.tail(node)}]
        .push_back(node);
  }
  const auto apart_without = [&](int node, int other) {
    std::vector<int> units = sorted.apart_of[sorted.unit[node]];
    std::erase(units, sorted.unit[other]);
    return units;
  };
  std::vector<std::vector<int>> twins;
  for (const auto& [signature, group] : alike) {
    std::vector<int> same;
    for (const int node : group) {
      if (same.empty() || apart_without(node, same.front()) == apart_without(same.front(), node))
        same.push_back(node);
    }
    if (same.size() > 1) twins.push_back(std::move(same));
  }
  return twins;
}

}  // namespace tilewright::cgra
