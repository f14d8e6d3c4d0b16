// Routes of one value overlap where consumers share a path. For every place and clock that the value reaches,
// one path to it is kept: the one that crosses the fewest links within the clock, so that no chain becomes
// longer than those of the routes. Then the settings are made backwards from the consumers, so that only what
// is read is set.
#include "tilewright/cgra/configure/ways.h"

#include <set>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright::cgra {
namespace {

using Point = std::pair<int, int>;  // clock, tile

// How one value gets to the points of its routes.
class WayTree {
 public:
  WayTree(Point birth, const std::vector<const Route*>& routes,
          const std::map<std::pair<int, int>, int>& link_cycles)
      : birth_(birth) {
    std::set<std::pair<Point, Point>> steps;
    for (const Route* route : routes) {
      for (size_t i = 1; i < route->size(); ++i)
        steps.insert({{(*route)[i - 1].clock, (*route)[i - 1].tile}, {(*route)[i].clock, (*route)[i].tile}});
    }
    hops_[birth] = 0;
    // Each round settles at least one more link of every chain within a clock; other steps go forward in time
    // and are settled in order.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [from, to] : steps) {
        const auto at = hops_.find(from);
        if (at == hops_.end()) continue;
        const bool within_clock = from.second != to.second && link_cycles.at({from.second, to.second}) == 0;
        const int hops = within_clock ? at->second + 1 : 0;
        const auto [entry, fresh] = hops_.try_emplace(to, hops);
        if (!fresh && entry->second <= hops) continue;
        entry->second = hops;
        from_[to] = from;
        changed = true;
      }
    }
  }

  // The points on the kept ways to `targets`, in the order of time.
  std::set<Point> needed(const std::vector<Point>& targets) const {
    std::set<Point> points;
    for (Point at : targets) {
      while (points.insert(at).second && at != birth_) at = from_.at(at);
    }
    return points;
  }

  const Point& birth() const { return birth_; }
  const Point& from(const Point& point) const { return from_.at(point); }

 private:
  Point birth_;
  std::map<Point, int> hops_;
  std::map<Point, Point> from_;
};

class Settler {
 public:
  Settler(const MappingProblem& problem, const GraphMapping& mapping)
      : problem_(problem), mapping_(mapping), edges_(problem.graph.edges()) {
    for (const FabricLink& link : fabric_links(problem.fabric))
      link_cycles_[{link.from, link.to}] = link.cycles;
  }

  Ways run() {
    ways_.inputs.resize(edges_.size());
    std::map<int, std::vector<int>> by_producer;
    for (size_t edge = 0; edge < edges_.size(); ++edge) by_producer[edges_[edge].from].push_back(int(edge));
    for (const auto& [producer, list] : by_producer) settle(list);
    return std::move(ways_);
  }

 private:
  void settle(const std::vector<int>& edges) {
    std::vector<const Route*> routes;
    std::vector<Point> targets;
    for (const int edge : edges) {
      const Route& route = mapping_.routes[size_t(edge)];
      routes.push_back(&route);
      targets.push_back({route.back().clock, route.back().tile});
    }
    const RouteStep& start = routes.front()->front();
    const WayTree tree({start.clock, start.tile}, routes, link_cycles_);
    const std::set<Point> needed = tree.needed(targets);
    registers_.clear();
    // Registers first, in the order of time; then every source is known.
    for (const Point& point : needed) {
      if (point != tree.birth() && tree.from(point).second == point.second) keep(tree.from(point));
    }
    for (const Point& point : needed) {
      if (point == tree.birth()) continue;
      const Point& from = tree.from(point);
      Ways::Slot& slot = ways_.slots[{from.second, from.first % mapping_.ii}];
      if (from.second == point.second) {
        slot.registers[registers_.at(from)] = source(tree, from);
      } else {
        slot.outputs[point.second] = source(tree, from);
      }
    }
    for (size_t i = 0; i < edges.size(); ++i) ways_.inputs[size_t(edges[i])] = source(tree, targets[i]);
  }

  // A register for the clock after `point`: the one that held the value before, if it is free.
  void keep(const Point& point) {
    const auto& [clock, tile] = point;
    std::map<int, ValueSource>& taken = ways_.slots[{tile, clock % mapping_.ii}].registers;
    const auto before = registers_.find({clock - 1, tile});
    int chosen = before == registers_.end() ? 0 : before->second;
    if (taken.contains(chosen)) {
      chosen = 0;
      while (taken.contains(chosen)) ++chosen;
    }
    TILEWRIGHT_CHECK(chosen < problem_.fabric.delay_registers, "a checked mapping needs too many registers");
    taken[chosen] = {};
    registers_[point] = chosen;
  }

  ValueSource source(const WayTree& tree, const Point& point) const {
    if (point == tree.birth()) return {};
    const Point& from = tree.from(point);
    if (from.second == point.second) return {ValueSource::Kind::kRegister, registers_.at(from)};
    return {ValueSource::Kind::kLink, from.second};
  }

  const MappingProblem& problem_;
  const GraphMapping& mapping_;
  std::vector<Edge> edges_;
  std::map<std::pair<int, int>, int> link_cycles_;
  std::map<Point, int> registers_;  // of the value at hand: point it waits at -> register
  Ways ways_;
};

}  // namespace

Ways settle_ways(const MappingProblem& problem, const GraphMapping& mapping) {
  return Settler(problem, mapping).run();
}

}  // namespace tilewright::cgra
