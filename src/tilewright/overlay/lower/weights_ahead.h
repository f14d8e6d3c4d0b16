// Weights that are loaded while the layers before theirs run, of programs whose layers take one token each:
// there every layer waits for the one before, and the memory port would wait with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright::overlay {

struct AheadLayer {
  int64_t weights = 0;          // WGT elements that it needs
  bool may_come_early = false;  // they are constant, and all of them are loaded for its first step
  int64_t idle = 0;  // WGT elements that could be loaded between the end of its own loads and its last store
};

// A part of the weights of `layer`.
struct AheadLoad {
  size_t layer = 0;
  int64_t first = 0, count = 0;  // WGT elements
};

struct AheadPlan {
  std::vector<int64_t> bases;  // by layer: where it stands in WGT
  // By layer: what is loaded before it waits for the one before; whether all its weights are there by then.
  std::vector<std::vector<AheadLoad>> loads;
  std::vector<bool> complete;
};

// Layers stand in a ring of `depth` elements, each of which fits it. While layer i - 1 runs, as much is
// loaded for the layers after it as its idle time allows, if it overwrites nothing that layers from i - 1 on
// need.
AheadPlan plan_weights_ahead(std::span<const AheadLayer> layers, int64_t depth);

}  // namespace tilewright::overlay
