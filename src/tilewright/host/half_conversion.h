// Conversion of whole tensors between f16 / bf16 and f32.
#pragma once

#include "tilewright/tensor/tensor.h"

namespace tilewright {

inline bool is_half(ElementType type) { return type == ElementType::kF16 || type == ElementType::kBF16; }

// f16 or bf16 to f32.
Tensor widen_half(const Tensor& tensor);
// f32 to f16 or bf16, round to nearest even.
Tensor narrow_to_half(const Tensor& tensor, ElementType half);

}  // namespace tilewright
