// The tree that the exact mapper searches. The root decides what every level keeps; then, from the innermost
// level outwards, its spatial factors and its temporal factors are decided together for all dimensions. A
// node with all factors known has one child per loop order that may be best (spatial/mapper/mapper_orders.h).
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/spatial/mapper/mapper_bounds.h"
#include "tilewright/spatial/mapper/mapper_orders.h"
#include "tilewright/spatial/mapspace/slot_evaluator.h"

namespace tilewright {

struct MapNode {
  int keeps = 0;                 // index into MapTree::keeps()
  int slots = 0;                 // known ones, as in PartialMapping
  int dimension = 0;             // of the stage in hand, dimensions before this one are decided
  int64_t x = 1, y = 1;          // of the stage in hand, if spatial: fan-out used so far
  std::vector<int64_t> factors;  // as SlotMapping; 1 where not known
};

struct MapLeaf {
  SlotMapping mapping;
  double energy = 0;
  int64_t cycles = 0;
};

class MapTree {
 public:
  // `deadline` (may be null) is checked while the factors are listed.
  MapTree(const Mapspace& mapspace, const CostRules& rules, const Deadline* deadline = nullptr);

  const MapspaceChoices& choices() const { return choices_; }
  const std::vector<std::vector<uint32_t>>& keeps() const { return keeps_; }
  bool complete(const MapNode& node) const { return node.slots == choices_.slots(); }

  void roots(const std::function<void(MapNode&&)>& child) const;
  // Children whose tiles fit as far as they are known. Stages with very many children are decided in parts:
  // such children are in the middle of a stage (dimension > 0).
  void expand(const MapNode& node, const std::function<void(MapNode&&)>& child) const;
  // None: no tile of a level that is not known yet fits around the node's.
  std::optional<CostBound> bound(const MapNode& node) const;
  // The mappings of a complete node that may be best: none that is left out beats them in energy and cycles.
  void leaves(const MapNode& node, const std::function<void(MapLeaf&&)>& leaf) const;
  // Largest tile of `level`, all copies and data spaces together, that the node's known factors imply.
  int64_t least_words(const MapNode& node, int level) const;
  // Mappings evaluated exactly so far.
  int64_t evaluations() const { return evaluations_.load(); }

 private:
  struct TableEntry {
    double energy;
    std::vector<int64_t> cover;
  };
  class Stage;

  std::vector<int64_t> cover_of(const MapNode& node) const;
  bool fits(int keeps, int level, const std::vector<int64_t>& cover) const {
    return evaluator_.fits(keeps_[size_t(keeps)], level, cover);
  }
  void make_tables();
  // Decides stages that have a single choice; false if one of them has none.
  bool settle(MapNode& node) const;
  double outer_energy(const MapNode& node, const std::vector<int64_t>& cover) const;

  const Mapspace& mapspace_;
  CostRules rules_;
  MapspaceChoices choices_;
  MapperBounds bounds_;
  SlotEvaluator evaluator_;
  std::vector<std::vector<uint32_t>> keeps_;
  std::vector<std::vector<TableEntry>> tables_;  // [keeps * levels + level]; empty: not listed
  std::vector<bool> listed_;                     // by level
  bool axes_alike_ = false;                      // no energy tells x from y
  mutable std::atomic<int64_t> evaluations_{0};
};

// The tree as a problem of search/. A `Problem` evaluates a child, branch(node, sink), and gives the leaves
// of a complete node, leaves(node, sink).
template <typename Problem>
class MapTreeProblem {
 public:
  using Node = MapNode;
  using Solution = SlotMapping;

  template <typename Sink>
  void roots(Sink& sink) const {
    tree_.roots([&](MapNode&& node) { problem().branch(std::move(node), sink); });
  }

  template <typename Sink>
  void expand(const MapNode& node, Sink& sink) const {
    if (tree_.complete(node)) return problem().leaves(node, sink);
    tree_.expand(node, [&](MapNode&& child) { problem().branch(std::move(child), sink); });
  }

 protected:
  explicit MapTreeProblem(const MapTree& tree) : tree_(tree) {}
  const MapTree& tree_;

 private:
  const Problem& problem() const { return static_cast<const Problem&>(*this); }
};

}  // namespace tilewright
