// The formula. A node has a tile and a start (both one-hot) and their conjunction; its value spreads from
// there (value_spread.h) and must reach its consumer at the clock of use. Capacities are counted per slot.
// Tiles too far for the time left are excluded by implied clauses, because resolution does not find distances
// by itself.
#include "tilewright/cgra/kernel/window_formula.h"

#include <algorithm>
#include <utility>

namespace tilewright::cgra {

WindowFormula::WindowFormula(const Fabric& fabric, const PlacementModel& model, const StartWindows& windows)
    : fabric_(fabric),
      model_(model),
      tiles_(model.tiles),
      table_(fabric),
      cnf_(model.deadline),
      places_(cnf_, model, windows) {
  add_timing();
  add_values();
  for (const Edge& edge : model_.edges) add_use(edge);
  add_storage();
}

void WindowFormula::add_timing() {
  for (const Edge& edge : model_.edges) {
    const int shift = edge.distance * model_.ii;
    for (int use = windows().first[edge.to]; use <= windows().last[edge.to]; ++use) {
      std::vector<int> clause{-places_.starts(edge.to, use)};
      const int latest = std::min(windows().last[edge.from], use + shift - model_.latency_cycles);
      for (int clock = windows().first[edge.from]; clock <= latest; ++clock)
        clause.push_back(places_.starts(edge.from, clock));
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
  int longest = 0;
  cnf_.check();
  for (const std::vector<int>& row : model_.transfer)
    longest = std::max(longest, *std::max_element(row.begin(), row.end()) + model_.latency_cycles);
  for (int use = windows().first[edge.to]; use <= windows().last[edge.to]; ++use) {
    for (int start = windows().first[edge.from]; start <= windows().last[edge.from]; ++start) {
      const int gap = use + edge.distance * model_.ii - start;
      if (gap < model_.latency_cycles || (gap >= longest && model_.rules.delay == Delay::kUnbounded))
        continue;
      for (int tile = 0; tile < tiles_; ++tile) {
        cnf_.check();
        std::vector<int> forward{-places_.here(edge.from, tile, start), -places_.starts(edge.to, use)};
        std::vector<int> backward{-places_.starts(edge.from, start), -places_.here(edge.to, tile, use)};
        for (int other = 0; other < tiles_; ++other) {
          const auto fits = [&](int from, int to) {
            return gap >= model_.least_gap(from, to) && gap <= model_.most_gap(from, to);
          };
          if (fits(tile, other)) forward.push_back(places_.on_tile(edge.to, other));
          if (fits(other, tile)) backward.push_back(places_.on_tile(edge.from, other));
        }
        if (int(forward.size()) < tiles_ + 2) cnf_.clause(forward);
        if (int(backward.size()) < tiles_ + 2) cnf_.clause(backward);
      }
    }
  }
}

void WindowFormula::add_values() {
  for (int node = 0; node < model_.nodes; ++node) {
    const int first = windows().first[node] + model_.latency_cycles;
    int last = first - 1;
    for (const int id : model_.outgoing[node]) {
      const Edge& edge = model_.edges[id];
      last = std::max(last, windows().last[edge.to] + edge.distance * model_.ii);
    }
    first_clock_.push_back(first);
    values_.emplace_back(cnf_, table_, last - first + 1, [&](int clock, int tile) {
      const int start = windows().first[node] + clock;
      return start <= windows().last[node] ? places_.here(node, tile, start) : 0;
    });
  }
}

void WindowFormula::add_use(const Edge& edge) {
  for (int use = windows().first[edge.to]; use <= windows().last[edge.to]; ++use) {
    const int clock = use + edge.distance * model_.ii - first_clock_[edge.from];
    for (int tile = 0; tile < tiles_; ++tile) {
      if (clock < 0) {
        cnf_.clause({-places_.here(edge.to, tile, use)});
      } else {
        cnf_.clause({-places_.here(edge.to, tile, use), values_[edge.from].reaches(clock, tile)});
      }
    }
  }
}

void WindowFormula::add_storage() {
  const size_t links = table_.links.size();
  std::vector<std::vector<int>> waiting(size_t(model_.ii) * tiles_), crossing(size_t(model_.ii) * links);
  for (int node = 0; node < model_.nodes; ++node) {
    const ValueSpread& value = values_[node];
    for (int clock = 0; clock < value.clocks(); ++clock) {
      const size_t slot = size_t(first_clock_[node] + clock) % model_.ii;
      for (int tile = 0; tile < tiles_; ++tile)
        waiting[slot * tiles_ + tile].push_back(value.waits(clock, tile));
      for (size_t link = 0; link < links; ++link)
        crossing[slot * links + link].push_back(value.crosses(clock, int(link)));
    }
  }
  for (const std::vector<int>& users : waiting) cnf_.at_most(fabric_.delay_registers, users);
  for (const std::vector<int>& users : crossing) cnf_.at_most_one(users);
  if (fabric_.pass_through > 0) add_pass_through();
  if (fabric_.instructions >= model_.ii) return;
  for (int tile = 0; tile < tiles_; ++tile) {
    std::vector<int> operations;
    for (int node = 0; node < model_.nodes; ++node) operations.push_back(places_.on_tile(node, tile));
    cnf_.at_most(fabric_.instructions, operations);
  }
}

// A value that leaves a tile by a link and was not computed there passes.
void WindowFormula::add_pass_through() {
  std::vector<std::vector<int>> passing(size_t(model_.ii) * tiles_);
  for (int node = 0; node < model_.nodes; ++node) {
    for (int clock = 0; clock < values_[node].clocks(); ++clock) {
      const size_t slot = size_t(first_clock_[node] + clock) % model_.ii;
      std::vector<int> passes;
      for (int tile = 0; tile < tiles_; ++tile) {
        passes.push_back(cnf_.variable());
        passing[slot * tiles_ + tile].push_back(passes.back());
      }
      for (size_t link = 0; link < table_.links.size(); ++link) {
        const int from = table_.links[link].from;
        cnf_.clause({-values_[node].crosses(clock, int(link)), places_.on_tile(node, from), passes[from]});
      }
    }
  }
  for (const std::vector<int>& users : passing) cnf_.at_most(fabric_.pass_through, users);
}

GraphMapping WindowFormula::read(const SatSolver& solver) const {
  GraphMapping mapping;
  mapping.ii = model_.ii;
  for (int node = 0; node < model_.nodes; ++node) {
    Place place;
    for (int tile = 0; tile < tiles_; ++tile) {
      if (solver.value(places_.on_tile(node, tile))) place.tile = tile;
    }
    for (int clock = windows().first[node]; clock <= windows().last[node]; ++clock) {
      if (solver.value(places_.starts(node, clock))) place.time = clock;
    }
    mapping.places.push_back(place);
  }
  for (const Edge& edge : model_.edges) mapping.routes.push_back(route(solver, edge, mapping));
  return mapping;
}

// Breadth first over (clock, hops, tile) along the waits and links that the model has set: any two consumers
// get ways out of the same set, so capacities hold whichever is taken.
Route WindowFormula::route(const SatSolver& solver, const Edge& edge, const GraphMapping& mapping) const {
  const ValueSpread& value = values_[edge.from];
  const int first = first_clock_[edge.from];
  const Place from = mapping.places[edge.from], to = mapping.places[edge.to];
  const int levels = fabric_.hops_per_cycle + 1;
  const int start = from.time + model_.latency_cycles - first;
  const int end = to.time + edge.distance * model_.ii - first;
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
      for (size_t link = 0; link < table_.links.size(); ++link) {
        if (table_.links[link].from == tile && solver.value(value.crosses(clock, int(link))))
          visit(state(clock, hops + 1, table_.links[link].to));
      }
    }
    if (clock < end && solver.value(value.waits(clock, tile))) visit(state(clock + 1, 0, tile));
  }
  int last = -1;
  for (int hops = levels - 1; hops >= 0; --hops) {
    if (parent[state(end, hops, to.tile)] != -2) last = state(end, hops, to.tile);
  }
  Route steps;
  for (; last >= 0; last = parent[last]) {
    steps.push_back({last % tiles_, last / tiles_ / levels + first});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace tilewright::cgra
