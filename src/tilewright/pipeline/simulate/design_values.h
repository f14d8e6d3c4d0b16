// What a design computes, from its netlist and the contents of its memories alone: the other way to its
// result than the network that it was built from. Without time, so it is fast; what depends on time
// (queues that are too short) shows in the cycle simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/design/build.h"

namespace tilewright::pipeline {

// The result of one image (row, column, channel), as evaluate() gives it. Engines run as far ahead of each
// other as their tables let them, so that a wait that is missing there shows in the values. Errors
// (internal): a design that does not finish, or whose tables reach beyond its memories.
std::vector<int32_t> evaluate_design(const Design& design, const std::vector<int32_t>& image);

}  // namespace tilewright::pipeline
