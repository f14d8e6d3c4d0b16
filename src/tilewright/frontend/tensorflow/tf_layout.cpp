// SAME padding: as many outputs as ceil(size / stride); the odd element of padding goes to the end.
#include "tilewright/frontend/tensorflow/tf_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

constexpr int64_t kMostWindow = int64_t{1} << 20;

// Element by element along the innermost axis of the result.
Tensor permuted_constant(const Tensor& tensor, const std::vector<int64_t>& order) {
  const int rank = tensor.shape().rank();
  const std::vector<int64_t> from = tensor.shape().strides();
  std::vector<int64_t> dims, strides;
  for (const int64_t axis : order) {
    dims.push_back(tensor.shape()[int(axis)]);
    strides.push_back(from[size_t(axis)]);
  }
  Tensor result(tensor.type(), Shape(dims));
  const size_t width = size_t(bit_width(tensor.type()) / 8);
  const std::byte* source = tensor.bytes().data();
  std::byte* target = result.mutable_bytes().data();
  std::vector<int64_t> index(size_t(rank), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < result.size(); ++i) {
    std::memcpy(target + size_t(i) * width, source + size_t(offset) * width, width);
    for (int axis = rank - 1; axis >= 0; --axis) {
      const size_t a = size_t(axis);
      offset += strides[a];
      if (++index[a] < dims[a]) break;
      offset -= strides[a] * dims[a];
      index[a] = 0;
    }
  }
  return result;
}

}  // namespace

TfLayout::TfLayout(const TfNode& node) {
  const std::string format = node.string_or("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") {
    unsupported(fmt::format("data format '{}'", format), "NHWC and NCHW are supported");
  }
  channels_last_ = format == "NHWC";
}

std::vector<int64_t> TfLayout::window(const TfNode& node, const std::string& attribute,
                                      int64_t fallback) const {
  const std::vector<int64_t> all = node.ints_or(attribute, {});
  if (all.empty()) return {fallback, fallback};
  if (all.size() != 4 ||
      std::any_of(all.begin(), all.end(), [](int64_t v) { return v < 1 || v > kMostWindow; })) {
    invalid_node(fmt::format("attribute '{}' needs four sizes of 1 or more", attribute));
  }
  const size_t rows = channels_last_ ? 1 : 2;
  if (all[0] != 1 || all[size_t(channel_axis(4))] != 1) {
    unsupported(fmt::format("attribute '{}' is not 1 along batch and channels", attribute));
  }
  return {all[rows], all[rows + 1]};
}

ValueId reordered(TfOperation& operation, ValueId id, const std::vector<int64_t>& order) {
  if (const auto& constant = operation.value(id).constant) {
    return operation.constant("reordered", permuted_constant(*constant, order));
  }
  return operation.emit("Transpose", {id}, {{"perm", order}});
}

ValueId with_shape(TfOperation& operation, ValueId id, const Shape& shape) {
  if (operation.value(id).shape == shape) return id;
  const auto& constant = operation.value(id).constant;
  if (constant && shape.element_count() == constant->size()) {
    return operation.constant("reshaped", constant->reshaped(shape));
  }
  return operation.emit("Reshape", {id, operation.constant("shape", int64_tensor(shape.dims()))});
}

ValueId to_channels_first(TfOperation& operation, const TfLayout& layout, ValueId id) {
  const int rank = operation.value(id).shape.rank();
  if (rank != 4) invalid_node(fmt::format("needs an input of four axes, this one has {}", rank));
  return layout.channels_last() ? reordered(operation, id, {0, 3, 1, 2}) : id;
}

ValueId from_channels_first(TfOperation& operation, const TfLayout& layout, ValueId id) {
  return layout.channels_last() ? reordered(operation, id, {0, 2, 3, 1}) : id;
}

std::vector<int64_t> tf_padding(const TfNode& node, const TfLayout& layout, const Shape& channels_first,
                                const std::vector<int64_t>& kernel, const std::vector<int64_t>& strides) {
  const std::string mode = node.string_or("padding", "");
  if (mode == "VALID") return {0, 0, 0, 0};
  if (mode == "SAME") {
    std::vector<int64_t> pads(4, 0);
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t size = channels_first[int(axis) + 2];
      const int64_t outputs = ceil_div(size, strides[axis]);
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * strides[axis] + kernel[axis] - size);
      pads[axis] = total / 2;
      pads[axis + 2] = total - total / 2;
    }
    return pads;
  }
  if (mode != "EXPLICIT")
    unsupported(fmt::format("padding '{}'", mode), "SAME, VALID and EXPLICIT are supported");
  const std::vector<int64_t> all = node.ints_or("explicit_paddings", {});
  if (all.size() != 8 ||
      std::any_of(all.begin(), all.end(), [](int64_t v) { return v < 0 || v > kMostWindow; })) {
    invalid_node("attribute 'explicit_paddings' needs eight sizes");
  }
  const size_t rows = layout.channels_last() ? 2 : 4;
  return {all[rows], all[rows + 2], all[rows + 1], all[rows + 3]};
}

}  // namespace tilewright
