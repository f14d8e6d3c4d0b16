// Runs of consecutive elements of a tensor: into it and out of it. Elements below 8 bits are packed, so that
// a run may begin within a byte.
#pragma once

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// The elements first, first + 1, ... of `all` become those of `part`, which has the same type; no other one
// changes. For types of 8 bits and more threads may write different runs at the same time.
void set_elements(Tensor& all, int64_t first, const Tensor& part);

// The elements first, first + 1, ... of `all` in another shape.
Tensor elements_from(const Tensor& all, int64_t first, const Shape& shape);

}  // namespace tilewright
