// First negotiated congestion, then satisfiability. In the formula a value may be wherever its source lets
// it be; the sinks are assumptions, so that the assumptions that failed name the edges in conflict, and
// leaving one out at a time makes that set smallest.
#include "tilewright/cgra/route/route_places.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tilewright/cgra/route/flow_cnf.h"
#include "tilewright/cgra/route/negotiate.h"
#include "tilewright/cgra/sat/solver.h"

namespace tilewright::cgra {
namespace {

class ExactRouter {
 public:
  ExactRouter(const RoutingTask& task, const RoutingOptions& options)
      : task_(task), options_(options), cnf_(options.deadline), flow_(task.fabric, task.ii, cnf_) {
    for (const RoutedValue& value : task.values) add(value);
    flow_.limit_resources();
    solver_.add(cnf_, options.deadline);
  }

  RoutingResult run() {
    RoutingResult result;
    std::vector<int> all(sinks_.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = int(i);
      if (sinks_[i].literal != 0) continue;
      name_core({int(i)}, result);
      return result;
    }
    switch (solve(all, {options_.deadline, options_.conflicts})) {
      case Satisfiable::kYes:
        result.status = SearchStatus::kFeasible;
        take_routes(result.routes);
        break;
      case Satisfiable::kNo:
        name_core(shrink(failed(all)), result);
        break;
      case Satisfiable::kUnknown:
        break;
    }
    return result;
  }

 private:
  struct Sink {
    int value = 0, index = 0, literal = 0;  // 0: out of reach
  };

  void add(const RoutedValue& value) {
    const RoutingFabric& fabric = task_.fabric;
    const RouteStep source = value.source;
    const int id = flow_.add(
        {.first_clock = source.clock,
         .last_clock = value.last_clock,
         .source =
             [&, source](int tile, int clock) {
               return RouteStep{tile, clock} == source ? flow_.always() : 0;
             },
         .home = [&, source](int tile) { return tile == source.tile ? flow_.always() : 0; },
         .useful =
             [&](int tile, int clock) {
               return fabric.reaches(value.source.tile, tile, clock - value.source.clock) &&
                      std::any_of(value.sinks.begin(), value.sinks.end(), [&](const RouteSink& sink) {
                        return fabric.reaches(tile, sink.at.tile, sink.at.clock - clock);
                      });
             }});
    for (size_t sink = 0; sink < value.sinks.size(); ++sink) {
      const RouteStep at = value.sinks[sink].at;
      sinks_.push_back({id, int(sink), flow_.at(id, at.tile, at.clock)});
    }
  }
  Satisfiable solve(const std::vector<int>& sinks, const SatLimits& limits) {
    std::vector<int> assumed;
    for (const int sink : sinks) assumed.push_back(sinks_[sink].literal);
    return solver_.solve(assumed, limits);
  }
  std::vector<int> failed(const std::vector<int>& sinks) const {
    std::vector<int> core;
    for (const int sink : sinks) {
      if (solver_.failed(sinks_[sink].literal)) core.push_back(sink);
    }
    return core;
  }
  std::vector<int> shrink(std::vector<int> core) {
    for (size_t tried = 0; options_.core_conflicts > 0 && core.size() > 1 && tried < core.size();) {
      std::vector<int> without = core;
      without.erase(without.begin() + std::ptrdiff_t(tried));
      if (solve(without, {options_.deadline, options_.core_conflicts}) != Satisfiable::kNo) {
        ++tried;
        continue;
      }
      // Those before `tried` stay necessary: a contradiction without one of them would have been found.
      core = failed(without);
    }
    return core;
  }
  void name_core(const std::vector<int>& core, RoutingResult& result) const {
    result.status = SearchStatus::kInfeasible;
    std::set<int> nodes;
    for (const int sink : core) {
      const int edge = task_.values[sinks_[sink].value].sinks[sinks_[sink].index].edges.front();
      result.core_edges.push_back(edge);
      nodes.insert(task_.edges[edge].from);
      nodes.insert(task_.edges[edge].to);
    }
    std::sort(result.core_edges.begin(), result.core_edges.end());
    result.core_nodes.assign(nodes.begin(), nodes.end());
  }
  void take_routes(std::vector<Route>& routes) const {
    routes.resize(task_.edges.size());
    for (const Sink& sink : sinks_) {
      const RouteSink& given = task_.values[sink.value].sinks[sink.index];
      const Route route =
          flow_.trace(sink.value, given.at, [&](int literal) { return solver_.value(literal); });
      for (const int edge : given.edges) routes[edge] = route;
    }
  }

  const RoutingTask& task_;
  RoutingOptions options_;
  Cnf cnf_;
  FlowCnf flow_;
  SatSolver solver_;
  std::vector<Sink> sinks_;
};

}  // namespace

RoutingResult route_places(const MappingProblem& problem, const RoutingFabric& fabric,
                           const GraphMapping& mapping, const RoutingOptions& options) {
  const Deadline none;
  RoutingResult result;
  finishes(options.deadline ? *options.deadline : none, [&] {
    const RoutingTask task = make_routing_task(problem, fabric, mapping);
    if (!task.countable()) return;
    if (options.negotiation_rounds > 0) {
      if (auto routes = negotiate_routes(task, options.negotiation_rounds, options.deadline)) {
        result = {.status = SearchStatus::kFeasible, .routes = std::move(*routes), .negotiated = true};
        return;
      }
    }
    result = ExactRouter(task, options).run();
  });
  return result;
}

RoutingResult route_places(const MappingProblem& problem, const GraphMapping& mapping,
                           const RoutingOptions& options) {
  const Deadline none;
  RoutingResult result;
  finishes(options.deadline ? *options.deadline : none, [&] {
    const RoutingFabric fabric = compile_routing_fabric(problem.fabric, options.deadline);
    result = route_places(problem, fabric, mapping, options);
  });
  return result;
}

}  // namespace tilewright::cgra
