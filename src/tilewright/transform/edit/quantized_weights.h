// Factors per output channel for weights that are stored as integers.
#pragma once

#include <vector>

#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {

// The weights of a Conv or Gemm that are a DequantizeLinear of constant integers, multiplied by one number
// per output channel: the numbers go into the scales, their signs into the integers. A new value; kNoValue
// where the weights are of another form, their scales run along another axis, or a sign cannot be turned
// (zero points, the lowest integer). Channels whose product vanishes in f32 get zeros.
ValueId scale_quantized_weights(GraphEditor& editor, NodeId layer, const std::vector<double>& factors);

}  // namespace tilewright
