// The referee of fused chains: executes the phases of a tiling point by point with real numbers. It uses only
// the workloads, the order of the phases and their mappings; the buffer is a set of coordinates with values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/spatial/network/fused_search.h"

namespace tilewright {

struct FusedWalk {
  std::vector<std::string> problems;  // an element read before it was made, more words than the buffer holds
  std::vector<int64_t> operations;    // points visited, by layer
  // Words through the port of the outermost memory.
  int64_t reads = 0, updates = 0;
  int64_t peak_words = 0;                          // of the buffer
  std::map<std::vector<int64_t>, int64_t> output;  // of the last layer, by coordinate
  std::map<std::vector<int64_t>, int> made;        // how often each of them was made
};
// Every data space must be kept in the buffer (level 1).
FusedWalk walk_fused(const LayerChain& chain, const FusedResult& fused, const ArrayHardware& hardware);

// The chain's output layer by layer, without tiles.
std::map<std::vector<int64_t>, int64_t> plain_output(const LayerChain& chain);

}  // namespace tilewright
