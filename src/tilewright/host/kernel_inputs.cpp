// Checks that the kernels share. Their messages name the input, the axis or the type but not the node, which
// prepared_node.cpp adds.
#include "tilewright/host/kernel_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {

const Tensor& required_input(KernelInputs inputs, size_t index) {
  if (!has_input(inputs, index)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("input {} is missing", index));
  }
  return *inputs[index];
}

std::vector<int64_t> integer_list(const Tensor& tensor, const char* what) {
  if (!is_integer(tensor.type()) || tensor.shape().rank() > 1) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} must be a list of integers, not {}", what,
                                                      to_string(tensor.type(), tensor.shape())));
  }
  return tensor.to_integers();
}

std::vector<int> normalized_axes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> result;
  for (const int64_t axis : axes) result.push_back(normalize_axis(axis, rank));
  std::ranges::sort(result);
  if (const auto repeated = std::ranges::adjacent_find(result); repeated != result.end()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("axis {} is listed twice", *repeated));
  }
  return result;
}

Tensor bounded_tensor(ElementType type, Shape shape) {
  constexpr int64_t kMaxBits = int64_t{1} << 35;
  if (shape.element_count() > kMaxBits / bit_width(type)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the computed shape {} is beyond 4 GiB", to_string(shape)));
  }
  return Tensor(type, std::move(shape));
}

void throw_unsupported_type(ElementType type) {
  throw Error(ErrorKind::kUnsupported, fmt::format("element type {} is not supported", name(type)));
}

}  // namespace tilewright
