// Parts of tensors. StridedSlice describes axes one after another, with bit masks for open ends, axes that
// are added (new_axis), axes that vanish (shrink) and one ellipsis for all axes that are not mentioned.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/frontend/image_blocks.h"
#include "tilewright/frontend/tensorflow/tf_operation.h"

namespace tilewright {
namespace {

struct Cuts {
  std::vector<int64_t> starts, ends, axes, steps;

  void add(int64_t start, int64_t end, int64_t axis, int64_t step) {
    starts.push_back(start);
    ends.push_back(end);
    axes.push_back(axis);
    steps.push_back(step);
  }
};

ValueId emit_slice(TfOperation& operation, ValueId id, const Cuts& cuts) {
  if (cuts.axes.empty()) return id;
  return operation.emit("Slice", {id, operation.constant("starts", int64_tensor(cuts.starts)),
                                  operation.constant("ends", int64_tensor(cuts.ends)),
                                  operation.constant("axes", int64_tensor(cuts.axes)),
                                  operation.constant("steps", int64_tensor(cuts.steps))});
}

void convert_slice(TfOperation& operation) {
  const std::vector<int64_t> begin = operation.integers(1, "positions");
  const std::vector<int64_t> size = operation.integers(2, "sizes");
  const Shape& shape = operation.shape(0);
  if (int(begin.size()) != shape.rank() || begin.size() != size.size()) {
    invalid_node("needs a position and a size for every axis");
  }
  Cuts cuts;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t from = begin[size_t(axis)], count = size[size_t(axis)];
    const int64_t rest = shape[axis] - from;
    if (from < 0 || rest < 0 || count < -1 || count > rest) invalid_node(fmt::format("leaves axis {}", axis));
    const int64_t to = count == -1 ? shape[axis] : from + count;
    if (from != 0 || to != shape[axis]) cuts.add(from, to, axis, 1);
  }
  operation.output(0, emit_slice(operation, operation.input(0), cuts));
}

void convert_move(TfOperation& operation, const BlockMove& move) {
  const auto integers = [&](const char* role, const std::vector<int64_t>& values) {
    return operation.constant(role, int64_tensor(values));
  };
  ValueId y = operation.input(0);
  if (!move.pads.empty()) y = operation.emit("Pad", {y, integers("pads", move.pads)});
  y = operation.emit("Reshape", {y, integers("split", move.split)});
  y = operation.emit("Transpose", {y}, {{"perm", move.perm}});
  y = operation.emit("Reshape", {y, integers("images", move.result)});
  if (!move.axes.empty()) {
    y = operation.emit(
        "Slice", {y, integers("begin", move.begin), integers("end", move.end), integers("axes", move.axes)});
  }
  operation.output(0, y);
}

// Those that no dilation was recognised in (tf_dilation.cpp): their paddings may be computed from sizes.
void convert_space_to_batch(TfOperation& operation) {
  convert_move(operation, space_to_batch(operation.shape(0), operation.integers(1, "block sizes"),
                                         operation.integers(2, "paddings")));
}

void convert_batch_to_space(TfOperation& operation) {
  convert_move(operation, batch_to_space(operation.shape(0), operation.integers(1, "block sizes"),
                                         operation.integers(2, "crops")));
}

class StridedSlice {
 public:
  explicit StridedSlice(TfOperation& operation) : operation_(operation), node_(operation.node()) {
    begin_ = operation.integers(1, "positions");
    end_ = operation.integers(2, "positions");
    strides_ = operation.integers(3, "strides");
    if (begin_.size() != end_.size() || begin_.size() != strides_.size() || begin_.size() > 32) {
      invalid_node("its positions and strides differ in number");
    }
  }

