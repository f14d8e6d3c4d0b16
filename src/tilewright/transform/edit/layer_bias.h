// The bias of a layer as plain numbers, for the passes that change it.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The bias of a Conv, ConvTranspose or Gemm as one number per output channel, with beta applied; zeros when
// it has none. nullopt when it is not a constant of type f32 or, for Gemm, differs between rows.
std::optional<std::vector<double>> layer_bias(const Graph& graph, const Node& layer);

}  // namespace tilewright
