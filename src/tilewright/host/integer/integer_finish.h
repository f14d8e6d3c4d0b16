// From accumulators to output elements, many at a time.
#pragma once

#include <cstdint>

#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {

// out[i] = requantize(acc[i] + base (modulo 2^32), scale, output): docs/reference/arithmetic.md.
void requantize_lanes(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                      const OutputStage& output, int8_t* out);
void requantize_lanes(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                      const OutputStage& output, int16_t* out);
// The same on any machine; what the vectorised form is tested against.
void requantize_lanes_portable(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                               const OutputStage& output, int8_t* out);

// out[i] = saturate(round_half_even(float(acc[i] + base) * scale) + zero_point), T one of int8_t, uint8_t:
// ONNX QLinearConv and QLinearMatMul.
template <typename T>
void scale_lanes(const int32_t* acc, uint32_t base, int64_t count, float scale, int32_t zero_point, T* out);

}  // namespace tilewright
