// A generated design through Yosys, whose counts stand beside the estimate.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

// request.hardware is the design's folder. Errors: those of read_design_folder, find_device and
// pipeline::count_resources.
SynthesisAnswer synthesize_design_folder(const SynthesisRequest& request);

}  // namespace tilewright
