// Operators that choose, repeat or rearrange elements, in the file's layout.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tilewright/frontend/image_blocks.h"
#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using TensorLayout::kFile;

ValueId transposed_matrices(TfliteLowering& l, ValueId x) {
  const int rank = l.value_of(x).shape.rank();
  if (rank < 2) throw Error(ErrorKind::kInvalidInput, "transposes a vector");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[size_t(rank) - 1], perm[size_t(rank) - 2]);
  return l.emit("Transpose", {x}, {{"perm", perm}});
}

void finish_move(TfliteLowering& l, const BlockMove& move) {
  ValueId y = l.value(0, kFile);
  if (!move.pads.empty()) y = l.emit("Pad", {y, l.integers_value("pads", move.pads)});
  y = l.emit("Transpose", {l.reshape(y, Shape(move.split))}, {{"perm", move.perm}});
  y = l.reshape(y, Shape(move.result));
  if (!move.axes.empty()) {
    y = l.emit("Slice", {y, l.integers_value("begin", move.begin), l.integers_value("end", move.end),
                         l.integers_value("axes", move.axes)});
  }
  l.finish(0, y, kFile);
}

}  // namespace

void lower_batch_matmul(TfliteLowering& l) {
  l.require(2, 1);
  ValueId a = l.real(0, kFile), b = l.real(1, kFile);
  if (l.options().transposes_a) a = transposed_matrices(l, a);
  if (l.options().transposes_b) b = transposed_matrices(l, b);
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

void lower_space_to_batch(TfliteLowering& l) {
  l.require(3, 1);
  finish_move(
      l, space_to_batch(l.shape(0), l.constant_integers(1, "block sizes"), l.constant_integers(2, "pads")));
}

void lower_batch_to_space(TfliteLowering& l) {
  l.require(3, 1);
  finish_move(
      l, batch_to_space(l.shape(0), l.constant_integers(1, "block sizes"), l.constant_integers(2, "crops")));
}

}  // namespace tilewright
