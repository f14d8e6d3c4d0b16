// Random mappings with perfect factors on a machine with one fan-out, for tests and figures.
#pragma once

#include <algorithm>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/nest/mapping.h"

namespace tilewright {

// Every prime factor of every dimension goes to a random place: a temporal loop of some level, or the
// fan-out's x or y axis where it still fits. Orders are random; each space below the outermost level is kept
// with probability `keep`, and in the innermost level always if `innermost_keeps`. Capacities are not looked
// at.
inline Mapping random_array_mapping(const Workload& workload, const ArrayHardware& hardware, double keep,
                                    bool innermost_keeps, Random& random) {
  const size_t levels = hardware.levels.size(), dimensions = workload.dimensions.size();
  std::vector<std::vector<int64_t>> temporal(levels, std::vector<int64_t>(dimensions, 1));
  std::vector<std::vector<int64_t>> x = temporal, y = temporal;
  // Places are drawn unevenly, anew each time, so that all shapes of mappings come up.
  std::vector<double> weight(levels + 2);
  double total = 0;
  for (double& w : weight) total += w = random.uniform() * random.uniform() + 0.02;
  std::vector<int64_t> fan_x, fan_y;
  for (const ArrayLevel& level : hardware.levels) {
    fan_x.push_back(level.fanout_x);
    fan_y.push_back(level.fanout_y);
  }
  size_t spatial = 0;
  for (size_t l = 0; l < levels; ++l) {
    if (fan_x[l] * fan_y[l] > 1) spatial = l;
  }
  for (size_t d = 0; d < dimensions; ++d) {
    int64_t left = workload.dimensions[d].size;
    for (int64_t prime = 2; left > 1; ++prime) {
      while (left % prime == 0) {
        left /= prime;
        double at = random.uniform() * total;
        size_t place = 0;
        while (place + 1 < weight.size() && at >= weight[place]) at -= weight[place++];
        if (place == levels && fan_x[spatial] >= prime) {
          fan_x[spatial] /= prime;
          x[spatial][d] *= prime;
        } else if (place == levels + 1 && fan_y[spatial] >= prime) {
          fan_y[spatial] /= prime;
          y[spatial][d] *= prime;
        } else {
          temporal[place < levels ? place : size_t(random.between(0, int64_t(levels) - 1))][d] *= prime;
        }
      }
    }
  }
  Mapping mapping;
  for (size_t l = 0; l < levels; ++l) {
    MappingLevel level;
    level.name = hardware.levels[l].name;
    for (size_t d = 0; d < dimensions; ++d) {
      if (temporal[l][d] == 1) continue;
      const auto place = level.temporal.begin() + random.between(0, int64_t(level.temporal.size()));
      level.temporal.insert(place, {int(d), temporal[l][d]});
    }
    for (size_t d = 0; d < dimensions; ++d) {
      if (y[l][d] > 1) level.spatial.push_back({int(d), y[l][d], SpatialAxis::kY});
    }
    for (size_t d = 0; d < dimensions; ++d) {
      if (x[l][d] > 1) level.spatial.push_back({int(d), x[l][d], SpatialAxis::kX});
    }
    for (int s = 0; l > 0 && s < workload.data_space_count(); ++s) {
      const bool kept = random.chance(keep) || (innermost_keeps && l + 1 == levels);
      if (!kept) level.keeps &= ~(1u << s);
    }
    mapping.levels.push_back(std::move(level));
  }
  return mapping;
}

}  // namespace tilewright
