// Rotary embedding, which exporters write as slices, products and sums, becomes one RotaryEmbedding.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// Takes the two halves of the last axis, by Slice or Split, turned by constant angles that differ along the
// last two axes alone: the Concat of a * cosine - b * sine and a * sine + b * cosine, or the sum of x *
// cosine and (-b, a) * sine with tables whose halves are equal. Operands of sums and products stand in any
// order. Results stay within rounding. Fires when the values between have no other reader and are of type
// f32; what turns a part of what it slices, or neighbouring numbers, stays.
Graph form_rotary(Graph graph);

}  // namespace tilewright
