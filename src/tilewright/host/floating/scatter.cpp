// GatherElements, GatherND, ScatterElements, ScatterND, CumSum, Trilu, EyeLike. Indices are data, so each is
// checked where it is used.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/graph/operators/operators.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

int64_t checked_index(int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("index {} is outside an axis of size {}", index, size));
  }
  return index < 0 ? index + size : index;
}

// Calls f(position among the indices, position in the data) for every index, where the data position is that
// of the index tensor with the coordinate on `axis` replaced by the index.
template <typename F>
void for_each_element(const Tensor& data, const Tensor& indices, int axis, F&& f) {
  const Shape &shape = indices.shape(), &data_shape = data.shape();
  const std::vector<int64_t> strides = data_shape.strides();
  const int rank = shape.rank();
  if (rank != data_shape.rank())
    throw Error(ErrorKind::kInvalidInput, "the indices have a different rank from the data");
  std::vector<int64_t> at(size_t(rank), 0);
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t position = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t coordinate = d == axis ? indices.integer_at(i) : at[size_t(d)];
      position += checked_index(coordinate, data_shape[d]) * strides[size_t(d)];
    }
    f(i, position);
    for (int d = rank - 1; d >= 0 && ++at[size_t(d)] == shape[d]; --d) at[size_t(d)] = 0;
  }
}

std::vector<Tensor> gather_elements(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &indices = required_input(inputs, 1);
  const int axis = normalize_axis(node.int_or("axis", 0), data.shape().rank());
  Tensor result = bounded_tensor(data.type(), indices.shape());
  visit_width(data.type(), [&](auto tag) {
    using U = decltype(tag);
    const U* in = storage<U>(data);
    U* out = mutable_storage<U>(result);
    for_each_element(data, indices, axis, [&](int64_t i, int64_t position) { out[i] = in[position]; });
  });
  return {result};
}

enum class Reduction { kNone, kAdd, kMultiply };

Reduction reduction_of(const Node& node) {
  const std::string name = node.string_or("reduction", "none");
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMultiply;
  if (name == "none") return Reduction::kNone;
  throw Error(ErrorKind::kUnsupported, fmt::format("reduction '{}'", name));
}

template <typename T>
void combine_into(T& target, T update, Reduction reduction) {
  if (reduction == Reduction::kNone) target = update;
  if (reduction == Reduction::kAdd) target = T(target + update);
  if (reduction == Reduction::kMultiply) target = T(target * update);
}

// Plain replacement works for data of any type, the others for numbers. A product of two i16 or u16 is an
// int.
template <typename F>
void visit_for(Reduction reduction, ElementType type, F&& f) {
  if (reduction == Reduction::kNone) {
    visit_width(type, f);
  } else {
    visit_number(type, f);
  }
}

std::vector<Tensor> scatter_elements(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &indices = required_input(inputs, 1),
               &updates = required_input(inputs, 2);
  const int axis = normalize_axis(node.int_or("axis", 0), data.shape().rank());
  const Reduction reduction = reduction_of(node);
  if (updates.type() != data.type() || !(updates.shape() == indices.shape())) {
    throw Error(ErrorKind::kInvalidInput,
                "the updates differ from the data in type or from the indices in shape");
  }
  Tensor result = data;
  visit_for(reduction, data.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(updates);
    T* out = mutable_storage<T>(result);
    for_each_element(data, indices, axis,
                     [&](int64_t i, int64_t position) { combine_into(out[position], in[i], reduction); });
  });
  return {result};
}

// Calls f(slice number, first element of the slice in the data) for every index tuple.
template <typename F>
void for_each_slice(const Tensor& data, const Tensor& indices, int64_t batch_dims, F&& f) {
  const Shape &shape = data.shape(), &index_shape = indices.shape();
  const int64_t depth = index_shape.rank() == 0 ? 0 : index_shape[index_shape.rank() - 1];
  if (depth < 1 || batch_dims < 0 || batch_dims >= index_shape.rank() || batch_dims + depth > shape.rank()) {
    throw Error(ErrorKind::kInvalidInput, "the indices do not fit the data");
  }
  const std::vector<int64_t> strides = shape.strides();
  const int64_t tuples = index_shape.count(0, index_shape.rank() - 1);
  const int64_t batches = index_shape.count(0, int(batch_dims));
  const int64_t per_batch = shape.count(int(batch_dims), shape.rank());
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    int64_t position = tuple / (tuples / batches) * per_batch;
    for (int64_t d = 0; d < depth; ++d) {
      const int axis = int(batch_dims + d);
      position += checked_index(indices.integer_at(tuple * depth + d), shape[axis]) * strides[size_t(axis)];
    }
    f(tuple, position);
  }
}

