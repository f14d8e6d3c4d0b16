// A schedule: how one layer is cut into tiles and what stays in the scratchpads.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// Which of the two outer loops over output tiles is the outermost.
enum class TileOrder {
  kOutputsInner,  // for every image tile all output channel tiles: inputs are reused
  kOutputsOuter,  // for every output channel tile all image tiles: weights are reused
};

struct Schedule {
  int64_t batch_blocks = 1;    // blocks of OverlayHardware::batch images
  int64_t rows = 1, cols = 1;  // output positions
  int64_t out_blocks = 1;      // blocks of output channels
  int64_t in_blocks = 1;       // blocks of input channels per inner step
  int virtual_threads = 2;     // 1, or 2: loads, compute and stores of two tiles overlap
  TileOrder order = TileOrder::kOutputsInner;
  bool weights_resident = false;  // all weights of the inner loops stay in their scratchpad
  bool inputs_resident = false;   // all inputs of the inner loops stay in their scratchpad
  int fold_y = 1, fold_x = 1;     // image positions folded into channels (OverlayLayer::foldable)
  // With the defaults of the following fields, instructions are issued in the plainest order.
  bool early_start = false;  // parameters and first values of a tile's sums are not kept until its data come
  bool parameters_by_tile = false;  // loaded with each tile, even where those of all tiles would fit
  int first_parts = 1;   // parts of the first step's data, each of which is used when it has arrived
  int finish_parts = 1;  // parts of the last tile, each of which is stored when it is finished
  bool operator==(const Schedule&) const = default;
};

// One line of YAML (also valid JSON), which parses back to an equal schedule.
std::string print_schedule(const Schedule& schedule);
// Errors (invalid input): every field that is missing, unknown or out of range.
Schedule parse_schedule(const std::string& text, const std::string& source_name);

// The layer that a schedule is for: `layer` itself, or its input folded (fold_input). Errors (invalid input):
// a fold that the layer does not allow.
OverlayLayer scheduled_layer(const OverlayLayer& layer, const Schedule& schedule);

// Reports everything that prevents `schedule` from running: sizes out of range, rows that do not cover whole
// phases of a transposed convolution, each scratchpad that overflows (with need and capacity).
void verify(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule,
            Diagnostics& diagnostics);

// Errors (infeasible): not even the smallest tile of `layer` fits; names each scratchpad, its need and its
// capacity. A sum that is shifted between two passes needs all its input channels in one tile.
void require_tile(const OverlayLayer& layer, const OverlayHardware& hardware);

struct ScheduleOptions {
  MemoryModel memory;
  int virtual_threads = 0;  // 1 or 2; 0: two wherever they fit
};

// A good schedule for any layer without tuning: the candidate with the smallest estimate (estimate.h) among
// tiles that fit. Errors: as require_tile.
Schedule default_schedule(const OverlayLayer& layer, const OverlayHardware& hardware,
                          const ScheduleOptions& options = {});

}  // namespace tilewright::overlay
