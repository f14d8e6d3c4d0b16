// The vision transformer as a graph: image f32 [1,1,28,28] to ten scores.
#pragma once

#include "transformer/graph.h"

namespace vit {

inline constexpr int64_t kSide = 28, kPatch = 4, kAcross = kSide / kPatch, kTokens = kAcross * kAcross,
                         kClasses = 10;

// 49 tokens of 96 numbers, 4 blocks, 3 heads, 192 numbers between the dense layers.
transformer::Form form();

// Weights as with_scaled_queries() gives them. Input "image", output "scores".
tilewright::Graph as_graph(const transformer::Weights& weights);

}  // namespace vit
