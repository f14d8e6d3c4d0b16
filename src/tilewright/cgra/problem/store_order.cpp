// Every condition is a least distance between two starts, so moving stores to later clocks until none is
// broken finds the earliest clocks that keep all of them.
#include "tilewright/cgra/problem/store_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tilewright/cgra/graph/meeting_stores.h"

namespace tilewright::cgra {
namespace {

// `after` starts more than `distance` clocks after `before`; a negative distance: it may start that much
// earlier.
struct Condition {
  int before = 0, after = 0;
  int64_t distance = 0;
};

std::vector<Condition> conditions_of(const MappingProblem& problem) {
  std::vector<Condition> conditions;
  for (const StorePair& pair : meeting_stores(problem.graph)) {
    if (pair.same_thread) conditions.push_back({pair.first, pair.second, 0});
    if (!pair.same_thread && pair.second_later > 0)
      conditions.push_back({pair.first, pair.second, -pair.second_later * problem.ii});
    if (pair.first_later > 0) conditions.push_back({pair.second, pair.first, -pair.first_later * problem.ii});
  }
  return conditions;
}

bool kept(const Condition& condition, const GraphMapping& mapping) {
  return mapping.places[size_t(condition.after)].time - condition.distance >
         mapping.places[size_t(condition.before)].time;
}

class Mover {
 public:
  Mover(const MappingProblem& problem, GraphMapping& mapping)
      : problem_(problem), mapping_(mapping), conditions_(conditions_of(problem)) {
    for (const Place& place : mapping.places) taken_.insert({place.tile, place.time % problem.ii});
  }

  // Whether all conditions are kept in the end.
  bool run() {
    // What can be kept is after as many rounds as there are stores; slots that are taken cost some more.
    for (size_t round = 0; round <= 4 * conditions_.size(); ++round) {
      bool moved = false;
      for (const Condition& condition : conditions_) {
        if (kept(condition, mapping_)) continue;
        if (!move(condition)) return false;
        moved = true;
      }
      if (!moved) return true;
    }
    return false;
  }

 private:
  bool move(const Condition& condition) {
    Place& place = mapping_.places[size_t(condition.after)];
    const int64_t least = mapping_.places[size_t(condition.before)].time + condition.distance + 1;
    if (least > std::numeric_limits<int>::max() / 2) return false;
    taken_.erase({place.tile, place.time % problem_.ii});
    place.time = int(least);
    while (taken_.count({place.tile, place.time % problem_.ii})) ++place.time;  // its own slot is free
    taken_.insert({place.tile, place.time % problem_.ii});
    return true;
  }

  const MappingProblem& problem_;
  GraphMapping& mapping_;
  std::vector<Condition> conditions_;
  std::set<std::pair<int, int>> taken_;  // (tile, slot)
};

}  // namespace

std::vector<Violation> check_store_order(const MappingProblem& problem, const GraphMapping& mapping) {
  std::vector<Violation> found;
  const auto name = [&](int node) { return problem.graph.nodes[size_t(node)].name; };
  for (const Condition& condition : conditions_of(problem)) {
    if (kept(condition, mapping)) continue;
    const int64_t threads = -condition.distance / problem.ii;
    const int array = problem.graph.nodes[size_t(condition.after)].array;
    found.push_back(
        {Rule::kStoreOrder,
         {std::min(condition.before, condition.after), std::max(condition.before, condition.after)},
         fmt::format("'{}' (clock {}) may overwrite an element of '{}' that '{}' (clock {}) stores {}",
                     name(condition.before), mapping.places[size_t(condition.before)].time,
                     problem.graph.arrays[size_t(array)].name, name(condition.after),
                     mapping.places[size_t(condition.after)].time,
                     threads == 0 ? std::string("later in the same iteration")
                                  : fmt::format("{} iterations later", threads))});
  }
  return found;
}

bool order_stores(const MappingProblem& problem, GraphMapping& mapping) {
  if (check_store_order(problem, mapping).empty()) return true;
  GraphMapping ordered = mapping;
  ordered.routes.clear();
  if (!Mover(problem, ordered).run()) return false;
  MappingProblem places = problem;
  places.rules.routed = false;
  if (!check_mapping(places, ordered).empty()) return false;
  mapping = std::move(ordered);
  return true;
}

}  // namespace tilewright::cgra
