// Runs the tile search in rounds: the array tiles of a round all start from the incumbent of the round
// before, so that what is cut does not depend on the threads. Then spells out the mapping.
#include "tilewright/spatial/lattice/lattice_solver.h"

#include <algorithm>

#include "tilewright/base/parallel.h"
#include "tilewright/search/deadline.h"
#include "tilewright/spatial/lattice/remainder_search.h"
#include "tilewright/spatial/lattice/tile_search.h"

namespace tilewright {
namespace {

using namespace lattice;

constexpr double kMaxBoxes = 1 << 17;
constexpr size_t kFirstRound = 4, kLargestRound = 256;

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
  std::vector<int64_t> factors, on_x;
  for (int d = 0; d < lattice.dimension_count(); ++d) factors.push_back(lattice.value(spatial, d));
  split_over_axes(problem, factors, {}, &on_x);
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
  Rounds(const TileSearch& search, const MapperOptions& options, const Deadline& deadline,
         const std::function<void(const MapProgress&)>& progress)
      : search_(search), options_(options), deadline_(deadline), progress_(progress) {
    incumbent_.objective = options.objective;
  }

  void start_from(const TileIncumbent& incumbent) { incumbent_ = incumbent; }
  void run(MapResult& result) {
    const std::vector<ArrayTile>& tiles = search_.array_tiles();
    size_t next = 0, round = kFirstRound;
    const auto bound = [&](const ArrayTile& tile) {
      return incumbent_.first(tile.least_energy, tile.least_cycles);
    };
    bool stopped = false;
    while (next < tiles.size() &&
           !incumbent_.beats_first(tiles[next].least_energy, tiles[next].least_cycles)) {
      // Of tiles that tie in the first objective a later one may still win by the second.
      if (incumbent_.beats_all(tiles[next].least_energy, tiles[next].least_cycles)) {
        ++result.nodes, ++result.pruned, ++next;
        continue;
      }
      const size_t end = std::min(tiles.size(), next + round);
      if (explore(next, end, result)) note_progress(result, bound(tiles[next]));
      stopped = deadline_.over();
      if (stopped) break;
      next = end;
      round = std::min(kLargestRound, round * 2);
    }
    result.pruned += int64_t(tiles.size() - next) + (search_.boxes() - int64_t(tiles.size()));
    result.nodes += int64_t(tiles.size() - next) + (search_.boxes() - int64_t(tiles.size()));
    result.status = stopped ? MapStatus::kStopped : MapStatus::kOptimal;
    if (stopped) result.lower_bound = bound(tiles[next]);
  }
  const TileIncumbent& incumbent() const { return incumbent_; }

  void note_progress(MapResult& result, double bound) {
    if (!incumbent_.found) return;
    const double value = incumbent_.first(incumbent_.energy, incumbent_.cycles);
    const bool better =
        result.curve.empty() || value < result.curve.back().best * (1 - TileIncumbent::kTolerance);
    if (!better) return;
    result.seconds_to_value = deadline_.seconds();
    result.curve.push_back({result.seconds_to_value, value, std::min(bound, value)});
    if (progress_) progress_(result.curve.back());
  }

 private:
  // Whether the best mapping changed.
  bool explore(size_t begin, size_t end, MapResult& result) {
    std::vector<TileIncumbent> best(end - begin, incumbent_);
    std::vector<SearchCounts> counts(end - begin);
    // Cut short, a round still leaves what it found.
    finishes(deadline_, [&] {
      parallel_for(options_.threads, int64_t(end - begin), [&](int64_t first, int64_t last) {
        OrderSearch orders(search_.problem(), search_.lattice());
        for (size_t i = size_t(first); i < size_t(last); ++i)
          search_.expand(search_.array_tiles()[begin + i], best[i], counts[i], orders);
      });
    });
    bool improved = false;
    for (size_t i = 0; i < best.size(); ++i) {
      result.nodes += counts[i].nodes;
      result.pruned += counts[i].pruned;
      result.evaluated += counts[i].evaluations;
      if (best[i].found) improved |= incumbent_.offer(best[i].energy, best[i].cycles, best[i].tiles);
    }
    return improved;
  }

