// A chain of layers run tile by tile: every layer computes just what the next one needs for one tile of the
// last output, and intermediate data never leave the buffer (level 1).
//
// The schedule: for every tile of the last layer's output, in the order of its ranks (the retained rank
// innermost), first layer to last: a phase is one layer on its part of the tile, a loop nest with its own
// mapping. An intermediate tensor's part stays whole in the buffer from the phase that makes it to the phase
// that reads it. Where tiles of an intermediate overlap (the rows that two windows share):
//   recomputed: every tile recomputes all it needs;
//   retained:   along one rank, what the next tile needs of this one stays in the buffer and only the rest is
//               made. Along other ranks overlaps are recomputed.
// Weights of a layer are either resident, loaded into the buffer once and kept there, or fetched again in
// every phase as the phase's mapping says. The first layer's input is fetched again where tiles overlap.
// Parts that lie wholly in a layer's padding are not computed; elements that no tile needs (strides beyond
// the window) are not computed either where they lie between tiles.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/hardware/array_hardware.h"
#include "tilewright/nest/workload.h"

namespace tilewright {

using LayerChain = std::vector<Workload>;

struct FusedTiling {
  std::vector<int64_t> tile;  // extent along each rank of the last output; at most the rank's size
  int retained = -1;          // a rank that is tiled; -1: all overlaps are recomputed
  uint32_t resident = 0;      // bit per layer
  bool operator==(const FusedTiling&) const = default;
};

// Why the chain cannot run on the hardware this way; "" if it can: shapes that do not match, a buffer that
// may not keep all data, buffers in parallel, storage reserved by role.
std::string cannot_fuse(const LayerChain& chain, const ArrayHardware& hardware);

// Ranks of the last output that tiles may cut: those that every layer hands on, index for index or as a
// window. Others (channels) are always whole.
std::vector<bool> tileable_ranks(const LayerChain& chain);
// Ranks along which windows of neighbouring tiles overlap somewhere in the chain.
std::vector<bool> overlapping_ranks(const LayerChain& chain);
int64_t tile_count(const LayerChain& chain, const FusedTiling& tiling);

// One layer's part of one tile, in its own dimensions.
struct FusedPhase {
  int layer = 0;
  std::vector<int64_t> begins, extents;
  int64_t made_words = 0;  // stored words of its output
  // Words of the intermediate that it reads, and how many of them earlier tiles left in the buffer.
  int64_t read_words = 0, retained_words = 0;
};
// Calls body for every phase in the order of execution.
void for_each_phase(const LayerChain& chain, const FusedTiling& tiling,
                    const std::function<void(const FusedPhase& phase)>& body);

// Phases that are the same loop nest, and what they share the buffer with.
struct PhaseClass {
  int layer = 0;
  Workload workload;  // the layer cut to the phase
  int64_t times = 0;
};
struct FusedPlan {
  std::vector<PhaseClass> classes;
  // By layer: words of the buffer that hold other things while it runs: retained parts, resident weights of
  // other layers. The maximum over its phases.
  std::vector<int64_t> reserved_words;
  std::vector<int64_t> operations;  // by layer, with what is recomputed
  std::vector<int64_t> phases;      // by layer
  int64_t tiles = 0;
  // By layer: words of weights that its phases need, all phases together and in the one that needs fewest
  // (tiles that cut groups of channels need a part each).
  std::vector<int64_t> phase_weight_words, least_weight_words;
  // The least number of words that cross the outermost memory's port.
  int64_t input_words = 0, weight_words = 0, output_words = 0;
  // Words of all intermediates that are made, and that phases read at least once.
  int64_t made_words = 0, read_words = 0;
};
FusedPlan plan_fusion(const LayerChain& chain, const FusedTiling& tiling);
// The two steps of it: walking the tiles, which takes time and for which tiling.resident does not matter;
// then where the weights are.
FusedPlan plan_without_weights(const LayerChain& chain, const FusedTiling& tiling);
FusedPlan with_resident_weights(FusedPlan plan, const LayerChain& chain, uint32_t resident);

}  // namespace tilewright
