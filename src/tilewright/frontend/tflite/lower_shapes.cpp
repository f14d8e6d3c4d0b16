// Operators that change shapes and join or divide tensors. Shapes are static, so all of them become Reshape,
// Transpose, Concat, Split and Gather with constant arguments.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using enum TensorLayout;

int64_t insertion_axis(int64_t axis, int rank) { return normalize_axis(axis, rank + 1); }

Shape with_axis(const Shape& shape, int64_t axis) {
  std::vector<int64_t> dims = shape.dims();
  dims.insert(dims.begin() + axis, 1);
  return Shape(std::move(dims));
}

Shape without_axis(const Shape& shape, int64_t axis) {
  std::vector<int64_t> dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return Shape(std::move(dims));
}

// A shape with one size left open (-1), for `count` elements.
Shape closed_shape(std::vector<int64_t> dims, int64_t count) {
  const auto open = std::find(dims.begin(), dims.end(), -1);
  int64_t rest = 1;
  for (const int64_t size : dims) {
    if (size < -1 || (size > 0 && rest > count)) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("asks for the size {}", size));
    }
    if (size != -1) rest *= size;
  }
  if (open != dims.end()) {
    if (rest == 0 || count % rest != 0 || std::count(dims.begin(), dims.end(), -1) > 1) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("cannot close the open size of its shape over {} elements", count));
    }
    *open = count / rest;
  }
  Shape shape(std::move(dims));
  if (shape.element_count() != count) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("makes {} of {} elements", to_string(shape), count));
  }
  return shape;
}

}  // namespace

void lower_reshape(TfliteLowering& l) {
  l.require(1, 1);
  std::vector<int64_t> dims;
  if (l.has_input(1)) {
    dims = l.constant_integers(1, "sizes");
  } else if (l.options().has_dims) {
    dims = l.options().dims;
  } else {
    throw Error(ErrorKind::kInvalidInput, "has neither a shape input nor a shape option");
  }
  const Shape shape = closed_shape(std::move(dims), l.shape(0).element_count());
  l.finish(0, l.reshape(l.value(0, l.flat_layout(0)), shape), kFile);
}

void lower_squeeze(TfliteLowering& l) {
  l.require(1, 1);
  const Shape x = l.shape(0);
  std::vector<bool> dropped(size_t(x.rank()), false);
  for (const int64_t axis : l.options().dims) dropped[size_t(normalize_axis(axis, x.rank()))] = true;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (l.options().dims.empty() ? x[axis] != 1 : !dropped[size_t(axis)]) dims.push_back(x[axis]);
  }
  const Shape shape = closed_shape(std::move(dims), x.element_count());
  l.finish(0, l.reshape(l.value(0, l.flat_layout(0)), shape), kFile);
}

void lower_expand_dims(TfliteLowering& l) {
  l.require(2, 1);
  const Shape x = l.shape(0);
  const int64_t axis = insertion_axis(l.constant_integer(1, "axes"), x.rank());
  l.finish(0, l.reshape(l.value(0, l.flat_layout(0)), with_axis(x, axis)), kFile);
}

void lower_transpose(TfliteLowering& l) {
  l.require(2, 1);
  const std::vector<int64_t> order = l.constant_integers(1, "axes");
  // From the file's layout to channels-first is what the other layout is.
  const bool is_turn = l.shape(0).rank() == 4 && l.layout_of(0) == TensorLayout::kChannelsFirst &&
                       order == std::vector<int64_t>{0, 3, 1, 2};
  if (is_turn) return l.finish(0, l.value(0, TensorLayout::kChannelsFirst), kFile);
  l.finish(0, l.emit("Transpose", {l.value(0, kFile)}, {{"perm", order}}), kFile);
}

void lower_shape(TfliteLowering& l) {
  l.require(1, 1);
  const Shape x = l.shape(0);
  Tensor sizes(Shape{x.rank()}, std::span<const int64_t>(x.dims()));
  if (l.output_tensor(0).type == ElementType::kI32) sizes = sizes.cast(ElementType::kI32);
  l.finish(0, l.constant_value("shape", std::move(sizes)), kFile);
}

void lower_concatenation(TfliteLowering& l) {
  l.require(l.input_count(), 1);
  l.require_options();
  if (l.input_count() == 0) throw Error(ErrorKind::kInvalidInput, "has no input");
  bool has_rank_4 = true;
  for (int i = 0; i < l.input_count(); ++i) has_rank_4 &= l.shape(i).rank() == 4;
  const TensorLayout layout = has_rank_4 ? l.common_layout() : kFile;
  std::vector<ValueId> parts;
  for (int i = 0; i < l.input_count(); ++i) parts.push_back(l.value(i, layout));
  const int64_t axis = l.axis_in(layout, l.options().axis, l.shape(0).rank());
  const ValueId y = l.emit("Concat", std::move(parts), {{"axis", axis}});
  l.finish(0, l.activated(y, l.options().activation), layout);
}

