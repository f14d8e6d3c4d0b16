// Turns preferences (a tile for every unit, an order of the nodes) into a valid placement: the one decoder
// behind random sampling, annealing, evolution and list scheduling.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/cgra/heuristic/placement_state.h"
#include "tilewright/search/objective.h"
#include "tilewright/search/space.h"

namespace tilewright::cgra {

struct PlacementGenes {
  std::vector<int16_t> tile;  // per unit: the wanted tile
  std::vector<int16_t>
      rank;  // per node: of the nodes whose operands are placed, the lowest rank is placed next
  bool operator==(const PlacementGenes&) const = default;
};

// Places node after node at its earliest start on the wanted tile, or, where that is impossible, on the
// possible tile nearest to it. A dead end returns nothing.
class PlacementDecoder {
 public:
  explicit PlacementDecoder(const PlacementModel& model);
  std::optional<std::vector<Place>> decode(const PlacementGenes& genes) const;

  const PlacementModel& model() const { return *model_; }
  // Longest chain of operations from the node's start to the end of the graph, in clocks, loops left out.
  const std::vector<int>& tail_cycles() const { return tail_; }
  // Tiles by transfer time from a tile, nearest first.
  const std::vector<int16_t>& nearest(int tile) const { return nearest_[size_t(tile)]; }

 private:
  const PlacementModel* model_;
  std::vector<int> waiting_;  // per node: operands of the same thread
  std::vector<int> tail_;
  std::vector<std::vector<int16_t>> nearest_;
};

// The space that the searches of module `search` work on.
struct PlacementSpace {
  using Solution = PlacementGenes;
  using Value = Lexicographic<int, int64_t>;  // makespan; sum of all starts
  explicit PlacementSpace(const PlacementModel& model) : decoder(model) {}

  Solution sample(Random& random) const;
  std::optional<Value> cost(const Solution& genes) const;
  Solution neighbour(Solution genes, Random& random) const;
  // A node that holds up the end: on the chain of starts without wait that leads to the last one.
  int critical_node(const Solution& genes, Random& random) const;
  Solution crossover(const Solution& a, const Solution& b, Random& random) const;

  PlacementDecoder decoder;
};

}  // namespace tilewright::cgra
