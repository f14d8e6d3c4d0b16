// Random float graphs for property tests: valid, small, connected, and rich in what the passes look for.
#pragma once

#include <cstdint>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct RandomGraphOptions {
  int layers = 12;           // operators drawn, besides the head
  bool branches = true;      // Add, Concat and values with several readers
  bool dense_head = true;    // may end in Flatten and dense layers
  bool redundancies = true;  // Identity, Dropout, no-op Reshape, Transpose pairs, Pad, BatchNormalization
};

// The same graph for the same seed and options. One f32 input "x" of shape N x C x H x W, one to three
// outputs.
Graph random_graph(uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace tilewright
