// The best loop orders of a mapping whose factors and kept data are fixed.
//
// How many words move when a temporal loop advances depends on which loops lie inside it (they go back to
// their first index) and which outside (they repeat it), not on the order among either (the model of
// nest/access_counts.h). So the words of an order are a sum over its loops of a term that depends on the loop
// and on the set of loops inside it; terms of one level do not depend on the orders of the others. The best
// order of each level is then a shortest path through the subsets of its loops: k 2^(k-1) terms instead of k!
// orders, each term the difference of two evaluated orders. Once every data space is fetched again whenever a
// loop outside advances (the set inside is `settled`), the order of the remaining loops does not matter.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/mapspace/mapspace_choices.h"

namespace tilewright {

// What depends on the order: the energy, and the words of every port with a limit.
struct OrderMeasure {
  double energy = 0;
  std::vector<double> words;
};

struct OrderedMapping {
  std::vector<std::vector<int>> orders;  // as SlotMapping::orders
  OrderMeasure measure;                  // a sum of differences: not rounded as an evaluation is
};

// Whether the loops outside may be in any order when the loops `inside` of `level` are inside them.
using SettledOrders = std::function<bool(int level, const std::vector<int>& inside)>;

// Every order that no other one beats in energy and in the words of all ports (one of those that tie in all):
// a single one if no port has a limit. `factors` as in SlotMapping; `measure` evaluates orders. Adds the
// number of evaluations to `evaluations`.
std::vector<OrderedMapping> best_orders(
    const MapspaceChoices& choices, const std::vector<int64_t>& factors,
    const std::function<OrderMeasure(const std::vector<std::vector<int>>&)>& measure,
    const SettledOrders& settled, int64_t& evaluations);

}  // namespace tilewright
