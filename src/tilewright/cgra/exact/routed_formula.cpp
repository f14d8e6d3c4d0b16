// The formula of the placement tier, a literal for every node, tile and start, and the presence of every
// value (flow_cnf.h): a value enters the fabric where and when its producer has it, and is present where and
// when its consumer starts.
#include "tilewright/cgra/exact/routed_formula.h"

#include <algorithm>

namespace tilewright::cgra {

RoutedFormula::RoutedFormula(const PlacementConstraints& constraints, const SortedConstraints& sorted,
                             const TimeWindows& windows, const RoutingFabric& fabric)
    : model_(&constraints.model),
      low_(windows.low),
      high_(windows.high),
      placement_(constraints, sorted, windows, {.break_symmetry = false}),
      flow_(fabric, constraints.model.ii, placement_.cnf()),
      placed_(constraints.model.nodes),
      value_of_(constraints.model.nodes, -1) {
  for (int node = 0; node < model_->nodes; ++node) place_in_time(node);
  for (int node = 0; node < model_->nodes; ++node) {
    if (!model_->outgoing[node].empty()) flow(node);
  }
  for (const Edge& edge : model_->edges) read(edge);
  flow_.limit_resources();
}

int RoutedFormula::placed(int node, int tile, int time) const {
  if (time < low_[node] || time > high_[node]) return 0;
  return placed_[node][size_t(time - low_[node]) * model_->tiles + tile];
}

void RoutedFormula::place_in_time(int node) {
  Cnf& cnf = placement_.cnf();
  for (int time = low_[node]; time <= high_[node]; ++time) {
    const int from = placement_.starts_from(node, time), later = placement_.starts_from(node, time + 1);
    for (int tile = 0; tile < model_->tiles; ++tile) {
      const int on = placement_.on_tile(node, tile);
      placed_[node].push_back(on == -placement_.truth() ? 0 : cnf.variable());
      const int here = placed_[node].back();
      if (here == 0) continue;
      cnf.clause({-here, on});
      cnf.clause({-here, from});
      cnf.clause({-here, -later});
      cnf.clause({here, -on, -from, later});
    }
  }
}

void RoutedFormula::flow(int node) {
  int last = low_[node] + model_->latency_cycles;
  for (const int id : model_->outgoing[node]) {
    const Edge& edge = model_->edges[id];
    last = std::max(last, high_[edge.to] + edge.distance * model_->ii);
  }
  value_of_[node] = flow_.add(
      {.first_clock = low_[node] + model_->latency_cycles,
       .last_clock = last,
       .source = [this, node](int tile,
                              int clock) { return placed(node, tile, clock - model_->latency_cycles); },
       .home =
           [this, node](int tile) {
             const int on = placement_.on_tile(node, tile);
             return on == -placement_.truth() ? 0 : on;
           },
       .useful = [](int, int) { return true; }});
}

// Where and when the consumer starts, the value is present.
void RoutedFormula::read(const Edge& edge) {
  Cnf& cnf = placement_.cnf();
  for (int time = low_[edge.to]; time <= high_[edge.to]; ++time) {
    for (int tile = 0; tile < model_->tiles; ++tile) {
      const int here = placed(edge.to, tile, time);
      if (here == 0) continue;
      const int at = flow_.at(value_of_[edge.from], tile, time + edge.distance * model_->ii);
      if (at == 0) {
        cnf.clause({-here});
      } else {
        cnf.clause({-here, at});
      }
    }
  }
}

GraphMapping RoutedFormula::mapping(const SatSolver& solver) const {
  GraphMapping made{model_->ii, placement_.places(solver), {}};
  for (const Edge& edge : model_->edges) {
    const Place& to = made.places[edge.to];
    made.routes.push_back(flow_.trace(value_of_[edge.from], {to.tile, to.time + edge.distance * model_->ii},
                                      [&](int literal) { return solver.value(literal); }));
  }
  return made;
}

}  // namespace tilewright::cgra
