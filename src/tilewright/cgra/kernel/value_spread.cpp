// Reachability within a clock is unrolled hop by hop; a level demands the level before on the same tile or,
// with its link taken, on a neighbour. Causes lead back in time, so no model holds a value without origin.
#include "tilewright/cgra/kernel/value_spread.h"

namespace tilewright::cgra {

LinkTable::LinkTable(const Fabric& fabric)
    : tiles(fabric.tiles()), hops(fabric.hops_per_cycle), links(fabric_links(fabric)), arriving(tiles) {
  for (size_t link = 0; link < links.size(); ++link) arriving[links[link].to].push_back(int(link));
}

ValueSpread::ValueSpread(Cnf& cnf, const LinkTable& table, int clocks,
                         const std::function<int(int, int)>& origin)
    : clocks_(clocks), tiles_(table.tiles), hops_(table.hops), links_(int(table.links.size())) {
  const auto fill = [&](std::vector<int>& variables, size_t count) {
    for (size_t i = 0; i < count; ++i) variables.push_back(cnf.variable());
  };
  cnf.room_for(double(clocks_) * sizeof(int) * (double(hops_ + 2) * tiles_ + links_));
  fill(reach_, size_t(clocks_) * (hops_ + 1) * tiles_);
  fill(waits_, size_t(clocks_) * tiles_);
  fill(crosses_, size_t(clocks_) * links_);
  for (int clock = 0; clock < clocks_; ++clock) {
    for (int tile = 0; tile < tiles_; ++tile) {
      std::vector<int> cause{-reach(clock, 0, tile)};
      if (const int computed = origin(clock, tile); computed != 0) cause.push_back(computed);
      if (clock > 0) cause.push_back(waits(clock - 1, tile));
      cnf.clause(cause);
      cnf.clause({-waits(clock, tile), reaches(clock, tile)});
      add_tile(cnf, table, clock, tile);
    }
  }
}

void ValueSpread::add_tile(Cnf& cnf, const LinkTable& table, int clock, int tile) {
  for (int hops = 1; hops <= hops_; ++hops) {
    std::vector<int> ways{-reach(clock, hops, tile), reach(clock, hops - 1, tile)};
    for (const int link : table.arriving[tile]) {
      const int taken = crosses(clock, link), before = reach(clock, hops - 1, table.links[link].from);
      if (hops_ == 1) {
        ways.push_back(taken);
        cnf.clause({-taken, before});
        continue;
      }
      const int by_link = cnf.variable();
      ways.push_back(by_link);
      cnf.clause({-by_link, taken});
      cnf.clause({-by_link, before});
    }
    cnf.clause(ways);
  }
}

}  // namespace tilewright::cgra
