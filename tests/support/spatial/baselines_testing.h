// Search without proof, for comparison with the mapper: sampling searches (module `search`) on the same
// mapspaces with the same evaluator.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/search/result.h"
#include "tilewright/spatial/mapper/mapper.h"

namespace tilewright {

enum class Baseline : uint8_t { kRandom, kAnnealing, kEvolution };
inline constexpr int kBaselines = 3;
// "random", "annealing", "evolution".
const char* baseline_name(Baseline baseline);

struct BaselineResult {
  std::optional<Mapping> mapping;  // the best that was met
  Cost cost;
  double value = 0;  // of the objective
  int64_t sampled = 0, valid = 0;
  double seconds = 0, seconds_to_value = 0;
};

// Of `options` the objective, rules, max_cycles and threads count. `limits` must limit seconds or
// evaluations; with evaluations alone the result is the same at any number of threads. Errors (invalid
// input): a mapspace that does not verify, no limit.
BaselineResult run_baseline(const Mapspace& mapspace, const MapperOptions& options, Baseline baseline,
                            const SearchLimits& limits, uint64_t seed);

}  // namespace tilewright
