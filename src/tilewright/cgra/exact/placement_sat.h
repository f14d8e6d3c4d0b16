// The placement tier as a formula: order-encoded starts and positions, transfer times per edge, slots. Its
// solutions are the mappings whose starts lie in given windows.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tilewright/cgra/exact/time_bounds.h"
#include "tilewright/cgra/problem/mapping.h"
#include "tilewright/cgra/sat/cnf.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {

struct FormulaOptions {
  // Of the mappings that a symmetry of the fabric or of the graph turns into each other, keep only one. Not
  // for formulas that are later extended with constraints that break the symmetry.
  bool break_symmetry = true;
  // Implied clauses: at most as many of a value's consumers within r clocks as tiles are.
  bool count_near = true;
  const Deadline* deadline = nullptr;  // of building it; null: the model's. Throws Expired
};

class PlacementFormula {
 public:
  // The formula, which the caller may extend. Keeps no references.
  PlacementFormula(const PlacementConstraints& constraints, const SortedConstraints& sorted,
                   const TimeWindows& windows, const FormulaOptions& options = {});

  Cnf& cnf() { return cnf_; }
  const Cnf& cnf() const { return cnf_; }
  // Literals; constants are truth() and -truth().
  int truth() const { return truth_; }
  int on_tile(int node, int tile) const { return tile_[unit_[node]][tile]; }
  int starts_from(int node, int time) const;                           // starts at `time` or later
  int in_slot(int node, int slot) const { return slot_[node][slot]; }  // holds for exactly one slot
  // A literal that implies that the starts lie in narrower windows (of a shorter horizon).
  int narrower(const TimeWindows& windows);
  std::vector<Place> places(const SatSolver& solver) const;

 private:
  void add(std::vector<int> clause);  // without constants
  void exclusive(std::vector<int> literals);
  void make_tiles(const SortedConstraints& sorted);
  void make_positions();
  void make_times(const TimeWindows& windows);
  void make_slots(const SortedConstraints& sorted);
  void make_edge(const Edge& edge);
  void far_apart(int u, int v, const std::vector<int>& levels, const std::vector<int>& literals);
  void near(int u, int v, const std::vector<int>& levels, const std::vector<int>& literals);
  void make_storage(const PlacementConstraints& constraints, const SortedConstraints& sorted);
  void make_counts();
  void count_ends(int centre, const std::vector<int>& edges, bool out);
  void break_fabric_symmetry(const PlacementConstraints& constraints, const SortedConstraints& sorted);
  void break_graph_symmetry(const PlacementConstraints& constraints, const SortedConstraints& sorted,
                            const TimeWindows& windows);

  struct EdgeTransfer {
    Edge edge;
    std::vector<int> levels;    // distinct transfer times, ascending, from the second on, as far as possible
    std::vector<int> literals;  // transfer >= level
  };
  Cnf cnf_;
  int truth_ = 0;
  PlacementModel model_;
  std::vector<int> unit_;
  std::vector<std::vector<int>> units_, cliques_;
  std::vector<std::vector<int>> tile_;      // [unit][tile]
  std::vector<std::vector<int>> position_;  // [unit][tile]: tile or a later one; only on lines
  std::vector<int> low_, high_;
  std::vector<std::vector<int>> from_;  // [node][time - low - 1]
  std::vector<std::vector<int>> slot_;  // [node][slot]
  std::vector<EdgeTransfer> transfers_;
  int anchor_ = -1;  // the unit that breaks the fabric's symmetry
};

}  // namespace tilewright::cgra
