// Dot products over channels (docs/pipeline/pipeline.md, rtl/pipeline/tw_stream_mac_array.sv).
#pragma once

#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

// Steps from taking a beat to its sums.
int64_t mac_array_steps(const netlist::Parameters& parameters);

}  // namespace tilewright::pipeline
