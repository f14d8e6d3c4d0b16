// The micro-kernel of wide fixed-point convolutions and dense layers: exact products of 32-bit integers,
// summed modulo 2^64, for a block of output channels and a block of output positions.
#pragma once

#include <cstdint>

namespace tilewright {

inline constexpr int64_t kFixedRows = 4;       // output channels of a block
inline constexpr int64_t kFixedPositions = 8;  // output positions of a block

// weights: [steps][kFixedRows], values: [steps][kFixedPositions], sums: [kFixedRows][kFixedPositions],
// overwritten.
using FixedProducts = void (*)(const int32_t* weights, const int32_t* values, int64_t steps, uint64_t* sums);

FixedProducts portable_fixed_products();
// The fastest one that this processor runs.
FixedProducts best_fixed_products();

}  // namespace tilewright
