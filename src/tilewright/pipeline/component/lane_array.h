// Sums and largest elements lane by lane (docs/pipeline/pipeline.md, rtl/pipeline/tw_stream_lane_array.sv).
#pragma once

#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

// Steps from taking a beat to its sums.
int64_t lane_array_steps(const netlist::Parameters& parameters);

}  // namespace tilewright::pipeline
