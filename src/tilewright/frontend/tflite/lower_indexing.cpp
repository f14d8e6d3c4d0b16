// Operators that choose, repeat or rearrange elements, in the file's layout.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using TensorLayout::kFile;

ValueId last_axes_swapped(TfliteLowering& l, ValueId x) {
  const int rank = l.value_of(x).shape.rank();
  if (rank < 2) throw Error(ErrorKind::kInvalidInput, "transposes a vector");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[size_t(rank) - 1], perm[size_t(rank) - 2]);
  return l.emit("Transpose", {x}, {{"perm", perm}});
}

// The block sizes (input 1) and, per block, two numbers (input 2).
struct Blocks {
  std::vector<int64_t> sizes, edges;
  size_t count() const { return sizes.size(); }
};

Blocks read_blocks(TfliteLowering& l, int rank) {
  Blocks blocks{l.constant_integers(1, "block sizes"), l.constant_integers(2, "edges")};
  const bool positive = std::ranges::all_of(blocks.sizes, [](int64_t size) { return size >= 1; });
  const bool none_negative = std::ranges::all_of(blocks.edges, [](int64_t size) { return size >= 0; });
  if (!positive || !none_negative || blocks.count() + 1 > size_t(rank) ||
      blocks.edges.size() != 2 * blocks.count()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("has {} block sizes and {} edges for {} axes",
                                                      blocks.count(), blocks.edges.size(), rank));
  }
  return blocks;
}

}  // namespace

void lower_batch_matmul(TfliteLowering& l) {
  l.require(2, 1);
  ValueId a = l.real(0, kFile), b = l.real(1, kFile);
  if (l.options().transposes_a) a = last_axes_swapped(l, a);
  if (l.options().transposes_b) b = last_axes_swapped(l, b);
  l.finish(0, l.emit("MatMul", {a, b}), kFile);
}

void lower_cumsum(TfliteLowering& l) {
  l.require(2, 1);
  const int64_t axis = normalize_axis(l.constant_integer(1, "axes"), l.shape(0).rank());
  l.finish(0,
           l.emit("CumSum", {l.value(0, kFile), l.constant_value("axis", Tensor::scalar(axis))},
                  {{"exclusive", int64_t{l.options().is_exclusive}},
                   {"reverse", int64_t{l.options().is_reverse}}}),
           kFile);
}

void lower_gather_nd(TfliteLowering& l) {
  l.require(2, 1);
  const ValueId indices = l.emit("Cast", {l.stored(1, kFile)}, {{"to", int64_t{7}}});
  l.finish(0, l.emit("GatherND", {l.value(0, kFile), indices}), kFile);
}

// Inputs: indices, depth, value where on, value where off.
void lower_one_hot(TfliteLowering& l) {
  l.require(4, 1);
  l.require_options();
  const auto single = [&](int input) { return l.reshape(l.value(input, kFile), Shape{1}); };
  const ValueId values = l.emit("Concat", {single(3), single(2)}, {{"axis", int64_t{0}}});
  const ValueId depth = l.constant_value("depth", Tensor::scalar(l.constant_integer(1, "depths")));
  l.finish(0, l.emit("OneHot", {l.stored(0, kFile), depth, values}, {{"axis", l.options().axis}}), kFile);
}

void lower_reverse(TfliteLowering& l) {
  l.require(2, 1);
  const Shape x = l.shape(0);
  ValueId y = l.value(0, kFile);
  for (const int64_t axis : l.constant_integers(1, "axes")) {
    const int64_t at = normalize_axis(axis, x.rank());
    y = l.emit("Slice", {y, l.integers_value("begin", {-1}), l.integers_value("end", {INT64_MIN}),
                         l.integers_value("axis", {at}), l.integers_value("step", {-1})});
  }
  l.finish(0, y, kFile);
}

// SELECT takes a vector as a condition for whole rows.
void lower_select(TfliteLowering& l) {
  l.require(3, 1);
  ValueId condition = l.stored(0, kFile);
  const Shape given = l.shape(0), x = l.shape(1);
  if (l.op().op == "SELECT" && given.rank() == 1 && x.rank() > 1) {
    std::vector<int64_t> dims(size_t(x.rank()), 1);
    dims[0] = given[0];
    condition = l.reshape(condition, Shape(dims));
  }
  l.finish(0, l.emit("Where", {condition, l.value(1, kFile), l.value(2, kFile)}), kFile);
}

