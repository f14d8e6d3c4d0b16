// The plain VTA instruction set only shifts.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Expects that every requantisation of `integer` (from a model quantised with powers of two) is a shift by
// 0..15 and every multiplier of an addition a power of two, with zero points 0; average pools excepted.
void expect_only_shifts(const Graph& integer);

}  // namespace tilewright
