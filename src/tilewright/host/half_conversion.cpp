// Widens f16 through a table of all 2^16 values; bf16, and all narrowing, element by element with the scalar
// conversions of tensor/element_type.h.
#include "tilewright/host/half_conversion.h"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

// Exact: f16 has 2^16 values, so the loop is one table look-up per element.
const std::vector<float>& half_values() {
  static const std::vector<float> table = [] {
    std::vector<float> values(size_t{1} << 16);
    for (size_t bits = 0; bits < values.size(); ++bits) values[bits] = to_float(Half{uint16_t(bits)});
    return values;
  }();
  return table;
}

}  // namespace

Tensor widen_half(const Tensor& tensor) {
  Tensor result(ElementType::kF32, tensor.shape());
  const std::span<float> out = result.mutable_data<float>();
  if (tensor.type() == ElementType::kF16) {
    const std::vector<float>& table = half_values();
    std::ranges::transform(tensor.data<Half>(), out.begin(), [&](Half h) { return table[h.bits]; });
  } else {
    std::ranges::transform(tensor.data<BFloat16>(), out.begin(), [](BFloat16 h) { return to_float(h); });
  }
  return result;
}

Tensor narrow_to_half(const Tensor& tensor, ElementType half) {
  Tensor result(half, tensor.shape());
  const std::span<const float> in = tensor.data<float>();
  if (half == ElementType::kF16) {
    std::ranges::transform(in, result.mutable_data<Half>().begin(), [](float v) { return to_half(v); });
  } else {
    std::ranges::transform(in, result.mutable_data<BFloat16>().begin(),
                           [](float v) { return to_bfloat16(v); });
  }
  return result;
}

}  // namespace tilewright
