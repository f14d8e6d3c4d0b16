// The SystemVerilog package `component_config`: the positions of the fields of task tables and of a design's
// registers. The sources of rtl/pipeline use these names and hold no positions of their own.
#pragma once

#include <string>
#include <vector>

#include "tilewright/pipeline/image/row_layout.h"

namespace tilewright::pipeline {

// Its name among the sources of a design. Tools have to read it before the sources that use it; its name also
// comes first in alphabetical order, so rtl/*.sv of an emitted folder is a correct order.
inline constexpr const char* kConfigPackage = "component_config";
inline constexpr const char* kConfigPackageFile = "component_config.sv";

// Its text, the same for every design. Of each field NAME of a layout: LAYOUT_NAME_LSB and, unless a
// parameter of the component is its width, LAYOUT_NAME_WIDTH (of one element); of the whole row LAYOUT_BITS.
// What parameters add to a position is not included, but named in a comment.
std::string config_package();
// The same with only those names that `sources`, texts of SystemVerilog, ask the package for.
std::string config_package_for(const std::vector<std::string>& sources);

// As docs/design/pipeline/pipeline.md writes a layout: "BEATS:32 ZERO:s8 PAD:sAW WAIT:16xPROGRESS".
std::string layout_text(const RowLayout& layout);

}  // namespace tilewright::pipeline
