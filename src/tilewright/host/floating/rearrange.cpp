// Operators that move elements to a regular pattern: Transpose, Slice, Split, Concat, Expand, Tile, Pad,
// DepthToSpace, SpaceToDepth.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/graph/slices.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

std::vector<Tensor> transpose(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int rank = data.shape().rank();
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const std::vector<int64_t> listed = node.ints_or("perm", backwards);
  if (int(normalized_axes(listed, rank).size()) != rank) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("attribute 'perm' has {} axes, the data has {}", listed.size(), rank));
  }
  std::vector<int> permutation;
  for (const int64_t axis : listed) permutation.push_back(normalize_axis(axis, rank));
  return {transposed(data, permutation)};
}

std::vector<Tensor> slice(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const auto list = [&](size_t index, const char* what) {
    return has_input(inputs, index) ? integer_list(*inputs[index], what) : std::vector<int64_t>{};
  };
  const std::vector<SliceRange> ranges = slice_ranges(
      node, data.shape(), integer_list(required_input(inputs, 1), "the starts"),
      integer_list(required_input(inputs, 2), "the ends"), list(3, "the axes"), list(4, "the steps"));
  std::vector<int64_t> strides = data.shape().strides();
  std::vector<int64_t> dims;
  int64_t offset = 0;
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    if (ranges[axis].count > 0) offset += ranges[axis].start * strides[axis];
    strides[axis] *= ranges[axis].step;
    dims.push_back(ranges[axis].count);
  }
  return {strided_copy(data, Shape(std::move(dims)), std::move(strides), offset)};
}

std::vector<Tensor> split(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int axis = normalize_axis(node.int_or("axis", 0), data.shape().rank());
  const int64_t size = data.shape()[axis], parts = int64_t(node.outputs.size());
  if (parts == 0) throw Error(ErrorKind::kInvalidInput, "a Split needs outputs");
  std::vector<int64_t> sizes;
  if (has_input(inputs, 1)) {
    sizes = integer_list(*inputs[1], "the sizes of a Split");
  } else {
    const int64_t part = ceil_div(size, parts);
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  int64_t sum = 0;
  for (const int64_t part : sizes) sum = part < 0 || part > size ? size + 1 : std::min(sum + part, size + 1);
  if (int64_t(sizes.size()) != parts || sum != size) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("sizes [{}] do not split axis {} of {} into {} outputs", fmt::join(sizes, ", "),
                            axis, to_string(data.shape()), parts));
  }
  std::vector<Tensor> outputs;
  const std::vector<int64_t> strides = data.shape().strides();
  int64_t start = 0;
  for (const int64_t part : sizes) {
    Shape shape = data.shape();
    shape[axis] = part;
    outputs.push_back(strided_copy(data, shape, strides, part == 0 ? 0 : start * strides[size_t(axis)]));
    start += part;
  }
  return outputs;
}

std::vector<Tensor> concat(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& first = required_input(inputs, 0);
  if (bit_width(first.type()) < 8) throw_unsupported_type(first.type());
  const int axis = normalize_axis(node.int_or("axis", 0), first.shape().rank());
  Shape shape = first.shape();
  shape[axis] = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& part = required_input(inputs, i);
    Shape expected = shape;
    expected[axis] = part.shape().rank() == shape.rank() ? part.shape()[axis] : 0;
    if (part.type() != first.type() || part.shape() != expected) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("input {} is {}, which does not fit {} along axis {}",
                                                        i, to_string(part.type(), part.shape()),
                                                        to_string(first.type(), first.shape()), axis));
    }
  }
  for (const Tensor* part : inputs) shape[axis] += part->shape()[axis];
  Tensor result(first.type(), shape);
  const int64_t rows = shape.count(0, axis);
  std::byte* target = result.mutable_bytes().data();
  for (int64_t row = 0; row < rows; ++row) {
    for (const Tensor* part : inputs) {
      const size_t bytes = part->size_bytes() / size_t(rows);
      std::memcpy(target, part->bytes().data() + size_t(row) * bytes, bytes);
      target += bytes;
    }
  }
  return {result};
}

std::vector<Tensor> expand(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const Shape wanted(integer_list(required_input(inputs, 1), "the shape"));
  const Shape shape = broadcast(data.shape(), wanted);
  return {strided_copy(data, shape, broadcast_strides(shape, data.shape()))};
}

// Each axis becomes (repeat, size) with stride 0 for the repeats.
std::vector<Tensor> tile(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const std::vector<int64_t> repeats = integer_list(required_input(inputs, 1), "the repeats");
  if (int(repeats.size()) != data.shape().rank()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} repeats for data of shape {}", repeats.size(), to_string(data.shape())));
  }
  const std::vector<int64_t> own = data.shape().strides();
  std::vector<int64_t> split_dims, strides, dims;
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    const int64_t size = data.shape()[int(axis)];
    split_dims.insert(split_dims.end(), {repeats[axis], size});
    strides.insert(strides.end(), {0, own[axis]});
    dims.push_back(Shape{repeats[axis], size}.element_count());
  }
  return {strided_copy(data, Shape(split_dims), std::move(strides)).reshaped(Shape(dims))};
}

