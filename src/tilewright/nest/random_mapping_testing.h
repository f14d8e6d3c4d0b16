// Random valid mappings for the tests of this module.
#pragma once

#include <fmt/format.h>

#include "tilewright/base/random.h"
#include "tilewright/nest/mapping.h"

namespace tilewright {

// `levels` levels "l0", "l1", ... whose loops, imperfect factors included, cover the workload and never have
// nothing to do. Loops are in random order; about one in five is spatial.
inline Mapping random_mapping(const Workload& workload, int levels, Random& random) {
  Mapping mapping;
  mapping.levels.resize(size_t(levels));
  for (int l = 0; l < levels; ++l) mapping.levels[size_t(l)].name = fmt::format("l{}", l);
  std::vector<int64_t> left;
  for (const Dimension& dimension : workload.dimensions) left.push_back(dimension.size);
  for (int l = levels - 1; l >= 0; --l) {
    MappingLevel& level = mapping.levels[size_t(l)];
    const auto take = [&](size_t d) {
      const int64_t factor = random.between(1, left[d]);
      left[d] = (left[d] + factor - 1) / factor;
      return factor;
    };
    // Spatial loops are the inner ones of a level, so they take their factors first.
    for (size_t d = 0; d < left.size(); ++d) {
      if (!random.chance(0.2)) continue;
      const SpatialAxis axis = random.chance(0.5) ? SpatialAxis::kX : SpatialAxis::kY;
      level.spatial.insert(level.spatial.begin(), {int(d), take(d), axis});
    }
    for (size_t d = 0; d < left.size(); ++d) {
      const int64_t factor = l == 0 ? left[d] : take(d);
      if (factor == 1 && random.chance(0.7)) continue;
      const auto at = level.temporal.begin() + random.between(0, int64_t(level.temporal.size()));
      level.temporal.insert(at, {int(d), factor});
    }
  }
  return mapping;
}

}  // namespace tilewright