  const TileSearch& search_;
  const MapperOptions& options_;
  const Deadline& deadline_;
  const std::function<void(const MapProgress&)>& progress_;
  TileIncumbent incumbent_;
};

// The best tiles under Timeloop's accounting, which are found much sooner, at their exact energy.
TileIncumbent first_guess(const LatticeCase& problem, const TileSearch& search, const MapperOptions& options,
                          const Deadline& deadline) {
  LatticeCase simpler = problem;
  simpler.accounting = Accounting::kTimeloop;
  const TileSearch simpler_search(simpler, options);
  const std::function<void(const MapProgress&)> quiet;
  Rounds rounds(simpler_search, options, deadline, quiet);
  MapResult ignored;
  rounds.run(ignored);
  TileIncumbent guess;
  guess.objective = options.objective;
  const TileIncumbent& found = rounds.incumbent();
  if (!found.found) return guess;
  guess.offer(OrderSearch(problem, search.lattice()).energy(found.tiles), found.cycles, found.tiles);
  return guess;
}

bool has_fixed_factors(const LatticeCase& problem) {
  const auto any = [](const std::array<int64_t, kMaxDimensions>& fixed) {
    return std::any_of(fixed.begin(), fixed.end(), [](int64_t factor) { return factor != kFree; });
  };
  return (problem.has_middle && any(problem.fixed_top)) || any(problem.fixed_middle) ||
         any(problem.fixed_low) || any(problem.fixed_x) || any(problem.fixed_y);
}

// Factors that need not divide; the best of those that do is where the search starts.
std::optional<MapResult> solve_with_remainders(const LatticeCase& problem, const MapperOptions& options,
                                               const Deadline& deadline,
                                               const std::function<void(const MapProgress&)>& progress) {
  if (problem.accounting != Accounting::kExact || has_fixed_factors(problem)) return std::nullopt;
  Mapspace perfect = *problem.mapspace;
  perfect.imperfect = false;
  MapperOptions half = options;  // of the time
  if (deadline.limited()) half.time_limit_s = std::max(1e-6, deadline.left() / 2);
  std::optional<MapResult> start = solve_on_lattice(perfect, half, progress);
  MapResult result;
  std::optional<RemainderSearch> search;
  if (!finishes(deadline, [&] { search.emplace(problem, options); })) {
    if (!start) return std::nullopt;
    start->status = MapStatus::kStopped;
    start->lower_bound = 0;
    return start;
  }
  if (!search->run(start ? &*start : nullptr, deadline, result)) return std::nullopt;
  result.value = objective_value(options.objective, result.cost);
  if (result.status == MapStatus::kOptimal) result.lower_bound = result.value;
  result.lower_bound = std::min(result.lower_bound, result.value);
  result.mapspace_size = problem.mapspace->size();
  result.seconds = deadline.seconds();
  result.curve.push_back({result.seconds, result.value, result.lower_bound});
  if (progress) progress(result.curve.back());
  return result;
}

}  // namespace

namespace {

std::optional<MapResult> solve_perfect(const LatticeCase& problem, const MapperOptions& options,
                                       const Deadline& deadline,
                                       const std::function<void(const MapProgress&)>& progress) {
  const Mapspace& mapspace = *problem.mapspace;
  deadline.check();
  const TileSearch search(problem, options);
  MapResult result;
  Rounds rounds(search, options, deadline, progress);
  if (problem.accounting == Accounting::kExact) {
    rounds.start_from(first_guess(problem, search, options, deadline));
    rounds.note_progress(result, 0);
  }
  rounds.run(result);
  if (!rounds.incumbent().found) return std::nullopt;
  LoopOrders orders;
  OrderSearch(problem, search.lattice()).energy(rounds.incumbent().tiles, orders);
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

}  // namespace

std::optional<MapResult> solve_on_lattice(const Mapspace& mapspace, const MapperOptions& options,
                                          const std::function<void(const MapProgress&)>& progress) {
  if (options.check_bounds) return std::nullopt;
  const Deadline deadline(limit_seconds(options), options.deadline);
  MapperOptions part = options;
  part.time_limit_s = 0;
  part.deadline = &deadline;
  const std::optional<LatticeCase> problem = lattice_case(mapspace, part);
  if (!problem) return std::nullopt;
  if (mapspace.imperfect) return solve_with_remainders(*problem, part, deadline, progress);
  if (Lattice::size_of(*problem) > kMaxBoxes) return std::nullopt;
  std::optional<MapResult> result;
  finishes(deadline, [&] { result = solve_perfect(*problem, part, deadline, progress); });
  return result;
}

}  // namespace tilewright
