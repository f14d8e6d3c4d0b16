// Processor allocations described by a few numbers; everything else follows from them and the network.
#pragma once

#include "tilewright/pipeline/allocate/allocate_search.h"

namespace tilewright::pipeline {

struct ProcessorChoice {
  int64_t pi = 1, po = 1, pf = 1;
  Multiplier multiplier = Multiplier::kDsp, lane_multiplier = Multiplier::kDsp;
  // The window with most products of depthwise layers gets an engine with all its taps.
  bool row_major_lanes = false;
  bool unroll = false;
  int64_t bands = 1;  // pieces of a layer, where its rows (and the weight ring) allow so many
  int64_t units = 1;  // tensor memories; the operands of an addition lie in different ones
  bool tight_memory = false;
  bool weights_on_chip = true;
  int64_t ring_blocks = 2;  // depth of the ring in blocks of the layer with the largest ones
  netlist::MemoryKind tensor_memory = netlist::MemoryKind::kBlockRam,
                      weight_memory = netlist::MemoryKind::kBlockRam;
  bool operator==(const ProcessorChoice&) const = default;
};

// One engine for the convolutions, one or two for lanes where the network has such layers.
Allocation make_processors(const Network& network, const Budget& budget, const ProcessorChoice& choice);

}  // namespace tilewright::pipeline
