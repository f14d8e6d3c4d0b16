// Placement and routing of a whole loop kernel at one II as one formula, every node's start within a window.
#pragma once

#include <vector>

#include "tilewright/cgra/kernel/kernel_places.h"
#include "tilewright/cgra/kernel/value_spread.h"
#include "tilewright/cgra/problem/model.h"
#include "tilewright/cgra/sat/cnf.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {

// A formula whose models are the valid routed mappings with starts inside the windows (links within the
// clock). Kept with its variables, so that a model can be read back.
class WindowFormula {
 public:
  // `model` of a verified problem of the routed tier; `windows` satisfy nothing in particular: an empty one
  // makes the formula false.
  WindowFormula(const Fabric& fabric, const PlacementModel& model, const StartWindows& windows);

  const Cnf& cnf() const { return cnf_; }
  // Places and routes of the model that `solver` found.
  GraphMapping read(const SatSolver& solver) const;

 private:
  void add_timing();
  void add_distance(const Edge& edge);
  void add_values();
  void add_use(const Edge& edge);
  void add_storage();
  void add_pass_through();
  const StartWindows& windows() const { return places_.windows(); }
  Route route(const SatSolver& solver, const Edge& edge, const GraphMapping& mapping) const;

  const Fabric& fabric_;
  const PlacementModel& model_;
  int tiles_ = 0;
  LinkTable table_;
  Cnf cnf_;
  KernelPlaces places_;
  std::vector<ValueSpread> values_;  // per node
  std::vector<int> first_clock_;     // per node: clock 0 of its value
};

}  // namespace tilewright::cgra
