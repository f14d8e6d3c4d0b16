// The searches of module `search` over the placement space, as mappers.
#include "tilewright/cgra/heuristic/sampling_mappers.h"

#include <algorithm>
#include <utility>

#include "tilewright/cgra/heuristic/list_schedule.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/search/annealing.h"
#include "tilewright/search/evolution.h"
#include "tilewright/search/random_search.h"

namespace tilewright::cgra {
namespace {

using Value = PlacementSpace::Value;
using Found = SearchResult<PlacementGenes, Value>;

PlacementModel compile_model_checked(const MappingProblem& problem, const Deadline& deadline) {
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any();
  return compile_model(problem, &deadline);
}

int longest_chain(const PlacementDecoder& decoder) {
  return *std::max_element(decoder.tail_cycles().begin(), decoder.tail_cycles().end());
}

SearchPoint<int> makespan_point(const SearchPoint<Value>& point, int bound) {
  SearchPoint<int> made{point.seconds, point.counts, {}, bound};
  if (point.value) made.value = point.value->primary;
  return made;
}

MappingResult finish(const PlacementModel& model, const PlacementDecoder& decoder, const Found& found) {
  MappingResult result;
  result.lower_bound = longest_chain(decoder);
  result.counts = found.end.counts;
  result.seconds = found.end.seconds;
  for (const SearchPoint<Value>& point : found.curve) {
    result.curve.push_back(makespan_point(point, result.lower_bound));
  }
  if (!found.best) return result;
  result.mapping = GraphMapping{.ii = model.ii, .places = *decoder.decode(*found.best), .routes = {}};
  result.makespan = makespan_cycles(*result.mapping, model.latency_cycles);
  result.status = result.makespan == result.lower_bound ? SearchStatus::kOptimal : SearchStatus::kFeasible;
  return result;
}

// Few evaluations are not divided among lanes: each would only begin.
template <typename Options>
Options searched(const GraphMapperOptions& options, int64_t evaluations_per_lane) {
  Options made;
  made.threads = options.threads;
  made.seed = options.seed;
  made.limits = options.limits;
  if (options.limits.evaluations != SearchLimits::kNone) {
    made.lanes = int(std::clamp<int64_t>(options.limits.evaluations / evaluations_per_lane, 1, made.lanes));
  }
  return made;
}

template <typename Options>
void start_from_list(const PlacementSpace& space, Options& options) {
  if (const auto schedule = list_schedule(space.decoder)) {
    if (const auto value = space.cost(schedule->genes)) options.start = {schedule->genes, *value};
  }
}

// Where routes are asked for, the search runs several times on a part of its budget, and the shortest mapping
// that can be routed counts.
constexpr int kRoutedRuns = 4;

template <typename Search>
void routed_best(const MappingProblem& problem, GraphMapperOptions options, const Deadline& deadline,
                 const Search& search, MappingResult& best) {
  if (!problem.rules.routed) {
    best = search(options);
    return;
  }
  if (options.limits.evaluations != SearchLimits::kNone) {
    options.limits.evaluations = std::max<int64_t>(1, options.limits.evaluations / kRoutedRuns);
  }
  for (int run = 0; run < kRoutedRuns && !deadline.over(); ++run, ++options.seed) {
    // Half of the time is for routes.
    options.limits.seconds = std::max(1e-6, deadline.left() / (kRoutedRuns - run) / 2);
    MappingResult found = search(options);
    found.counts += best.counts;
    found.seconds += best.seconds;
    const bool shorter = found.mapping && (!best.mapping || found.makespan < best.makespan);
    RoutingResult routes;
    const Deadline part(deadline.left() / (kRoutedRuns - run), &deadline);
    if (shorter) routes = route_places(problem, *found.mapping, {.deadline = &part});
    if (routes.status == SearchStatus::kFeasible) {
      found.mapping->routes = std::move(routes.routes);
      best = std::move(found);
    } else {
      best.lower_bound = found.lower_bound;
      best.counts = found.counts;
      best.seconds = found.seconds;
    }
  }
}

template <typename Search>
MappingResult search_placements(const MappingProblem& problem, const GraphMapperOptions& options,
                                const Search& search) {
  const Deadline deadline(options.limits.seconds, options.limits.deadline);
  GraphMapperOptions rest = options;
  rest.limits.deadline = &deadline;
  MappingResult result;
  finishes(deadline, [&] {
    const PlacementModel model = compile_model_checked(problem, deadline);
    const PlacementSpace space(model);
    const auto one = [&](const GraphMapperOptions& part) {
      return finish(model, space.decoder, search(space, part));
    };
    routed_best(problem, rest, deadline, one, result);
  });
  drop_if_invalid(problem, result);
  result.seconds = deadline.seconds();
  result.ending = deadline.ending();
  return result;
}

}  // namespace

MappingResult map_random(const MappingProblem& problem, const GraphMapperOptions& options) {
  return search_placements(problem, options, [](const PlacementSpace& space, const GraphMapperOptions& part) {
    return random_search(space, searched<SamplingOptionsOf<PlacementSpace>>(part, 1000));
  });
}

MappingResult map_annealing(const MappingProblem& problem, const GraphMapperOptions& options) {
  return search_placements(problem, options, [](const PlacementSpace& space, const GraphMapperOptions& part) {
    auto annealing = searched<AnnealingOptions<PlacementGenes, Value>>(part, 20'000);
    start_from_list(space, annealing);
    annealing.bound = Value{longest_chain(space.decoder), -1};
    return anneal(space, annealing);
  });
}

MappingResult map_evolution(const MappingProblem& problem, const GraphMapperOptions& options) {
  return search_placements(problem, options, [](const PlacementSpace& space, const GraphMapperOptions& part) {
    auto evolution = searched<EvolutionOptions<PlacementGenes, Value>>(part, 20'000);
    if (part.limits.evaluations != SearchLimits::kNone) {
      evolution.population = int(std::clamp<int64_t>(part.limits.evaluations / 10, 8, evolution.population));
    }
    start_from_list(space, evolution);
    return evolve(space, evolution);
  });
}

MappingResult map_list(const MappingProblem& problem, const GraphMapperOptions& options) {
  return search_placements(problem, options, [](const PlacementSpace& space, const GraphMapperOptions&) {
    Found found;
    if (const auto schedule = list_schedule(space.decoder)) {
      found.best = schedule->genes;
      found.end.value = space.cost(schedule->genes);
    }
    found.end.counts.evaluations = 1;
    found.curve = {found.end};
    return found;
  });
}

}  // namespace tilewright::cgra
