// Places and routes in one formula: the routed tier, exactly, for one bound on the makespan.
#pragma once

#include <vector>

#include "tilewright/cgra/exact/placement_sat.h"
#include "tilewright/cgra/exact/time_bounds.h"
#include "tilewright/cgra/route/flow_cnf.h"

namespace tilewright::cgra {

class RoutedFormula {
 public:
  // Its solutions are the mappings with routes whose starts lie in `windows`. Keeps references to `fabric`
  // and to the model of `constraints`.
  RoutedFormula(const PlacementConstraints& constraints, const SortedConstraints& sorted,
                const TimeWindows& windows, const RoutingFabric& fabric);
  RoutedFormula(const RoutedFormula&) = delete;
  RoutedFormula& operator=(const RoutedFormula&) = delete;

  const Cnf& cnf() const { return placement_.cnf(); }
  // Literal for "`node` starts on `tile` at `time`"; 0: not in the windows.
  int placed(int node, int tile, int time) const;
  // Of a satisfying assignment.
  GraphMapping mapping(const SatSolver& solver) const;

 private:
  void place_in_time(int node);
  void flow(int node);
  void read(const Edge& edge);

  const PlacementModel* model_;
  std::vector<int> low_, high_;
  PlacementFormula placement_;
  FlowCnf flow_;
  std::vector<std::vector<int>> placed_;  // [node][time - low][tile]
  std::vector<int> value_of_;             // per node: id in flow_; -1: not read
};

}  // namespace tilewright::cgra
