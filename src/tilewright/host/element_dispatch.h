// Dispatch from a run-time element type to a C++ type, shared by all kernels.
#pragma once

#include <cstdint>

#include "tilewright/host/kernel_inputs.h"

namespace tilewright {

// Calls f(T{}) with f32 or f64; other types are unsupported.
template <typename F>
auto visit_float(ElementType type, F&& f) {
  if (type == ElementType::kF32) return f(float{});
  if (type == ElementType::kF64) return f(double{});
  throw_unsupported_type(type);
}

// Calls f(T{}) with the type of any number of 8 bits or more (f16 and bf16 excepted: kernels see them as
// f32).
template <typename F>
auto visit_number(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32:
      return f(float{});
    case ElementType::kF64:
      return f(double{});
    case ElementType::kI64:
      return f(int64_t{});
    case ElementType::kI32:
      return f(int32_t{});
    case ElementType::kI16:
      return f(int16_t{});
    case ElementType::kI8:
      return f(int8_t{});
    case ElementType::kU64:
      return f(uint64_t{});
    case ElementType::kU32:
      return f(uint32_t{});
    case ElementType::kU16:
      return f(uint16_t{});
    case ElementType::kU8:
      return f(uint8_t{});
    default:
      throw_unsupported_type(type);
  }
}

// Calls f(U{}) with the unsigned integer as wide as one element: for moving data of any type of 8 bits or
// more.
template <typename F>
auto visit_width(ElementType type, F&& f) {
  switch (bit_width(type)) {
    case 8:
      return f(uint8_t{});
    case 16:
      return f(uint16_t{});
    case 32:
      return f(uint32_t{});
    case 64:
      return f(uint64_t{});
    default:
      throw_unsupported_type(type);
  }
}

// The elements as raw storage of the same width, whatever the element type.
template <typename U>
const U* storage(const Tensor& tensor) {
  return reinterpret_cast<const U*>(tensor.bytes().data());
}
template <typename U>
U* mutable_storage(Tensor& tensor) {
  return reinterpret_cast<U*>(tensor.mutable_bytes().data());
}

}  // namespace tilewright
