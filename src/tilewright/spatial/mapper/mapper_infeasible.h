// Why a mapspace has no mapping.
#pragma once

#include <string>

#include "tilewright/spatial/mapper/mapper.h"

namespace tilewright {

// One sentence that names a smallest set of limits that cannot hold together, and what each would have to be
// where one number says it: capacities and fan-out of levels, what must be kept, fixed factors, the limit in
// cycles. `mapspace` verifies and has no mapping within options.max_cycles.
std::string explain_infeasible(const Mapspace& mapspace, const MapperOptions& options);

}  // namespace tilewright