  void convert() {
    const int rank = operation_.rank(0);
    const int count = int(begin_.size());
    int mentioned = 0;
    for (int i = 0; i < count; ++i) mentioned += !has("new_axis_mask", i) && !has("ellipsis_mask", i);
    if (mentioned > rank) invalid_node(fmt::format("describes {} axes of {}", mentioned, rank));
    int axis = 0, result_axis = 0;
    for (int i = 0; i < count; ++i) {
      if (has("ellipsis_mask", i)) {
        axis += rank - mentioned;
        result_axis += rank - mentioned;
      } else if (has("new_axis_mask", i)) {
        added_.push_back(result_axis++);
      } else if (has("shrink_axis_mask", i)) {
        take_one(i, axis++);
      } else {
        take_range(i, axis++);
        ++result_axis;
      }
    }
    ValueId result = emit_slice(operation_, operation_.input(0), cuts_);
    if (!shrunk_.empty()) {
      result = operation_.emit("Squeeze", {result, operation_.constant("shrunk", int64_tensor(shrunk_))});
    }
    if (!added_.empty()) {
      result = operation_.emit("Unsqueeze", {result, operation_.constant("added", int64_tensor(added_))});
    }
    operation_.output(0, result);
  }

 private:
  bool has(const char* mask, int bit) const { return (node_.int_or(mask, 0) >> bit) & 1; }

  void take_one(int i, int axis) {
    const int64_t size = operation_.shape(0)[axis];
    const int64_t at = begin_[size_t(i)] < 0 ? begin_[size_t(i)] + size : begin_[size_t(i)];
    if (at < 0 || at >= size) invalid_node(fmt::format("takes element {} of {}", begin_[size_t(i)], size));
    cuts_.add(at, at + 1, axis, 1);
    shrunk_.push_back(axis);
  }

  void take_range(int i, int axis) {
    constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
    const int64_t step = strides_[size_t(i)];
    if (step == 0) invalid_node("a stride is 0");
    const int64_t from = has("begin_mask", i) ? (step > 0 ? 0 : kFar) : begin_[size_t(i)];
    const int64_t to = has("end_mask", i) ? (step > 0 ? kFar : -kFar) : end_[size_t(i)];
    if (from != 0 || to != kFar || step != 1) cuts_.add(from, to, axis, step);
  }

  TfOperation& operation_;
  const TfNode& node_;
  std::vector<int64_t> begin_, end_, strides_, shrunk_, added_;
  Cuts cuts_;
};

void emit_split(TfOperation& operation, int data, int axis_input, std::vector<int64_t> sizes) {
  const std::vector<int64_t> axes = operation.integers(axis_input, "axes");
  if (axes.size() != 1) invalid_node("needs one axis");
  const int64_t axis = normalize_axis(axes[0], operation.rank(data));
  const int64_t length = operation.shape(data)[int(axis)];
  int64_t known = 0;
  for (const int64_t size : sizes) {
    if (size < -1 || size > length) invalid_node("a part's size is out of range");
    known += std::max<int64_t>(size, 0);
  }
  for (int64_t& size : sizes) size = size == -1 ? length - known : size;
  const ValueId parts = operation.constant("sizes", int64_tensor(sizes));
  const std::vector<ValueId> outputs =
      operation.emit_several("Split", {operation.input(data), parts}, int(sizes.size()), {{"axis", axis}});
  for (size_t i = 0; i < outputs.size(); ++i) operation.output(int(i), outputs[i]);
}

// Inputs: axis, data.
void convert_split(TfOperation& operation) {
  const int64_t count = operation.node().int_or("num_split", 1);
  const std::vector<int64_t> axes = operation.integers(0, "axes");
  if (axes.size() != 1 || count < 1 || count > 4096) invalid_node("needs one axis and 1 to 4096 parts");
  const int64_t length = operation.shape(1)[normalize_axis(axes[0], operation.rank(1))];
  if (length % count != 0) invalid_node(fmt::format("{} elements do not split into {} parts", length, count));
  emit_split(operation, 1, 0, std::vector<int64_t>(size_t(count), length / count));
}

// Inputs: data, sizes, axis.
void convert_split_v(TfOperation& operation) { emit_split(operation, 0, 2, operation.integers(1, "sizes")); }

}  // namespace

std::vector<TfTableEntry> tf_slice_converters() {
  return {{"BatchToSpaceND", convert_batch_to_space},
          {"Slice", convert_slice},
          {"SpaceToBatchND", convert_space_to_batch},
          {"Split", convert_split},
          {"SplitV", convert_split_v},
          {"StridedSlice", [](TfOperation& operation) { StridedSlice(operation).convert(); }}};
}

}  // namespace tilewright
