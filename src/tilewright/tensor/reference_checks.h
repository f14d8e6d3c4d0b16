// What the reference kernels ask of their operands, and the last step of each. Private to the module.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_kernels.h"

namespace tilewright::reference {

inline void require(bool condition, std::string_view op, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {}", op, message));
}

inline void require_tensor(const Tensor& tensor, ElementType type, int rank, std::string_view op,
                           std::string_view what) {
  require(tensor.type() == type && tensor.shape().rank() == rank, op,
          fmt::format("{} must be {} of rank {}, is {}", what, name(type), rank,
                      to_string(tensor.type(), tensor.shape())));
}

// Activations and outputs: i8 or i16.
inline bool is_activation(ElementType type) { return type == ElementType::kI8 || type == ElementType::kI16; }

inline void require_activation(const Tensor& tensor, std::string_view op, std::string_view what) {
  require(is_activation(tensor.type()), op,
          fmt::format("{} must be i8 or i16, is {}", what, to_string(tensor.type(), tensor.shape())));
}

inline void require_activation(const Tensor& tensor, int rank, std::string_view op, std::string_view what) {
  require(is_activation(tensor.type()) && tensor.shape().rank() == rank, op,
          fmt::format("{} must be i8 or i16 of rank {}, is {}", what, rank,
                      to_string(tensor.type(), tensor.shape())));
}

// A number that stands for an element of `tensor`: padding, a zero point.
inline void require_element(int32_t value, const Tensor& tensor, std::string_view op, std::string_view what) {
  const int64_t low = lowest(tensor.type()), high = highest(tensor.type());
  require(low <= value && value <= high, op, fmt::format("{} must be in {}..{}", what, low, high));
}

inline ElementType type_of(const OutputStage& output) {
  return output.bits == 16 ? ElementType::kI16 : ElementType::kI8;
}

inline void require_output(const OutputStage& output, std::string_view op) {
  require(output.bits == 8 || output.bits == 16, op, "an output has 8 or 16 bits");
  const int64_t low = lowest(type_of(output)), high = highest(type_of(output));
  require(
      low <= output.clip_low && output.clip_low <= output.clip_high && output.clip_high <= high, op,
      fmt::format("clip range {}..{} is not inside {}..{}", output.clip_low, output.clip_high, low, high));
  require(!output.bipolar || (output.clip_low == 0 && output.clip_high == 1), op,
          "a bipolar output has the clip range 0..1");
  require(-(1 << 30) < output.y_zero_point && output.y_zero_point < (1 << 30), op,
          fmt::format("zero point {} is out of range", output.y_zero_point));
}

inline void require_scale(int32_t multiplier, int32_t shift, std::string_view op) {
  require(multiplier > 0, op, fmt::format("multiplier {} must be positive", multiplier));
  require(is_shift(shift), op, fmt::format("shift {} must be in 0..62, or 96..126 to round twice", shift));
}

// The operands of a product, element by element or of matrices, with what `parameters` says of them.
template <typename Parameters>
void require_factors(const Tensor& a, const Tensor& b, const Parameters& parameters, std::string_view op) {
  require_activation(a, op, "A");
  require_activation(b, op, "B");
  require_element(parameters.a_zero_point, a, op, "a_zero_point");
  require_element(parameters.b_zero_point, b, op, "b_zero_point");
  require_scale(parameters.multiplier, parameters.shift, op);
  require_output(parameters.output, op);
}

inline int64_t stored(int64_t scaled_value, const OutputStage& output) {
  const int64_t value = clip(scaled_value + output.y_zero_point, output.clip_low, output.clip_high);
  return output.bipolar ? 2 * value - 1 : value;
}

inline int64_t finished(uint64_t accumulator, Requantization scale, const OutputStage& output) {
  return stored(scaled(int32_t(uint32_t(accumulator)), scale), output);
}

}  // namespace tilewright::reference
