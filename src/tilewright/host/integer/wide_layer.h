// Layers of 16-bit activations, and layers whose sums have 64 bits, as products of 8-bit planes.
#pragma once

#include "tilewright/host/integer/integer_conv.h"
#include "tilewright/host/integer/integer_node.h"

namespace tilewright {

// QConv, QConvTranspose and QGemm of docs/reference/arithmetic.md: x i8 or i16, padded with `pad`, to y i8 or
// i16. With 64-bit accumulators the sum of a plane must fit 32 bits (plane_sums_fit).
void run_wide_layer(const IntegerConvolution& convolution, const Tensor& x, int32_t pad,
                    const ChannelScales& scales, const OutputStage& output, Tensor& y, int threads);

// Whether no sum of `taps` products of an 8-bit plane with weights of up to `magnitude` leaves 32 bits.
constexpr bool plane_sums_fit(int64_t taps, int64_t magnitude) { return taps * magnitude * 255 <= INT32_MAX; }

}  // namespace tilewright
