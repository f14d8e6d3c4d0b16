// A schedule timer used once. Above 2000 tiles predict_layer() keeps the estimate.
#include "tilewright/overlay/measure/layer_cycles.h"

#include "tilewright/overlay/measure/schedule_timer.h"

namespace tilewright::overlay {

uint64_t layer_cycles(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory) {
  return ScheduleTimer(hardware, memory).cycles(tiling);
}

TilingEstimate predict_layer(const Tiling& tiling, const OverlayHardware& hardware,
                             const MemoryModel& memory) {
  constexpr int64_t kMaxTiles = 2000;
  TilingEstimate cost = estimate_layer(tiling, hardware, memory);
  if (tiling.tile_count() > kMaxTiles) return cost;
  const double estimated = cost.cycles;
  cost.cycles = double(layer_cycles(tiling, hardware, memory));
  cost.share_of_peak *= estimated / cost.cycles;
  return cost;
}

}  // namespace tilewright::overlay
