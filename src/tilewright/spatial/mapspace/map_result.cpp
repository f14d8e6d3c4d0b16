// No limit is an infinite one, so that limits can be compared.
#include "tilewright/spatial/mapspace/map_result.h"

namespace tilewright {

double objective_value(MapObjective objective, const Cost& cost) {
  if (objective == MapObjective::kLatency) return double(cost.cycles);
  return objective == MapObjective::kEdp ? cost.edp() : cost.energy;
}

double limit_seconds(const MapperOptions& options) {
  return options.time_limit_s > 0 ? options.time_limit_s : Deadline::kNoLimit;
}

}  // namespace tilewright
