// The workload with which implemented overlays are compared: the paper's layer (conv 3x3, stride 1, no
// padding, 14x14 images) with 32 instead of 256 channels on either side and two images, since overlays of a
// few thousand cells do 2 to 64 products per cycle, and a batch of two must not idle.
#pragma once

#include <cstdint>

#include "tilewright/overlay/implement/implementation_data.h"
#include "tilewright/overlay/tuning/layer_bound.h"

namespace tilewright::overlay {

// Multiplications and additions.
int64_t performance_operations();

// Exact cycles (cycle simulator, default schedule) on `hardware` with memory for the layer; address widths
// have no influence on cycles. 0: no tile of it fits the buffers, or the compiler has no programs for
// the overlay (block_in < block_out). Errors: as default_schedule otherwise.
uint64_t performance_cycles(const OverlayHardware& hardware);

// A lower bound on `hardware` for any schedule of the work: a closed form of its sizes.
LayerBound performance_bound(const OverlayHardware& hardware);

// Sets cycles of all rows, and operations per second of those with a clock rate. Descriptions that differ
// only in fields without influence on cycles (memory_partition, name) are simulated once.
void add_performance(std::vector<ImplementationRow>& rows);

}  // namespace tilewright::overlay