// The source index of every position along one padded axis; -1 for the constant.
std::vector<int64_t> pad_map(const std::string& mode, int64_t size, int64_t begin, int64_t end) {
  constexpr int64_t kMaxPad = int64_t{1} << 32;
  if (std::abs(begin) > kMaxPad || std::abs(end) > kMaxPad || size + begin + end < 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("pads {} and {} do not fit an axis of size {}", begin, end, size));
  }
  if (mode != "constant" && size == 0 && begin + end > 0) {
    throw Error(ErrorKind::kInvalidInput, "an empty axis can only be padded with a constant");
  }
  if (mode == "reflect" && std::max(begin, end) >= std::max<int64_t>(size, 1)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("an axis of size {} cannot be reflected by {} elements",
                                                      size, std::max(begin, end)));
  }
  bounded_tensor(ElementType::kI8, Shape{size + begin + end});
  std::vector<int64_t> map;
  for (int64_t i = -begin; i < size + end; ++i) {
    if (i >= 0 && i < size) {
      map.push_back(i);
    } else if (mode == "edge") {
      map.push_back(i < 0 ? 0 : size - 1);
    } else if (mode == "reflect") {
      map.push_back(i < 0 ? -i : 2 * (size - 1) - i);
    } else {
      map.push_back(-1);
    }
  }
  return map;
}

std::vector<Tensor> pad(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const std::vector<int64_t> pads = integer_list(required_input(inputs, 1), "the pads");
  const std::string mode = node.string_or("mode", "constant");
  const size_t rank = size_t(data.shape().rank());
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    throw Error(ErrorKind::kUnsupported, "mode '" + mode + "' is not supported");
  }
  if (pads.size() != 2 * rank) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} pads for {} axes", pads.size(), rank));
  }
  const Tensor* fill = has_input(inputs, 2) ? inputs[2] : nullptr;
  if (fill != nullptr && (fill->size() != 1 || fill->type() != data.type())) {
    throw Error(ErrorKind::kInvalidInput, "the pad value must be one element of the type of the data");
  }
  std::vector<std::vector<int64_t>> maps;
  for (size_t axis = 0; axis < rank; ++axis) {
    maps.push_back(pad_map(mode, data.shape()[int(axis)], pads[axis], pads[axis + rank]));
  }
  return {mapped_copy(data, maps, fill)};
}

int64_t checked_block_size(const Node& node, const Tensor& data) {
  const int64_t block = node.int_or("blocksize", 1);
  if (block < 1 || block > (1 << 20) || data.shape().rank() != 4) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("blocksize {} on data of shape {}", block, to_string(data.shape())));
  }
  return block;
}

std::vector<Tensor> depth_to_space(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int64_t b = checked_block_size(node, data);
  const Shape& s = data.shape();
  if (s[1] % (b * b) != 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} channels are not a multiple of {}", s[1], b * b));
  }
  const int64_t c = s[1] / (b * b);
  const Shape out{s[0], c, s[2] * b, s[3] * b};
  if (node.string_or("mode", "DCR") == "CRD") {
    return {transposed(data.reshaped({s[0], c, b, b, s[2], s[3]}), std::vector<int>{0, 1, 4, 2, 5, 3})
                .reshaped(out)};
  }
  return {transposed(data.reshaped({s[0], b, b, c, s[2], s[3]}), std::vector<int>{0, 3, 4, 1, 5, 2})
              .reshaped(out)};
}

std::vector<Tensor> space_to_depth(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int64_t b = checked_block_size(node, data);
  const Shape& s = data.shape();
  if (s[2] % b != 0 || s[3] % b != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} is not a multiple of blocksize {}", to_string(s), b));
  }
  const Tensor blocks = data.reshaped({s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {transposed(blocks, std::vector<int>{0, 3, 5, 1, 2, 4})
              .reshaped({s[0], s[1] * b * b, s[2] / b, s[3] / b})};
}

constexpr KernelEntry kRearrangeKernels[] = {
    {"", "Concat", concat, nullptr, HalfTypes::kNative},
    {"", "DepthToSpace", depth_to_space, nullptr, HalfTypes::kNative},
    {"", "Expand", expand, nullptr, HalfTypes::kNative},
    {"", "Pad", pad, nullptr, HalfTypes::kNative},
    {"", "Slice", slice, nullptr, HalfTypes::kNative},
    {"", "SpaceToDepth", space_to_depth, nullptr, HalfTypes::kNative},
    {"", "Split", split, nullptr, HalfTypes::kNative},
    {"", "Tile", tile, nullptr, HalfTypes::kNative},
    {"", "Transpose", transpose, nullptr, HalfTypes::kNative},
};

}  // namespace

std::span<const KernelEntry> rearrange_kernels() { return kRearrangeKernels; }

}  // namespace tilewright
