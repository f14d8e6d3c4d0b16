// The resources that an overlay takes of a 7 series part, in closed form: microseconds instead of minutes of
// synthesis. Block memories and multiplier blocks are counted from the RTL's memories and products; look-up
// tables and flip-flops are weighted sums of what the RTL replicates, with weights fitted to Yosys runs
// (bench/overlay_area, docs/guides/explore.md).
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::overlay {

// Memories of one shape.
struct AreaMemory {
  int64_t words = 0, width = 0, count = 1;
};
// All block memories of the RTL: scratchpads, accumulators, queues.
std::vector<AreaMemory> area_memories(const OverlayHardware& hardware);

// What look-up tables and flip-flops are proportional to; the names are in the order of the values. Of the
// whole overlay, and of gemm_core alone (its features are the first ones, the others 0).
const std::vector<const char*>& area_feature_names();
std::vector<double> area_features(const OverlayHardware& hardware);
std::vector<double> core_area_features(const OverlayHardware& hardware);

// Of a description that verify_rtl() accepts, with the wide instruction set and accumulators of 32 bits: the
// overlay alone, multipliers in DSP blocks where Yosys puts them there. Carry cells are not counted.
synthesis::Resources overlay_area(const OverlayHardware& hardware);
// Its blocks alone: DSP and BRAM.
synthesis::Resources overlay_blocks(const OverlayHardware& hardware);

// How far estimates are from Yosys' counts of whole overlays, leaving each out of its fit, in percent.
struct AreaBand {
  int64_t overlays = 0;
  double lut_median = 0, lut_worst = 0, ff_median = 0, ff_worst = 0, bram_worst = 0, dsp_worst = 0;
};
const AreaBand& overlay_area_band();

}  // namespace tilewright::overlay
