// The energy-latency front of one layer and of a whole network, and the front of a layer of energy, latency
// and words of a buffer; each point a proven optimum.
#pragma once

#include <string>
#include <vector>

#include "tilewright/spatial/mapper/mapper_pareto.h"
#include "tilewright/spatial/network/front.h"
#include "tilewright/spatial/network/map_network.h"

namespace tilewright {

struct LayerFront {
  std::vector<FrontCost> points;      // ascending cycles
  std::vector<std::string> mappings;  // of the points
  // Whether every point is proven and nothing is missing between them.
  bool proven = true;
};

// Least energy, then least energy among mappings that are faster than that, and so on until none is faster:
// the epsilon-constraint method, which finds every point because ties in energy are broken by cycles.
// If half of options.time_limit_s does not suffice, the rest is for points that lie apart: the fastest
// mapping found, and the least energies found between two points. `known`, a mapping of the mapspace found
// before, counts as well, so that the front is nowhere worse. Errors (invalid input): as find_mapping.
LayerFront layer_front(const Mapspace& mapspace, const MapperOptions& options,
                       const Mapping* known = nullptr);

struct NetworkFronts {
  std::vector<LayerFront> shapes;
  NetworkFront front;
  bool proven = true;  // all of them
};
// Fronts of all shapes and their sum over the layers; the objective in `options` does not matter. `known`: a
// run of the same network under the same options, whose mappings the fronts begin with.
NetworkFronts network_fronts(const WorkloadNetwork& network, const ArrayHardware& hardware,
                             const NetworkMapOptions& options, const NetworkProgressSink& progress = {},
                             const DataflowRun* known = nullptr);

// At most `rows` points, evenly spread, the ends included.
std::string front_text(const NetworkFronts& fronts, const NetworkReport& report, size_t rows = 12);
std::string front_json(const NetworkFronts& fronts);
std::string front_svg(const NetworkFronts& fronts, const NetworkReport& report);

// Of each shape: energy, latency and the words of one level of the hardware. A shape without a mapping, or
// whose constraints cannot be stated, has no points.
struct BufferFronts {
  std::string level;
  std::vector<MapFront> shapes;
  bool proven = true;  // all of them
};
// Errors (invalid input): no level of this name, with those there are.
BufferFronts buffer_fronts(const WorkloadNetwork& network, const ArrayHardware& hardware,
                           const std::string& level, const NetworkMapOptions& options,
                           const NetworkProgressSink& progress = {});
// A line per point, at most `rows` of a shape, evenly spread, the ends included.
std::string buffer_front_text(const BufferFronts& fronts, const NetworkReport& report, size_t rows = 12);
std::string buffer_front_json(const BufferFronts& fronts, const NetworkReport& report);

}  // namespace tilewright
