// Layer + schedule + addresses -> runtime calls.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tilewright/overlay/lower/runtime.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

// Where a layer's data lies in DRAM, in elements of the memory it is loaded into.
struct LayerAddresses {
  std::vector<int64_t> sources;     // INP elements; blocked [N/b][C/B][H][W][b][B]
  int64_t weights = 0;              // WGT elements; packing.h; of computed ones INP elements
  int64_t parameters = 0;           // ACC elements; [O/B][vectors][b][B]
  int64_t table = 0;                // entries; of a layer with a table
  int64_t result = 0;               // OUT elements; blocked
  int64_t result_per_position = 0;  // OUT elements from one token of a cache to the next
  // Of programs that load ahead: LOADs of weights, its own and those of later layers, before it waits for the
  // layer before; whether its own are there with them; whether its parameters are there from run to run.
  std::vector<std::pair<uint32_t, Transfer2D>> ahead;
  bool has_weights = false, has_parameters = false;
  int64_t padding = 0;  // INP elements holding the layer's pad value, padding_elements() of them
};

// INP elements of pad value that the lowering needs in DRAM: where padding is wider than the instruction's
// fields or not zero on the plain instruction set. 0 when nothing is read outside the image.
int64_t padding_elements(const Tiling& tiling);

// Emits the whole layer. All stores and loads of what was emitted before are complete before its first load.
// The tiling must fit (Tiling::fits).
void lower_layer(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime);

}  // namespace tilewright::overlay
