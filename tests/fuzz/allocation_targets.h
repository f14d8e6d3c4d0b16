// Damaged allocation files against `generate --allocation`.
#pragma once

#include <vector>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

// The allocations of a residual block for an xc7z020, as stages and as processors. What is accepted is built.
std::vector<FuzzTarget> allocation_targets();

}  // namespace tilewright
