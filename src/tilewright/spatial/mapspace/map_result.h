// Options and result of a search for mappings, shared by the mapper and the lattice solver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/search/deadline.h"
#include "tilewright/spatial/cost/cost.h"

namespace tilewright {

enum class MapObjective : uint8_t {
  kEnergy,   // ties by cycles
  kLatency,  // ties by energy
  kEdp,      // energy x cycles; ties by energy
};

// In the hardware's unit of energy, cycles, or their product.
double objective_value(MapObjective objective, const Cost& cost);

struct MapperOptions {
  MapObjective objective = MapObjective::kEnergy;
  std::optional<int64_t> max_cycles;  // only mappings at most this slow
  CostRules rules;
  double time_limit_s = 0;             // 0: until proven
  const Deadline* deadline = nullptr;  // of the work that this is a part of; outlives it
  int threads = 1;                     // the result is the same for any number
  // Asserts at every node that its bound does not exceed the best leaf below it (small spaces only).
  bool check_bounds = false;
  // Whether the special solver (spatial/lattice/lattice_solver.h) is used where it applies. The value is the
  // same either way; among tied mappings the two may choose different ones.
  bool use_lattice = true;
  // A mapping of the mapspace with which the search begins, so its result is never worse.
  const Mapping* start = nullptr;
};

enum class MapStatus : uint8_t { kOptimal, kStopped, kInfeasible };

struct MapProgress {
  double seconds = 0, best = 0, bound = 0;
};

struct MapResult {
  MapStatus status = MapStatus::kInfeasible;
  Mapping mapping;
  Cost cost;
  double value = 0;        // of the objective
  double lower_bound = 0;  // proven; equal to value when optimal
  double mapspace_size = 0;
  int64_t nodes = 0, pruned = 0, evaluated = 0;
  double seconds_to_value = 0, seconds = 0;
  std::vector<MapProgress> curve;
  std::string infeasible_reason;  // the constraint that cannot hold, and what it would need
  // Whether there is a mapping; a search that was stopped may have found none.
  bool found() const { return !mapping.levels.empty(); }
  double gap() const { return value > 0 ? (value - lower_bound) / value : 0; }
};

// The seconds that time_limit_s allows; infinity for 0.
double limit_seconds(const MapperOptions& options);

}  // namespace tilewright
