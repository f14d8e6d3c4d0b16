// Micro-kernels from affine index boxes. A box is a set of axes with strides in ACC, INP (or ACC) and WGT;
// two of the axes become the loops of the instruction, the others are written out as micro-ops.
//
// The choice minimises micro-ops among those orders in which no destination recurs within two micro-ops (a
// pipelined accumulator needs that), also across loop iterations; axes are split where that is the only way.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/overlay/lower/runtime.h"

namespace tilewright::overlay {

struct BoxAxis {
  uint32_t extent = 1;
  uint32_t dst = 0, src = 0, wgt = 0;  // elements from one index to the next
  bool visible = false;  // the blocks that a run's token sees: it takes as many of its first indices
};

// Axes outermost first. An axis with dst 0 is a reduction.
struct AffineBox {
  std::vector<BoxAxis> axes;
  uint32_t dst = 0, src = 0, wgt = 0;  // of index 0
};

// At most one axis is `visible`: it becomes a loop, or the outermost of the micro-ops (MicroKernel::visible).
// Completes `kernel` (mode, opcode, immediate) with the loops and micro-ops of `box`. With `overwrite` (wide
// GEMM) the first index of all reduction axes overwrites its destination, the others accumulate.
MicroKernel cover_box(const OverlayHardware& hardware, const AffineBox& box, MicroKernel kernel,
                      bool overwrite = false);

// The same as one or more kernels to run one after the other, none of which has a destination recur within
// two micro-ops: where a box has too few destinations, each index of the reductions becomes a kernel of its
// own.
std::vector<MicroKernel> cover_box_portably(const OverlayHardware& hardware, const AffineBox& box,
                                            MicroKernel kernel);

// Whether a destination recurs within two micro-ops when `kernel` runs.
bool reuses_destination(const MicroKernel& kernel);

}  // namespace tilewright::overlay
