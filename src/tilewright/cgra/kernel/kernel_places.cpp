// Tile and start are one-hot, with their conjunction as a third kind of variable. The total of a slot is
// implied by its tiles; it is added because resolution does not count pigeons by itself.
#include "tilewright/cgra/kernel/kernel_places.h"

namespace tilewright::cgra {

KernelPlaces::KernelPlaces(Cnf& cnf, const PlacementModel& model, const StartWindows& windows)
    : windows_(windows), tiles_(model.tiles) {
  add_nodes(cnf, model);
  add_slots(cnf, model);
  add_tile_rules(cnf, model);
}

void KernelPlaces::add_nodes(Cnf& cnf, const PlacementModel& model) {
  on_tile_.resize(model.nodes);
  starts_.resize(model.nodes);
  here_.resize(model.nodes);
  for (int node = 0; node < model.nodes; ++node) {
    std::vector<int>&on = on_tile_[node], &starts = starts_[node];
    for (int tile = 0; tile < tiles_; ++tile) {
      on.push_back(cnf.variable());
      if (model.allowed[node][tile] == 0) cnf.clause({-on.back()});
    }
    for (int clock = windows_.first[node]; clock <= windows_.last[node]; ++clock)
      starts.push_back(cnf.variable());
    cnf.clause(on);
    cnf.at_most_one(on);
    cnf.clause(starts);
    cnf.at_most_one(starts);
    for (const int start : starts) {
      for (const int tile : on) {
        const int both = cnf.variable();
        here_[node].push_back(both);
        cnf.clause({-both, start});
        cnf.clause({-both, tile});
        cnf.clause({both, -start, -tile});
      }
    }
  }
}

void KernelPlaces::add_slots(Cnf& cnf, const PlacementModel& model) const {
  std::vector<std::vector<int>> on_slot(size_t(model.ii) * tiles_), in_slot(model.ii);
  for (int node = 0; node < model.nodes; ++node) {
    for (int clock = windows_.first[node]; clock <= windows_.last[node]; ++clock) {
      const int slot = clock % model.ii;
      in_slot[slot].push_back(starts(node, clock));
      for (int tile = 0; tile < tiles_; ++tile) {
        on_slot[size_t(slot) * tiles_ + tile].push_back(here(node, tile, clock));
      }
    }
  }
  for (const std::vector<int>& users : on_slot) cnf.at_most_one(users);
  for (const std::vector<int>& users : in_slot) cnf.at_most(tiles_, users);
}

void KernelPlaces::add_tile_rules(Cnf& cnf, const PlacementModel& model) const {
  for (const std::vector<int>& unit : model.units) {
    for (const int node : unit) {
      for (int tile = 0; node != unit.front() && tile < tiles_; ++tile) {
        cnf.clause({-on_tile_[unit.front()][tile], on_tile_[node][tile]});
      }
    }
  }
  for (const PlacementModel::Apart& pair : model.apart) {
    for (int tile = 0; tile < tiles_; ++tile) {
      cnf.clause({-on_tile_[pair.first][tile], -on_tile_[pair.second][tile]});
    }
  }
}

}  // namespace tilewright::cgra