std::vector<Tensor> gather_nd(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &indices = required_input(inputs, 1);
  const int64_t batch_dims = node.int_or("batch_dims", 0);
  const Shape &shape = data.shape(), &index_shape = indices.shape();
  if (bit_width(data.type()) < 8) throw_unsupported_type(data.type());
  if (index_shape.rank() < 1 || batch_dims < 0 ||
      batch_dims + index_shape[index_shape.rank() - 1] > shape.rank()) {
    throw Error(ErrorKind::kInvalidInput, "the indices do not fit the data");
  }
  const int first = int(batch_dims + index_shape[index_shape.rank() - 1]);
  std::vector<int64_t> dims(index_shape.begin(), index_shape.end() - 1);
  dims.insert(dims.end(), shape.begin() + first, shape.end());
  Tensor result = bounded_tensor(data.type(), Shape(std::move(dims)));
  if (result.size() == 0) return {result};
  const size_t width = size_t(bit_width(data.type())) / 8,
               slice = size_t(shape.count(first, shape.rank())) * width;
  std::byte* out = result.mutable_bytes().data();
  for_each_slice(data, indices, batch_dims, [&](int64_t tuple, int64_t position) {
    std::memcpy(out + size_t(tuple) * slice, data.bytes().data() + size_t(position) * width, slice);
  });
  return {result};
}

std::vector<Tensor> scatter_nd(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &data = required_input(inputs, 0), &indices = required_input(inputs, 1),
               &updates = required_input(inputs, 2);
  const Reduction reduction = reduction_of(node);
  const int index_rank = indices.shape().rank();
  const int64_t depth = index_rank == 0 ? 0 : indices.shape()[index_rank - 1];
  if (depth < 1 || depth > data.shape().rank() || updates.type() != data.type()) {
    throw Error(ErrorKind::kInvalidInput, "the indices or updates do not fit the data");
  }
  const int64_t slice = data.shape().count(int(depth), data.shape().rank());
  if (updates.size() != indices.shape().count(0, index_rank - 1) * slice) {
    throw Error(ErrorKind::kInvalidInput, "the number of updates does not fit the indices");
  }
  Tensor result = data;
  visit_for(reduction, data.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(updates);
    T* out = mutable_storage<T>(result);
    for_each_slice(data, indices, 0, [&](int64_t tuple, int64_t position) {
      for (int64_t i = 0; i < slice; ++i) combine_into(out[position + i], in[tuple * slice + i], reduction);
    });
  });
  return {result};
}

std::vector<Tensor> cum_sum(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &x = required_input(inputs, 0), &axis_input = required_input(inputs, 1);
  if (axis_input.size() != 1) throw Error(ErrorKind::kInvalidInput, "the axis of CumSum is one number");
  const Shape& shape = x.shape();
  const int axis = normalize_axis(axis_input.integer_at(0), shape.rank());
  const bool exclusive = node.int_or("exclusive", 0) != 0, reverse = node.int_or("reverse", 0) != 0;
  const int64_t size = shape[axis], inner = shape.count(axis + 1, shape.rank());
  Tensor result(x.type(), shape);
  if (x.size() == 0) return {result};
  visit_number(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(x);
    T* out = mutable_storage<T>(result);
    for (int64_t line = 0; line < x.size() / size; ++line) {
      const int64_t start = line / inner * size * inner + line % inner;
      T sum = T(0);
      for (int64_t i = 0; i < size; ++i) {
        const int64_t at = start + (reverse ? size - 1 - i : i) * inner;
        if (exclusive) out[at] = sum;
        if constexpr (std::is_floating_point_v<T>) {
          sum += in[at];
        } else {
          sum = T(uint64_t(sum) + uint64_t(in[at]));  // wraps
        }
        if (!exclusive) out[at] = sum;
      }
    }
  });
  return {result};
}

std::vector<Tensor> trilu(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  const int rank = x.shape().rank();
  if (rank < 2) throw Error(ErrorKind::kInvalidInput, "Trilu takes matrices");
  const bool upper = node.int_or("upper", 1) != 0;
  const int64_t rows = x.shape()[rank - 2], columns = x.shape()[rank - 1];
  // Beyond the matrix every diagonal is the same.
  const int64_t given = has_input(inputs, 1) && inputs[1]->size() == 1 ? inputs[1]->integer_at(0) : 0;
  const int64_t k = std::clamp(given, -rows - 1, columns + 1);
  Tensor result = x;
  visit_width(x.type(), [&](auto tag) {
    using U = decltype(tag);
    U* out = mutable_storage<U>(result);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t row = i / columns % rows, column = i % columns;
      if (upper ? column < row + k : column > row + k) out[i] = U(0);
    }
  });
  return {result};
}

std::vector<Tensor> eye_like(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  if (x.shape().rank() != 2) throw Error(ErrorKind::kInvalidInput, "EyeLike takes a matrix");
  const auto type = node.has("dtype") ? element_type_of_onnx(node.int_or("dtype", 0)) : x.type();
  if (!type) throw Error(ErrorKind::kUnsupported, "the element type of EyeLike");
  Tensor result(*type, x.shape());
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t k = std::clamp(node.int_or("k", 0), -rows - 1, columns + 1);
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row) {
    result.set_number(row * columns + row + k, 1.0);
  }
  return {result};
}

constexpr KernelEntry kScatterKernels[] = {
    {"", "CumSum", cum_sum},
    {"", "EyeLike", eye_like, nullptr, HalfTypes::kNative},
    {"", "GatherElements", gather_elements, nullptr, HalfTypes::kNative},
    {"", "GatherND", gather_nd, nullptr, HalfTypes::kNative},
    {"", "ScatterElements", scatter_elements},
    {"", "ScatterND", scatter_nd},
    {"", "Trilu", trilu, nullptr, HalfTypes::kNative},
};

}  // namespace

std::span<const KernelEntry> scatter_kernels() { return kScatterKernels; }

}  // namespace tilewright
