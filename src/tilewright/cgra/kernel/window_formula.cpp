// The formula. A node has a tile and a start (both one-hot) and their conjunction; a value is somewhere at
// the start of a clock because it was computed there or waited there, reaches further tiles through links of
// that clock (one level of variables per hop), and must reach its consumer at the clock of use. Every
// presence demands its cause, causes lead back in time to the producer, so no model contains a value without
// origin. Capacities are counted per slot. Implied clauses (slot totals, tiles too far for the time left) are
// added because resolution finds neither pigeonholes nor distances by itself.
#include "tilewright/cgra/kernel/window_formula.h"

#include <algorithm>
#include <utility>

namespace tilewright::cgra {

WindowFormula::WindowFormula(const Fabric& fabric, const PlacementModel& model, const StartWindows& windows)
    : fabric_(fabric), model_(model), windows_(windows), tiles_(model.tiles), links_(fabric_links(fabric)) {
  arriving_.resize(tiles_);
  for (size_t link = 0; link < links_.size(); ++link) arriving_[links_[link].to].push_back(int(link));
  add_places();
  add_slots();
  add_tile_rules();
  add_timing();
  values_.resize(model_.nodes);
  for (int node = 0; node < model_.nodes; ++node) add_value(node);
  for (const Edge& edge : model_.edges) add_use(edge);
  add_storage();
}

void WindowFormula::add_places() {
  on_tile_.resize(model_.nodes);
  starts_.resize(model_.nodes);
  here_.resize(model_.nodes);
  for (int node = 0; node < model_.nodes; ++node) {
    std::vector<int>&on = on_tile_[node], &starts = starts_[node];
    for (int tile = 0; tile < tiles_; ++tile) {
      on.push_back(cnf_.variable());
      if (model_.allowed[node][tile] == 0) cnf_.clause({-on.back()});
    }
    for (int clock = windows_.first[node]; clock <= windows_.last[node]; ++clock) {
      starts.push_back(cnf_.variable());
      if (model_.fixed_time[node] >= 0 && model_.fixed_time[node] != clock) cnf_.clause({-starts.back()});
    }
    cnf_.clause(on);
    cnf_.at_most_one(on);
    cnf_.clause(starts);
    cnf_.at_most_one(starts);
    for (const int start : starts) {
      for (const int tile : on) {
        const int both = cnf_.variable();
        here_[node].push_back(both);
        cnf_.clause({-both, start});
        cnf_.clause({-both, tile});
        cnf_.clause({both, -start, -tile});
      }
    }
  }
}

void WindowFormula::add_slots() {
  std::vector<std::vector<int>> on_slot(size_t(model_.ii) * tiles_), in_slot(model_.ii);
  for (int node = 0; node < model_.nodes; ++node) {
    for (int clock = windows_.first[node]; clock <= windows_.last[node]; ++clock) {
      const int slot = clock % model_.ii;
      in_slot[slot].push_back(starts(node, clock));
      for (int tile = 0; tile < tiles_; ++tile) {
        on_slot[size_t(slot) * tiles_ + tile].push_back(at_tile(node, tile, clock));
      }
    }
  }
  for (const std::vector<int>& users : on_slot) cnf_.at_most_one(users);
  for (const std::vector<int>& users : in_slot) cnf_.at_most(tiles_, users);
}

void WindowFormula::add_tile_rules() {
  for (const std::vector<int>& unit : model_.units) {
    for (const int node : unit) {
      for (int tile = 0; node != unit.front() && tile < tiles_; ++tile) {
        cnf_.clause({-on_tile_[unit.front()][tile], on_tile_[node][tile]});
      }
    }
  }
  for (const PlacementModel::Apart& pair : model_.apart) {
    for (int tile = 0; tile < tiles_; ++tile) {
      cnf_.clause({-on_tile_[pair.first][tile], -on_tile_[pair.second][tile]});
    }
  }
}

void WindowFormula::add_timing() {
  for (const Edge& edge : model_.edges) {
    const int shift = edge.distance * model_.ii;
    for (int use = windows_.first[edge.to]; use <= windows_.last[edge.to]; ++use) {
      std::vector<int> clause{-starts(edge.to, use)};
      const int latest = std::min(windows_.last[edge.from], use + shift - model_.latency_cycles);
      for (int clock = windows_.first[edge.from]; clock <= latest; ++clock)
        clause.push_back(starts(edge.from, clock));
      cnf_.clause(clause);
    }
    add_distance(edge);
  }
}

// With the gap of one edge settled, its ends lie within reach of each other. A node's edge to itself has one
// gap and no way, so that only a bound on waiting can contradict it.
void WindowFormula::add_distance(const Edge& edge) {
  if (edge.from == edge.to) {
    if (edge.distance * model_.ii > model_.most_gap(0, 0)) cnf_.clause({});
    return;
  }
  for (int use = windows_.first[edge.to]; use <= windows_.last[edge.to]; ++use) {
    for (int start = windows_.first[edge.from]; start <= windows_.last[edge.from]; ++start) {
      const int gap = use + edge.distance * model_.ii - start;
      if (gap < model_.latency_cycles) continue;
      for (int tile = 0; tile < tiles_; ++tile) {
        std::vector<int> forward{-at_tile(edge.from, tile, start), -starts(edge.to, use)};
        std::vector<int> backward{-starts(edge.from, start), -at_tile(edge.to, tile, use)};
        for (int other = 0; other < tiles_; ++other) {
          const auto fits = [&](int from, int to) {
            return gap >= model_.least_gap(from, to) && gap <= model_.most_gap(from, to);
          };
          if (fits(tile, other)) forward.push_back(on_tile_[edge.to][other]);
          if (fits(other, tile)) backward.push_back(on_tile_[edge.from][other]);
        }
        if (int(forward.size()) < tiles_ + 2) cnf_.clause(forward);
        if (int(backward.size()) < tiles_ + 2) cnf_.clause(backward);
      }
    }
  }
}

int WindowFormula::reach(const Value& value, int clock, int hops, int tile) const {
  if (hops == 0) return value.there[size_t(clock) * tiles_ + tile];
  return value.reach[(size_t(clock) * fabric_.hops_per_cycle + hops - 1) * tiles_ + tile];
}

void WindowFormula::add_value(int node) {
  Value& value = values_[node];
  value.first_clock = windows_.first[node] + model_.latency_cycles;
  for (const int id : model_.outgoing[node]) {
    const Edge& edge = model_.edges[id];
    value.clocks =
        std::max(value.clocks, windows_.last[edge.to] + edge.distance * model_.ii - value.first_clock + 1);
  }
  const auto fill = [&](std::vector<int>& variables, size_t count) {
    for (size_t i = 0; i < count; ++i) variables.push_back(cnf_.variable());
  };
  fill(value.there, size_t(value.clocks) * tiles_);
  fill(value.reach, size_t(value.clocks) * tiles_ * fabric_.hops_per_cycle);
  fill(value.waits, size_t(value.clocks) * tiles_);
  fill(value.links, size_t(value.clocks) * links_.size());
  for (int clock = 0; clock < value.clocks; ++clock) {
    const int start = windows_.first[node] + clock;
    for (int tile = 0; tile < tiles_; ++tile) {
      std::vector<int> cause{-reach(value, clock, 0, tile)};
      if (inside(node, start)) cause.push_back(at_tile(node, tile, start));
      if (clock > 0) cause.push_back(value.waits[size_t(clock - 1) * tiles_ + tile]);
      cnf_.clause(cause);
      cnf_.clause(
          {-value.waits[size_t(clock) * tiles_ + tile], reach(value, clock, fabric_.hops_per_cycle, tile)});
      for (int hops = 1; hops <= fabric_.hops_per_cycle; ++hops) {
        std::vector<int> ways{-reach(value, clock, hops, tile), reach(value, clock, hops - 1, tile)};
        for (const int link : arriving_[tile]) {
          const int taken = value.links[size_t(clock) * links_.size() + link];
          if (hops == 1 && fabric_.hops_per_cycle == 1) {
            ways.push_back(taken);
            cnf_.clause({-taken, reach(value, clock, 0, links_[link].from)});
            continue;
          }
          const int by_link = cnf_.variable();
          ways.push_back(by_link);
          cnf_.clause({-by_link, taken});
          cnf_.clause({-by_link, reach(value, clock, hops - 1, links_[link].from)});
        }
        cnf_.clause(ways);
      }
    }
  }
}

void WindowFormula::add_use(const Edge& edge) {
  const Value& value = values_[edge.from];
  for (int use = windows_.first[edge.to]; use <= windows_.last[edge.to]; ++use) {
    const int clock = use + edge.distance * model_.ii - value.first_clock;
    for (int tile = 0; tile < tiles_; ++tile) {
      if (clock < 0) {
        cnf_.clause({-at_tile(edge.to, tile, use)});
      } else {
        cnf_.clause({-at_tile(edge.to, tile, use), reach(value, clock, fabric_.hops_per_cycle, tile)});
      }
    }
  }
}

void WindowFormula::add_storage() {
  std::vector<std::vector<int>> waiting(size_t(model_.ii) * tiles_),
      crossing(size_t(model_.ii) * links_.size());
  for (const Value& value : values_) {
    for (int clock = 0; clock < value.clocks; ++clock) {
      const size_t slot = size_t(value.first_clock + clock) % model_.ii;
      for (int tile = 0; tile < tiles_; ++tile) {
        waiting[slot * tiles_ + tile].push_back(value.waits[size_t(clock) * tiles_ + tile]);
      }
      for (size_t link = 0; link < links_.size(); ++link) {
        crossing[slot * links_.size() + link].push_back(value.links[size_t(clock) * links_.size() + link]);
      }
    }
  }
  for (const std::vector<int>& users : waiting) cnf_.at_most(fabric_.delay_registers, users);
  for (const std::vector<int>& users : crossing) cnf_.at_most_one(users);
}

Mapping WindowFormula::read(const SatSolver& solver) const {
  Mapping mapping;
  mapping.ii = model_.ii;
  for (int node = 0; node < model_.nodes; ++node) {
    Place place;
    for (int tile = 0; tile < tiles_; ++tile) {
      if (solver.value(on_tile_[node][tile])) place.tile = tile;
    }
    for (int clock = windows_.first[node]; clock <= windows_.last[node]; ++clock) {
      if (solver.value(starts(node, clock))) place.time = clock;
    }
    mapping.places.push_back(place);
  }
  for (const Edge& edge : model_.edges) mapping.routes.push_back(route(solver, edge, mapping));
  return mapping;
}

// Breadth first over (clock, hops, tile) along the waits and links that the model has set: any two consumers
// get ways out of the same set, so capacities hold whichever is taken.
Route WindowFormula::route(const SatSolver& solver, const Edge& edge, const Mapping& mapping) const {
  const Value& value = values_[edge.from];
  const Place from = mapping.places[edge.from], to = mapping.places[edge.to];
  const int levels = fabric_.hops_per_cycle + 1;
  const int start = from.time + model_.latency_cycles - value.first_clock;
  const int end = to.time + edge.distance * model_.ii - value.first_clock;
  const auto state = [&](int clock, int hops, int tile) { return (clock * levels + hops) * tiles_ + tile; };
  std::vector<int> parent(size_t(end + 1) * levels * tiles_, -2);
  std::vector<int> open{state(start, 0, from.tile)};
  parent[open.front()] = -1;
  for (size_t i = 0; i < open.size(); ++i) {
    const int tile = open[i] % tiles_, hops = open[i] / tiles_ % levels, clock = open[i] / tiles_ / levels;
    const auto visit = [&](int next) {
      if (parent[next] != -2) return;
      parent[next] = open[i];
      open.push_back(next);
    };
    if (hops < fabric_.hops_per_cycle) {
      for (size_t link = 0; link < links_.size(); ++link) {
        if (links_[link].from == tile && solver.value(value.links[size_t(clock) * links_.size() + link]))
          visit(state(clock, hops + 1, links_[link].to));
      }
    }
    if (clock < end && solver.value(value.waits[size_t(clock) * tiles_ + tile]))
      visit(state(clock + 1, 0, tile));
  }
  int last = -1;
  for (int hops = levels - 1; hops >= 0; --hops) {
    if (parent[state(end, hops, to.tile)] != -2) last = state(end, hops, to.tile);
  }
  Route steps;
  for (; last >= 0; last = parent[last]) {
    steps.push_back({last % tiles_, last / tiles_ / levels + value.first_clock});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace tilewright::cgra
