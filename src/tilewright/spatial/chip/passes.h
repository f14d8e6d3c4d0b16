// The processing passes of a layer under a mapping, in the order in which the chip runs them. Outside: group,
// batch of n images, strip of e output rows, block of m filters. Inside a block, whose partial sums stay in
// the global buffer: batches of q*r channels, and for each the groups of p*t filters.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/spatial/chip/mapping.h"

namespace tilewright {

// Everything that the time of a pass depends on, besides the chip, layer and mapping.
struct PassShape {
  int64_t images = 1, rows = 1;       // rows: output rows
  int64_t channels = 1, filters = 1;  // of all sets together
  bool reads_psums = false;           // not the first batch of channels
  bool cold = false;                  // first of the layer: nothing could be loaded ahead
  auto operator<=>(const PassShape&) const = default;
};

// The position of a pass in the layer. Channels and filters count within the group.
struct Pass {
  PassShape shape;
  int64_t group = 0, image = 0, row = 0, channel = 0, filter = 0;
};

// A block of the outer loops.
struct PassBlock {
  int64_t group = 0;
  int64_t image = 0, images = 1;
  int64_t row = 0, rows = 1;
  int64_t filter = 0, filters = 1;
};

// Number of passes in the layer: G c(N/n) c(E/e) c(C/qr) and, for each block of m filters, c(m/pt).
int64_t pass_count(const RowStationaryLayer& layer, const RowStationaryMapping& mapping);

std::vector<PassBlock> pass_blocks(const RowStationaryLayer& layer, const RowStationaryMapping& mapping);
// The passes of one block in order; `first_block` says whether the block is the first of the layer.
std::vector<Pass> passes_of_block(const RowStationaryLayer& layer, const RowStationaryMapping& mapping,
                                  const PassBlock& block, bool first_block);

// Cycles in which the busiest PE multiplies, F S p q n, with the p, q and n that the pass really uses: no
// pass takes less.
int64_t ideal_cycles(const RowStationaryLayer& layer, const RowStationaryMapping& mapping,
                     const PassShape& shape);

}  // namespace tilewright
