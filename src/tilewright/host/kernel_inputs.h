// Reading the inputs of a node inside a kernel.
#pragma once

#include <string>
#include <vector>

#include "tilewright/host/kernel.h"

namespace tilewright {

inline bool has_input(KernelInputs inputs, size_t index) {
  return index < inputs.size() && inputs[index] != nullptr;
}

// Errors (invalid input): a required input is absent.
const Tensor& required_input(KernelInputs inputs, size_t index);

// A list such as axes, shapes or repeats, given as an i64 or i32 tensor. `what` names it in messages.
// Errors (invalid input): not an integer tensor, rank over 1.
std::vector<int64_t> integer_list(const Tensor& tensor, const char* what);

// Axes made non-negative, sorted. Errors (invalid input): out of range, repeated.
std::vector<int> normalized_axes(const std::vector<int64_t>& axes, int rank);

// A zero-filled tensor whose shape depends on data. Errors (invalid input): more than 4 GiB, which for a
// shape computed from input values is a mistake rather than a wish.
Tensor bounded_tensor(ElementType type, Shape shape);

// kUnsupported: "element type f64 is not supported".
[[noreturn]] void throw_unsupported_type(ElementType type);

}  // namespace tilewright
