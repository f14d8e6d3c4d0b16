// Random operands of integer operators.
#pragma once

#include "tilewright/base/random.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright {

inline Tensor random_integers(ElementType type, const Shape& shape, int64_t low, int64_t high,
                              Random& random) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

// Pads up to the kernel.
inline WindowParameters random_window(Random& random, int64_t kernel_h, int64_t kernel_w) {
  WindowParameters window;
  window.strides = {random.between(1, 3), random.between(1, 3)};
  window.dilations = {random.between(1, 2), random.between(1, 3)};
  window.pads = {random.between(0, kernel_h), random.between(0, kernel_w), random.between(0, kernel_h),
                 random.between(0, kernel_w)};
  return window;
}

}  // namespace tilewright