void lower_tile(TfliteLowering& l) {
  l.require(2, 1);
  l.finish(
      0, l.emit("Tile", {l.value(0, kFile), l.integers_value("repeats", l.constant_integers(1, "repeats"))}),
      kFile);
}

void lower_top_k(TfliteLowering& l) {
  l.require(2, 2);
  const int64_t k = l.constant_integer(1, "numbers of elements");
  const std::vector<ValueId> both = l.emit_many("TopK", {l.value(0, kFile), l.integers_value("k", {k})}, 2);
  l.finish(0, both[0], kFile);
  l.finish(1, both[1], kFile);
}

// Blocks of the axes after the batch become further images of the batch.
void lower_space_to_batch(TfliteLowering& l) {
  l.require(3, 1);
  Shape x = l.shape(0);
  const Blocks blocks = read_blocks(l, x.rank());
  std::vector<int64_t> pads(2 * size_t(x.rank()), 0);
  for (size_t i = 0; i < blocks.count(); ++i) {
    pads[i + 1] = blocks.edges[2 * i];
    pads[size_t(x.rank()) + i + 1] = blocks.edges[2 * i + 1];
  }
  const ValueId padded = l.emit("Pad", {l.value(0, kFile), l.integers_value("pads", pads)});
  x = l.value_of(padded).shape;
  std::vector<int64_t> split = {x[0]}, perm, last = {x[0]};
  for (size_t i = 0; i < blocks.count(); ++i) {
    const int64_t size = x[int(i) + 1];
    if (size % blocks.sizes[i] != 0) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("has blocks of {} on an axis of {}", blocks.sizes[i], size));
    }
    split.insert(split.end(), {size / blocks.sizes[i], blocks.sizes[i]});
    perm.push_back(int64_t(2 * i + 2));
    last[0] *= blocks.sizes[i];
    last.push_back(size / blocks.sizes[i]);
  }
  perm.push_back(0);
  for (size_t i = 0; i < blocks.count(); ++i) perm.push_back(int64_t(2 * i + 1));
  for (int axis = int(blocks.count()) + 1; axis < x.rank(); ++axis) {
    perm.push_back(std::ssize(split));
    split.push_back(x[axis]);
    last.push_back(x[axis]);
  }
  const ValueId moved = l.emit("Transpose", {l.reshape(padded, Shape(split))}, {{"perm", perm}});
  l.finish(0, l.reshape(moved, Shape(last)), kFile);
}

void lower_batch_to_space(TfliteLowering& l) {
  l.require(3, 1);
  const Shape x = l.shape(0);
  const Blocks blocks = read_blocks(l, x.rank());
  int64_t images = 1;
  for (const int64_t size : blocks.sizes) images *= std::min<int64_t>(size, int64_t{1} << 20);
  if (x.rank() == 0 || images < 1 || x[0] % images != 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("has {} images in blocks of {}", to_string(x), images));
  }
  std::vector<int64_t> split = blocks.sizes, perm, last = {x[0] / images};
  split.push_back(last[0]);
  const auto count = int64_t(blocks.count());
  perm.push_back(count);
  for (int axis = 1; axis < x.rank(); ++axis) {
    const auto at = int64_t(split.size());
    split.push_back(x[axis]);
    perm.push_back(at);
    last.push_back(x[axis]);
    if (axis > count) continue;
    perm.push_back(axis - 1);
    last.back() *= blocks.sizes[size_t(axis) - 1];
  }
  ValueId y = l.emit("Transpose", {l.reshape(l.value(0, kFile), Shape(split))}, {{"perm", perm}});
  y = l.reshape(y, Shape(last));
  for (size_t i = 0; i < blocks.count(); ++i) {
    const int64_t begin = blocks.edges[2 * i], end = last[i + 1] - blocks.edges[2 * i + 1];
    if (end <= begin) throw Error(ErrorKind::kInvalidInput, "crops all that there is");
    if (begin > 0 || end < last[i + 1]) y = l.slice(y, int64_t(i) + 1, begin, end);
  }
  l.finish(0, y, kFile);
}

}  // namespace tilewright
