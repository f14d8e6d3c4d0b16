// Runs the tile search in rounds: the array tiles of a round all start from the incumbent of the round
// before, so that what is cut does not depend on the threads. Then spells out the mapping.
#include "tilewright/spatial/lattice_solver.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/search/deadline.h"
#include "tilewright/spatial/lattice/tile_search.h"

namespace tilewright {
namespace {

using namespace lattice;

constexpr double kMaxBoxes = 1 << 18;
constexpr size_t kFirstRound = 4, kLargestRound = 256;

// Splits the spatial factors over the axes; the first way that fits, x first.
bool split_axes(const LatticeCase& problem, std::vector<int64_t>& factors, size_t d, int64_t x, int64_t y,
                std::vector<int64_t>& on_x) {
  if (x > problem.fanout_x || y > problem.fanout_y) return false;
  if (d == factors.size()) return true;
  for (int64_t part = factors[d]; part >= 1; --part) {
    const int64_t rest = factors[d] / part;
    if (factors[d] % part != 0) continue;
    if (problem.one_axis_per_dimension && part != 1 && rest != 1) continue;
    if (problem.fixed_x[d] != 0 && problem.fixed_x[d] != part) continue;
    if (problem.fixed_y[d] != 0 && problem.fixed_y[d] != rest) continue;
    on_x[d] = part;
    if (split_axes(problem, factors, d + 1, x * part, y * rest, on_x)) return true;
  }
  return false;
}

Mapping build_mapping(const TileSearch& search, const Tiles& tiles, const LoopOrders& orders) {
  const LatticeCase& problem = search.problem();
  const Lattice& lattice = search.lattice();
  Mapping mapping;
  for (const ArrayLevel& level : problem.mapspace->hardware.levels) {
    mapping.levels.push_back({level.name, {}, {}, (1u << problem.space_count()) - 1});
  }
  const auto add_loops = [&](int level, const std::vector<int>& innermost_first, Index outer, Index inner) {
    for (auto d = innermost_first.rbegin(); d != innermost_first.rend(); ++d) {
      mapping.levels[size_t(level)].temporal.push_back(
          {problem.dimensions[size_t(*d)], lattice.value(outer, *d) / lattice.value(inner, *d)});
    }
  };
  if (problem.has_middle) {
    mapping.levels[size_t(problem.middle)].keeps = tiles.mask;
    add_loops(problem.top, orders.top, lattice.size() - 1, tiles.middle);
  }
  add_loops(problem.middle, orders.middle, tiles.middle, tiles.array);
  const Index spatial = lattice.quotient(tiles.array, tiles.low);
  std::vector<int64_t> factors, on_x(problem.sizes.size(), 1);
  for (int d = 0; d < lattice.dimension_count(); ++d) factors.push_back(lattice.value(spatial, d));
  split_axes(problem, factors, 0, 1, 1, on_x);
  std::vector<SpatialLoop>& loops = mapping.levels[size_t(problem.middle)].spatial;
  for (const SpatialAxis axis : {SpatialAxis::kY, SpatialAxis::kX}) {
    for (size_t d = 0; d < factors.size(); ++d) {
      const int64_t factor = axis == SpatialAxis::kX ? on_x[d] : factors[d] / on_x[d];
      if (factor > 1) loops.push_back({problem.dimensions[d], factor, axis});
    }
  }
  for (int d = 0; d < lattice.dimension_count(); ++d) {
    if (lattice.value(tiles.low, d) > 1) {
      mapping.levels[size_t(problem.low)].temporal.push_back(
          {problem.dimensions[size_t(d)], lattice.value(tiles.low, d)});
    }
  }
  return mapping;
}

class Rounds {
 public:
  Rounds(const TileSearch& search, const MapperOptions& options, Deadline& deadline,
         const std::function<void(const MapProgress&)>& progress)
      : search_(search), options_(options), deadline_(deadline), progress_(progress) {
    incumbent_.objective = options.objective;
  }

  void start_from(const Incumbent& incumbent) { incumbent_ = incumbent; }
  void run(MapResult& result) {
    const std::vector<ArrayTile>& tiles = search_.array_tiles();
    size_t next = 0, round = kFirstRound;
    const auto bound = [&](const ArrayTile& tile) {
      return incumbent_.first(tile.least_energy, tile.least_cycles);
    };
    bool stopped = false;
    while (next < tiles.size() && !incumbent_.beats_all(tiles[next].least_energy, tiles[next].least_cycles)) {
      if (options_.time_limit_s > 0 && deadline_.seconds() > options_.time_limit_s) {
        stopped = true;
        break;
      }
      const size_t end = std::min(tiles.size(), next + round);
      if (explore(next, end, result)) note_progress(result, bound(tiles[next]));
      next = end;
      round = std::min(kLargestRound, round * 2);
    }
    result.pruned += int64_t(tiles.size() - next) + (search_.boxes() - int64_t(tiles.size()));
    result.nodes += int64_t(tiles.size() - next) + (search_.boxes() - int64_t(tiles.size()));
    result.status = stopped ? MapStatus::kStopped : MapStatus::kOptimal;
    if (stopped) result.lower_bound = bound(tiles[next]);
  }
  const Incumbent& incumbent() const { return incumbent_; }

