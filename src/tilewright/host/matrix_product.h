// Products of f32 matrices in memory of the caller, for loops that are parallel on their own.
#pragma once

#include <cstdint>

namespace tilewright {

// Row-major; `stride` elements from one row in memory to the next.
struct MatrixInMemory {
  const float* data = nullptr;
  int64_t stride = 0;
  bool transposed = false;  // the factor is the transpose of what lies in memory
};

// result (rows x columns, rows `stride` apart) = a (rows x depth) * b (depth x columns), or += where `adds`.
// Runs in the calling thread alone; the same machine gives the same bits.
void multiply_matrices(int64_t rows, int64_t columns, int64_t depth, const MatrixInMemory& a,
                       const MatrixInMemory& b, float* result, int64_t stride, bool adds);

}  // namespace tilewright
