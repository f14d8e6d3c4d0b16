// Quantised networks in the terms of QONNX, which Brevitas, FINN and hls4ml exchange: all values are real
// numbers, and a Quant says to which ones they are rounded. qonnx_converters.h is the way back.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

inline constexpr const char* kQonnxDomain = "qonnx.custom_op.general";

// The QDQ form as QONNX; read back, it has the same integers.
//  - QuantizeLinear, with or without Clip, and DequantizeLinear become a Quant of the width that the clip or
//    the type says. QONNX rounds after the zero point is added, so where that is odd, halves would go the
//    other way: then the Quant has the scale negated and the zero point `lowest + highest - zero point`,
//    which is even and says the same.
//  - DequantizeLinear of a constant becomes a Quant of its real numbers, as wide as the integers in it.
//  Biases
//    are 32 bits wide. What f32 does not hold to the unit (2^22 and more) has its own scale: the channel's,
//    times a power of two.
// Errors (unsupported), one for each node: an activation of over 8 bits or of several scales, a range that no
// width has, weights with several zero points, constants that f32 does not hold, scales that are computed or
// not f32, integers that are used without DequantizeLinear, operators on integers.
Graph in_qonnx(Graph graph);

}  // namespace tilewright
