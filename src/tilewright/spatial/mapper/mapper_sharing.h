// The parts of find_mapping: a search for one objective, and mappings that serve as starts for another.
#pragma once

#include <optional>
#include <utility>

#include "tilewright/search/result.h"
#include "tilewright/spatial/mapper/mapper.h"
#include "tilewright/spatial/mapper/mapspace_sampling.h"

namespace tilewright {

// A search for options.objective alone: branch and bound, or the special solver. Errors (invalid input): a
// mapspace that does not verify.
MapResult search_mapping(const Mapspace& mapspace, const MapperOptions& options,
                         const std::function<void(const MapProgress&)>& progress = {});

// The best mapping of two local searches from random mappings, each within the limits `half`: climbs one
// after the other, for spaces whose good mappings lie far apart (what is kept differs), and annealing, for
// those with many small valleys. None if they found no valid one.
std::optional<SlotMapping> local_best(const MapspaceSampling& space, int threads, const SearchLimits& half);

// The bound that two searches for one objective have proven: the higher of theirs, and at most the `value`
// that they found.
double joint_bound(std::pair<double, double> bounds, double value);

// options.start with its value; none if there is no start, or if it is not valid.
std::optional<Scored<SlotMapping, MapValue>> start_of(const MapspaceSampling& space,
                                                      const MapperOptions& options);

}  // namespace tilewright
