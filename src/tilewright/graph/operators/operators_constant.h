// The length of a Range, for inference and evaluation.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// max(ceil((limit - start) / delta), 0) of single elements of one type; nothing when that is no number or
// over 2^40. Formula: ONNX operator reference, Range-11.
std::optional<int64_t> range_length(const Tensor& start, const Tensor& limit, const Tensor& delta);

}  // namespace tilewright
