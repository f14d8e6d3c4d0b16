// The YAML form of a mapspace's constraints, with the names of the levels, dimensions and data spaces: how
// users write a dataflow for the mapper.
//   imperfect: false
//   levels:
//   - level: buffer
//     temporal: R=1 S=1          # fixed factors; dimensions that are not named stay free
//     spatial_x: M others=1      # `M`: free; `others`: every dimension that is not named
//     spatial_y: C=16 others=1
//     order: C R S               # the innermost loops, outermost of them first, as in a mapping
//     keep: weight               # must be kept here
//     bypass: output             # must not
//     one_axis_per_dimension: true
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

// Levels and fields that are absent constrain nothing. Errors (invalid input): all problems at once, each
// with its line: unknown names (with the known ones), factors below 1, a dimension or level given twice. What
// contradicts the machine or cannot multiply out is found by Mapspace::verify.
Mapspace parse_mapspace(const std::string& text, const std::string& source_name, const Workload& workload,
                        const ArrayHardware& hardware);
Mapspace read_mapspace(const std::filesystem::path& path, const Workload& workload,
                       const ArrayHardware& hardware);

// The constraints; parse_mapspace(print_mapspace(m), ..., m.workload, m.hardware) gives the same mapspace, up
// to lists that constrain nothing.
std::string print_mapspace(const Mapspace& mapspace);

}  // namespace tilewright
