// The mapper: the best mapping of a mapspace, with a proof. Exact branch and bound; if stopped early, it
// returns the best mapping so far with a proven bound.
#pragma once

#include <functional>

#include "tilewright/spatial/mapspace/map_result.h"
#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

// Under a time limit the objectives share what they find (spatial/mapper/mapper_sharing.cpp). Errors (invalid
// input): a mapspace that does not verify.
MapResult find_mapping(const Mapspace& mapspace, const MapperOptions& options,
                       const std::function<void(const MapProgress&)>& progress = {});

}  // namespace tilewright
