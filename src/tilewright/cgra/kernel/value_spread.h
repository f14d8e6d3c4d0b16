// Where one value can be, clock after clock, as variables of a formula: the part that formulas over routed
// kernels share.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/cgra/sat/cnf.h"
#include "tilewright/hardware/fabric.h"

namespace tilewright::cgra {

// The links of a fabric, indexed by the tile they arrive at.
struct LinkTable {
  explicit LinkTable(const Fabric& fabric);
  int tiles = 0, hops = 1;
  std::vector<FabricLink> links;
  std::vector<std::vector<int>> arriving;  // per tile: link ids
};

// Variables of a value over consecutive clocks. Each presence implies its cause: the value was computed
// there, waited there in the previous clock, or came over a link in that clock.
class ValueSpread {
 public:
  // `origin(clock, tile)`: the literal under which the value is computed on the tile, to be there at the
  // start of the clock; 0: never.
  ValueSpread(Cnf& cnf, const LinkTable& table, int clocks,
              const std::function<int(int clock, int tile)>& origin);

  int clocks() const { return clocks_; }
  // On the tile at some time within the clock, so that an operation may read it there.
  int reaches(int clock, int tile) const { return reach(clock, hops_, tile); }
  // Stays on the tile into the next clock.
  int waits(int clock, int tile) const { return waits_[size_t(clock) * tiles_ + tile]; }
  // Crosses the link within the clock.
  int crosses(int clock, int link) const { return crosses_[size_t(clock) * links_ + link]; }

 private:
  void add_tile(Cnf& cnf, const LinkTable& table, int clock, int tile);
  int reach(int clock, int hops, int tile) const {
    return reach_[(size_t(clock) * (hops_ + 1) + hops) * tiles_ + tile];
  }

  int clocks_ = 0, tiles_ = 0, hops_ = 1, links_ = 0;
  std::vector<int> reach_;    // [clock][hops 0..][tile]: after at most that many links within the clock
  std::vector<int> waits_;    // [clock][tile]
  std::vector<int> crosses_;  // [clock][link]
};

}  // namespace tilewright::cgra
