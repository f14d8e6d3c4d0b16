// The best mapping with factors that need not divide, exact accounting: spatial factors in ascending order of
// a bound, under them the register file tiles, under those the buffer's tiles.
#pragma once

#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/spatial/lattice/remainder_bounds.h"
#include "tilewright/spatial/lattice/tile_search.h"

namespace tilewright::lattice {

class RemainderSearch {
 public:
  RemainderSearch(const LatticeCase& problem, const MapperOptions& options);

  // Starts from `start`, if given. Fills the result except for what concerns the mapspace as a whole; false
  // if there is no mapping. The deadline is the case's; the status says if part of the space was not
  // searched.
  bool run(const MapResult* start, const Deadline& deadline, MapResult& result);

 private:
  struct SpatialChoice {
    std::vector<int64_t> factors;
    double least_energy = 0, least_cycles = 0;
  };
  // The state of one node, from the spatial factors down.
  struct Node {
    std::vector<int64_t> spatial;
    std::vector<LowChoice> low;
    std::vector<MiddleChoice> middle;
    std::vector<int64_t> extents;  // of register file tiles, later of the buffer's
    double energy_floor = 0, cycles = 0;
    Counts low_tiles{}, array_tiles{}, used{}, middle_tiles{}, active{};
    double swept[kMaxSpaces] = {};  // words that all instances touch, by space
  };

  void search();
  void list_spatial();
  void extend_spatial(std::vector<int64_t>& factors, double instances);
  double least_energy_with(const std::vector<int64_t>& factors) const;
  void choose_low(Node& node, int dimension, double steps);
  bool fits_array(const Node& node, std::vector<int64_t>* on_x) const;
  void try_split(Node& node);
  bool middle_may_win(const Node& node, const OrderClass& orders, int order_class, int mask, double others,
                      double at_rest_reads, double at_rest_fills, const BoundaryWeights& weights) const;
  void choose_middle(Node& node, int dimension, int mask);
  // The least energy of tiles whose dimensions from `open` on are still to be chosen.
  struct Estimate {
    double energy = 0;
    int middle_class = 0, top_class = 0;
  };
  // The innermost loops are of the dimensions `first_middle` and `first_top`.
  Estimate estimate(const Node& node, uint32_t mask, int open, uint32_t first_middle,
                    uint32_t first_top) const;
  bool first_in_none(uint32_t first) const { return (first & ignored_by_any_) == 0; }
  void cost(Node& node, int mask);
  // How often the loops a space ignores make it pass into the register files: by all array tiles, by the
  // buffer's tiles along the dimensions of `run` (at rest there), or once.
  struct Passes {
    uint32_t run = 0;
    bool once = false;
  };
  double low_energy(const Node& node, int space, uint32_t mask, const Passes& passes) const;
  Passes passes_of(int space, uint32_t inside, const OrderClass& middle, const OrderClass& top) const;
  void try_mapping(const Node& node, int mask, int middle_class, int top_class);
  void try_orders(const Node& node, int mask);
  // Orders, innermost first, one for each cost that an order of the loops can have.
  std::vector<std::vector<int>> distinct_orders(const std::vector<int>& loops, uint32_t first) const;
  Mapping build(const Node& node, uint32_t mask, const std::vector<int>& middle_order,
                const std::vector<int>& top_order) const;
  void offer(const Mapping& mapping);
  double swept_words(const CaseSpace& space, const Node& node);

  const LatticeCase& problem_;
  MapperOptions options_;
  RemainderChoices choices_;
  MiddleGrid grid_;
  std::vector<OrderClass> classes_;
  std::vector<double> elements_;
  bool windowed_ = false;
  uint32_t ignored_by_any_ = 0;
  uint32_t replaces_ = 0;  // dimensions whose loops replace the window's tile wholly
  std::vector<SpatialChoice> spatial_;
  TileIncumbent incumbent_;
  MapResult* result_ = nullptr;
  const Deadline* deadline_ = nullptr;
  DeadlineWatch watch_;
};

}  // namespace tilewright::lattice
