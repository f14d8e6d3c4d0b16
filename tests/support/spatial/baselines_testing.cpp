// One MapspaceSampling serves all three searches, each with its default settings; annealing alone judges
// steps by ratio, because costs span orders of magnitude. The best mapping is evaluated once more by the
// full model.
#include "support/spatial/baselines_testing.h"

#include "tilewright/search/annealing.h"
#include "tilewright/search/evolution.h"
#include "tilewright/search/random_search.h"
#include "tilewright/spatial/mapper/mapspace_sampling.h"

namespace tilewright {
namespace {

SamplingResultOf<MapspaceSampling> search_with(const MapspaceSampling& space, Baseline baseline,
                                               const SamplingOptionsOf<MapspaceSampling>& common) {
  switch (baseline) {
    case Baseline::kRandom:
      return random_search(space, common);
    case Baseline::kAnnealing: {
      AnnealingOptions<SlotMapping, MapValue> options;
      static_cast<SamplingOptionsOf<MapspaceSampling>&>(options) = common;
      options.relative = true;
      return anneal(space, options);
    }
    case Baseline::kEvolution: {
      EvolutionOptions<SlotMapping, MapValue> options;
      static_cast<SamplingOptionsOf<MapspaceSampling>&>(options) = common;
      return evolve(space, options);
    }
  }
  return {};
}

}  // namespace

const char* baseline_name(Baseline baseline) {
  switch (baseline) {
    case Baseline::kRandom:
      return "random";
    case Baseline::kAnnealing:
      return "annealing";
    case Baseline::kEvolution:
      return "evolution";
  }
  return "";
}

BaselineResult run_baseline(const Mapspace& mapspace, const MapperOptions& options, Baseline baseline,
                            const SearchLimits& limits, uint64_t seed) {
  Diagnostics diagnostics;
  mapspace.verify(diagnostics);
  diagnostics.raise_if_any();
  const MapspaceSampling space(mapspace, options);
  SamplingOptionsOf<MapspaceSampling> common;
  common.threads = options.threads;
  common.seed = seed;
  common.limits = limits;
  const SamplingResultOf<MapspaceSampling> found = search_with(space, baseline, common);
  BaselineResult result;
  result.sampled = found.end.counts.evaluations;
  result.valid = found.end.counts.valid;
  result.seconds = found.end.seconds;
  if (!found.best) return result;
  for (const SearchPoint<MapValue>& point : found.curve) {
    if (point.value == found.end.value) {
      result.seconds_to_value = point.seconds;
      break;
    }
  }
  result.mapping = space.choices().build(*found.best);
  result.cost = evaluate_mapping(mapspace.workload, mapspace.hardware, *result.mapping, options.rules);
  result.value = objective_value(options.objective, result.cost);
  return result;
}

}  // namespace tilewright
