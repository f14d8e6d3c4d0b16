// An overlay through the synthesis flow of its device, or its RTL alone.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

// Errors (invalid input): no such overlay or device, no folder for the sources; those of
// overlay::synthesize.
SynthesisAnswer synthesize_overlay(const SynthesisRequest& request);

}  // namespace tilewright
