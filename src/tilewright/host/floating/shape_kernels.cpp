// Operators that look at or change only the shape: the data is shared, not copied.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

std::vector<Tensor> identity(const Node&, KernelInputs inputs, const HostOptions&) {
  return {required_input(inputs, 0)};
}

// Inference only: the data passes through and the mask keeps everything.
std::vector<Tensor> dropout(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const double ratio = has_input(inputs, 1) && inputs[1]->size() == 1 ? inputs[1]->number_at(0) : 0.5;
  const bool training = has_input(inputs, 2) && inputs[2]->size() == 1 && inputs[2]->integer_at(0) != 0;
  if (training && ratio != 0) {
    throw Error(ErrorKind::kUnsupported, "Dropout in training mode is random; only inference is supported");
  }
  Tensor mask(ElementType::kBool, data.shape());
  std::ranges::fill(mask.mutable_bytes(), std::byte{1});
  return {data, mask};
}

std::vector<Tensor> reshape(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  std::vector<int64_t> dims = integer_list(required_input(inputs, 1), "the shape");
  const auto fail = [&] {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} cannot be reshaped to [{}]", to_string(data.shape()),
                            fmt::join(required_input(inputs, 1).to_integers(), ", ")));
  };
  int unknown = -1;
  for (int i = 0; i < int(dims.size()); ++i) {
    int64_t& dim = dims[size_t(i)];
    if (dim == 0 && node.int_or("allowzero", 0) == 0) {
      if (i >= data.shape().rank()) fail();
      dim = data.shape()[i];
    }
    if (dim < -1 || (dim == -1 && unknown >= 0)) fail();
    if (dim == -1) unknown = i;
  }
  if (unknown >= 0) {
    dims[size_t(unknown)] = 1;
    const int64_t known = Shape(dims).element_count();
    if (known == 0) {
      if (data.size() != 0) fail();
      dims[size_t(unknown)] = 0;
    } else {
      dims[size_t(unknown)] = data.size() / known;
    }
  }
  const Shape shape(std::move(dims));
  if (shape.element_count() != data.size()) fail();
  return {data.reshaped(shape)};
}

std::vector<Tensor> flatten(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int rank = data.shape().rank();
  const int64_t axis = node.int_or("axis", 1);
  const int split = axis == rank ? rank : normalize_axis(axis, rank);
  return {data.reshaped(Shape{data.shape().count(0, split), data.shape().count(split, rank)})};
}

std::vector<Tensor> squeeze(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const Shape& shape = data.shape();
  std::vector<bool> removed(size_t(shape.rank()), false);
  if (has_input(inputs, 1)) {
    for (const int axis : normalized_axes(integer_list(*inputs[1], "the axes"), shape.rank())) {
      if (shape[axis] != 1) {
        throw Error(ErrorKind::kInvalidInput,
                    fmt::format("axis {} of {} is not of size 1", axis, to_string(shape)));
      }
      removed[size_t(axis)] = true;
    }
  } else {
    for (int axis = 0; axis < shape.rank(); ++axis) removed[size_t(axis)] = shape[axis] == 1;
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!removed[size_t(axis)]) dims.push_back(shape[axis]);
  }
  return {data.reshaped(Shape(std::move(dims)))};
}

std::vector<Tensor> unsqueeze(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const std::vector<int64_t> listed = integer_list(required_input(inputs, 1), "the axes");
  const std::vector<int> axes = normalized_axes(listed, data.shape().rank() + int(listed.size()));
  std::vector<int64_t> dims = data.shape().dims();
  for (const int axis : axes) dims.insert(dims.begin() + axis, 1);
  return {data.reshaped(Shape(std::move(dims)))};
}

std::vector<Tensor> shape_of(const Node& node, KernelInputs inputs, const HostOptions&) {
  const std::vector<int64_t>& dims = required_input(inputs, 0).shape().dims();
  const int64_t rank = int64_t(dims.size());
  const auto position = [rank](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const int64_t start = position(node.int_or("start", 0));
  const int64_t end = std::max(start, position(node.int_or("end", rank)));
  return {
      Tensor(Shape{end - start}, std::span<const int64_t>(dims).subspan(size_t(start), size_t(end - start)))};
}

std::vector<Tensor> size_of(const Node&, KernelInputs inputs, const HostOptions&) {
  return {Tensor::scalar<int64_t>(required_input(inputs, 0).size())};
}

constexpr KernelEntry kShapeKernels[] = {
    {"", "Identity", identity, nullptr, HalfTypes::kNative},
    {"", "Dropout", dropout, nullptr, HalfTypes::kNative},
    {"", "Reshape", reshape, nullptr, HalfTypes::kNative},
    {"", "Flatten", flatten, nullptr, HalfTypes::kNative},
    {"", "Squeeze", squeeze, nullptr, HalfTypes::kNative},
    {"", "Unsqueeze", unsqueeze, nullptr, HalfTypes::kNative},
    {"", "Shape", shape_of, nullptr, HalfTypes::kNative},
    {"", "Size", size_of, nullptr, HalfTypes::kNative},
};

}  // namespace

std::span<const KernelEntry> shape_kernels() { return kShapeKernels; }

}  // namespace tilewright
