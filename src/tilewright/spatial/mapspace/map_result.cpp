// No limit is an infinite one, so that limits can be compared.
#include "tilewright/spatial/mapspace/map_result.h"

namespace tilewright {

double limit_seconds(const MapperOptions& options) {
  return options.time_limit_s > 0 ? options.time_limit_s : Deadline::kNoLimit;
}

}  // namespace tilewright