  void note_progress(MapResult& result, double bound) {
    if (!incumbent_.found) return;
    const double value = incumbent_.first(incumbent_.energy, incumbent_.cycles);
    const bool better =
        result.curve.empty() || value < result.curve.back().best * (1 - Incumbent::kTolerance);
    if (!better) return;
    result.seconds_to_value = deadline_.seconds();
    result.curve.push_back({result.seconds_to_value, value, std::min(bound, value)});
    if (progress_) progress_(result.curve.back());
  }

 private:
  // Whether the best mapping changed.
  bool explore(size_t begin, size_t end, MapResult& result) {
    std::vector<Incumbent> best(end - begin, incumbent_);
    std::vector<SearchCounts> counts(end - begin);
    parallel_for(options_.threads, int64_t(end - begin), [&](int64_t first, int64_t last) {
      OrderSearch orders(search_.problem(), search_.lattice());
      for (size_t i = size_t(first); i < size_t(last); ++i)
        search_.expand(search_.array_tiles()[begin + i], best[i], counts[i], orders);
    });
    bool improved = false;
    for (size_t i = 0; i < best.size(); ++i) {
      result.nodes += counts[i].nodes;
      result.pruned += counts[i].pruned;
      result.evaluated += counts[i].evaluated;
      if (best[i].found) improved |= incumbent_.offer(best[i].energy, best[i].cycles, best[i].tiles);
    }
    return improved;
  }

  const TileSearch& search_;
  const MapperOptions& options_;
  Deadline& deadline_;
  const std::function<void(const MapProgress&)>& progress_;
  Incumbent incumbent_;
};

// The best tiles under the field's accounting, which are found much sooner, at their exact energy.
Incumbent first_guess(const LatticeCase& problem, const TileSearch& search, const MapperOptions& options,
                      Deadline& deadline) {
  LatticeCase simpler = problem;
  simpler.accounting = Accounting::kTimeloop;
  const TileSearch simpler_search(simpler, options);
  const std::function<void(const MapProgress&)> quiet;
  Rounds rounds(simpler_search, options, deadline, quiet);
  MapResult ignored;
  rounds.run(ignored);
  Incumbent guess;
  guess.objective = options.objective;
  const Incumbent& found = rounds.incumbent();
  if (!found.found) return guess;
  guess.offer(OrderSearch(problem, search.lattice()).energy(found.tiles), found.cycles, found.tiles);
  return guess;
}

double objective_value(MapObjective objective, const Cost& cost) {
  if (objective == MapObjective::kLatency) return double(cost.cycles);
  return objective == MapObjective::kEdp ? cost.edp() : cost.energy;
}

}  // namespace

std::optional<MapResult> solve_on_lattice(const Mapspace& mapspace, const MapperOptions& options,
                                          const std::function<void(const MapProgress&)>& progress) {
  Deadline deadline(options.time_limit_s);
  if (options.check_bounds) return std::nullopt;
  const std::optional<LatticeCase> problem = lattice_case(mapspace, options);
  if (!problem || Lattice::size_of(*problem) > kMaxBoxes) return std::nullopt;
  const TileSearch search(*problem, options);
  MapResult result;
  Rounds rounds(search, options, deadline, progress);
  if (problem->accounting == Accounting::kExact) {
    rounds.start_from(first_guess(*problem, search, options, deadline));
    rounds.note_progress(result, 0);
  }
  rounds.run(result);
  if (!rounds.incumbent().found) return std::nullopt;
  LoopOrders orders;
  OrderSearch(*problem, search.lattice()).energy(rounds.incumbent().tiles, orders);
  result.mapping = build_mapping(search, rounds.incumbent().tiles, orders);
  result.cost = evaluate_mapping(mapspace.workload, mapspace.hardware, result.mapping, options.rules);
  result.value = objective_value(options.objective, result.cost);
  if (result.status == MapStatus::kOptimal) result.lower_bound = result.value;
  result.lower_bound = std::min(result.lower_bound, result.value);
  result.mapspace_size = mapspace.size();
  result.seconds = deadline.seconds();
  result.curve.push_back({result.seconds, result.value, result.lower_bound});
  return result;
}

}  // namespace tilewright
