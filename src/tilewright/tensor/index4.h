// Indices of tensors of rank 4, as the reference kernels walk them.
#pragma once

#include <cstdint>

#include "tilewright/tensor/shape.h"

namespace tilewright {

// Position of element (a, b, c, d) in row-major order.
inline int64_t offset(const Shape& shape, int64_t a, int64_t b, int64_t c, int64_t d) {
  return ((a * shape[1] + b) * shape[2] + c) * shape[3] + d;
}

// Calls body(n, c, y, x) for every index of a rank-4 shape.
template <typename Body>
void for_each_index(const Shape& shape, Body&& body) {
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < shape[1]; ++c) {
      for (int64_t y = 0; y < shape[2]; ++y) {
        for (int64_t x = 0; x < shape[3]; ++x) body(n, c, y, x);
      }
    }
  }
}

}  // namespace tilewright