void lower_pack(TfliteLowering& l) {
  l.require(l.input_count(), 1);
  l.require_options();
  if (l.input_count() == 0) throw Error(ErrorKind::kInvalidInput, "has no input");
  const int64_t axis = insertion_axis(l.options().axis, l.shape(0).rank());
  std::vector<ValueId> parts;
  for (int i = 0; i < l.input_count(); ++i) {
    const Shape shape = l.shape(i);
    if (shape != l.shape(0)) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("packs {} with {}", to_string(l.shape(0)), to_string(shape)));
    }
    parts.push_back(l.reshape(l.value(i, kFile), with_axis(shape, axis)));
  }
  l.finish(0, l.emit("Concat", std::move(parts), {{"axis", axis}}), kFile);
}

void lower_unpack(TfliteLowering& l) {
  l.require(1, 1);
  l.require_options();
  const Shape x = l.shape(0);
  const int64_t axis = normalize_axis(l.options().axis, x.rank());
  if (x[int(axis)] != l.output_count()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("divides an axis of {} into {} outputs", x[int(axis)], l.output_count()));
  }
  const auto parts = l.emit_many("Split", {l.value(0, kFile)}, l.output_count(), {{"axis", axis}});
  for (int i = 0; i < l.output_count(); ++i) {
    l.finish(i, l.reshape(parts[size_t(i)], without_axis(l.value_of(parts[size_t(i)]).shape, axis)), kFile);
  }
}

// SPLIT: axis, input. SPLIT_V: input, sizes, axis.
void lower_split(TfliteLowering& l) {
  const bool is_even = l.op().op == "SPLIT";
  l.require(is_even ? 2 : 3, 1);
  l.require_options();
  const int input = is_even ? 1 : 0;
  const Shape x = l.shape(input);
  const TensorLayout layout = l.layout_of(input);
  const int64_t file_axis = normalize_axis(l.constant_integer(is_even ? 0 : 2, "axes"), x.rank());
  const int64_t axis = l.axis_in(layout, file_axis, x.rank());
  std::vector<int64_t> sizes(size_t(l.output_count()), x[int(file_axis)] / l.output_count());
  if (is_even && x[int(file_axis)] % l.output_count() != 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("divides an axis of {} into {} equal parts",
                                                      x[int(file_axis)], l.output_count()));
  }
  if (!is_even) {
    sizes = l.constant_integers(1, "sizes");
    int64_t rest = x[int(file_axis)];
    for (const int64_t size : sizes) rest -= std::max<int64_t>(size, 0);
    for (int64_t& size : sizes) size = size == -1 ? rest : size;
  }
  const ValueId source = l.value(input, layout);
  const auto parts =
      l.emit_many("Split", {source, l.integers_value("split", sizes)}, l.output_count(), {{"axis", axis}});
  for (int i = 0; i < l.output_count(); ++i) l.finish(i, parts[size_t(i)], layout);
}

// With batches, sentence b of the indices reads sentence b of the elements: all sentences are rows of one
// table, and the indices count in it.
void lower_gather(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  const Shape x = l.shape(0), at = l.shape(1);
  const int64_t axis = normalize_axis(l.options().axis, x.rank());
  const int64_t batches = l.options().batch_dims + (l.options().batch_dims < 0 ? at.rank() : 0);
  if (batches == 0)
    return l.finish(0, l.emit("Gather", {l.value(0, kFile), l.value(1, kFile)}, {{"axis", axis}}), kFile);
  bool fits = batches > 0 && batches <= axis && batches <= at.rank();
  for (int i = 0; fits && i < batches; ++i) fits = x[i] == at[i];
  if (!fits) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("gathers from {} at {} along axis {} with batch_dims {}", to_string(x),
                            to_string(at), axis, l.options().batch_dims),
                "both need the same first batch_dims axes, and the axis lies behind them");
  }
  const int64_t batch = x.count(0, int(batches)), outer = x.count(int(batches), int(axis)),
                size = x[int(axis)];
  const int64_t inner = x.count(int(axis) + 1, x.rank()), count = at.count(int(batches), at.rank());
  const std::vector<int64_t> perm = {0, 2, 1, 3};
  const ValueId parts =
      l.emit("Transpose", {l.reshape(l.value(0, kFile), {batch, outer, size, inner})}, {{"perm", perm}});
  const ValueId rows = l.reshape(parts, {batch * size, outer, inner});
  const ValueId indices = l.reshape(l.value(1, kFile), {batch, count});
  Tensor first(l.value_of(indices).type, {batch, 1});
  for (int64_t b = 0; b < batch; ++b) first.set_integer(b, b * size);
  const ValueId places = l.emit("Add", {indices, l.constant_value("first", std::move(first))});
  const ValueId picked =
      l.emit("Gather", {rows, places}, {{"axis", int64_t{0}}});  // [batch, count, outer, inner]
  std::vector<int64_t> dims(x.begin(), x.begin() + axis);
  dims.insert(dims.end(), at.begin() + batches, at.end());
  dims.insert(dims.end(), x.begin() + axis + 1, x.end());
  l.finish(0, l.reshape(l.emit("Transpose", {picked}, {{"perm", perm}}), Shape(std::move(dims))), kFile);
}

}  // namespace tilewright
