// Operators that move elements or make new ones without computing. Shapes must be known when the file is
// read.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/frontend/tensorflow/tf_layout.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

// The type that a node computes sizes in.
ElementType size_type(const TfNode& node, const char* attribute) {
  return element_type_of_tensorflow(node.type_or(attribute, 3)).value_or(ElementType::kI32);
}

int64_t axis_of(TfOperation& operation, int index, int rank) {
  const std::vector<int64_t> axis = operation.integers(index, "axes");
  if (axis.size() != 1) invalid_node("needs one axis");
  return normalize_axis(axis[0], rank);
}

void convert_reshape(TfOperation& operation) {
  const std::vector<int64_t> dims = operation.integers(1, "sizes");
  if (operation.value(operation.input(0)).constant && std::count(dims.begin(), dims.end(), -1) == 0) {
    return operation.output(0, with_shape(operation, operation.input(0), Shape(dims)));
  }
  const ValueId sizes = operation.constant("shape", int64_tensor(dims));
  operation.output(0, operation.emit("Reshape", {operation.input(0), sizes}, {{"allowzero", int64_t{1}}}));
}

void convert_squeeze(TfOperation& operation) {
  const Shape& shape = operation.shape(0);
  std::vector<int64_t> axes = operation.node().ints_or("squeeze_dims", operation.node().ints_or("axis", {}));
  if (axes.empty()) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 1) axes.push_back(axis);
    }
  }
  if (axes.empty()) return operation.output(0, operation.input(0));
  operation.output(
      0, operation.emit("Squeeze", {operation.input(0), operation.constant("axes", int64_tensor(axes))}));
}

void convert_expand_dims(TfOperation& operation) {
  const int64_t axis = axis_of(operation, 1, operation.rank(0) + 1);
  operation.output(
      0, operation.emit("Unsqueeze", {operation.input(0), operation.constant("axes", int64_tensor({axis}))}));
}

void convert_transpose(TfOperation& operation) {
  const std::vector<int64_t> order = operation.integers(1, "axes");
  const int rank = operation.rank(0);
  std::vector<bool> seen(size_t(rank), false);
  for (const int64_t axis : order) {
    if (axis < 0 || axis >= rank || seen[size_t(axis)])
      invalid_node("the order of axes is not a permutation");
    seen[size_t(axis)] = true;
  }
  if (int(order.size()) != rank) invalid_node("the order of axes is not a permutation");
  operation.output(0, reordered(operation, operation.input(0), order));
}

void convert_shape(TfOperation& operation) {
  const ValueId sizes = operation.emit("Shape", {operation.input(0)});
  operation.output(0, as_type(operation, sizes, size_type(operation.node(), "out_type")));
}

void convert_size(TfOperation& operation) {
  const ValueId size = operation.emit("Size", {operation.input(0)});
  operation.output(0, as_type(operation, size, size_type(operation.node(), "out_type")));
}

void convert_rank(TfOperation& operation) {
  operation.output(0, operation.constant("rank", Tensor::scalar(int32_t(operation.rank(0)))));
}

void emit_concat(TfOperation& operation, int first, int last, int axis_input) {
  if (first >= last) invalid_node("has nothing to join");
  const int64_t axis = axis_of(operation, axis_input, operation.rank(first));
  std::vector<ValueId> parts;
  for (int i = first; i < last; ++i) parts.push_back(operation.input(i));
  operation.output(0, parts.size() == 1 ? parts[0] : operation.emit("Concat", parts, {{"axis", axis}}));
}

void convert_concat(TfOperation& operation) { emit_concat(operation, 1, operation.input_count(), 0); }
void convert_concat_v2(TfOperation& operation) {
  emit_concat(operation, 0, operation.input_count() - 1, operation.input_count() - 1);
}

void convert_pack(TfOperation& operation) {
  const int64_t axis = normalize_axis(operation.node().int_or("axis", 0), operation.rank(0) + 1);
  const ValueId axes = operation.constant("axes", int64_tensor({axis}));
  std::vector<ValueId> parts;
  for (int i = 0; i < operation.input_count(); ++i) {
    parts.push_back(operation.emit("Unsqueeze", {operation.input(i), axes}));
  }
  operation.output(0, parts.size() == 1 ? parts[0] : operation.emit("Concat", parts, {{"axis", axis}}));
}

void convert_unpack(TfOperation& operation) {
  const int64_t axis = normalize_axis(operation.node().int_or("axis", 0), operation.rank(0));
  const int64_t count = operation.shape(0)[int(axis)];
  if (count > 4096) unsupported("takes more than 4096 parts");
  for (int64_t i = 0; i < count; ++i) {
    const ValueId index = operation.constant("index", Tensor::scalar(i));
    operation.output(int(i), operation.emit("Gather", {operation.input(0), index}, {{"axis", axis}}));
  }
}

void convert_gather(TfOperation& operation) {
  if (operation.node().int_or("batch_dims", 0) != 0) unsupported("gathers per batch");
  const int64_t axis = operation.input_count() > 2 ? axis_of(operation, 2, operation.rank(0)) : 0;
  operation.output(0, operation.emit("Gather", {operation.input(0), operation.input(1)}, {{"axis", axis}}));
}

void convert_tile(TfOperation& operation) {
  const ValueId counts = operation.constant("counts", int64_tensor(operation.integers(1, "counts")));
  operation.output(0, operation.emit("Tile", {operation.input(0), counts}));
}

ValueId expanded(TfOperation& operation, ValueId id, const std::vector<int64_t>& dims) {
  return operation.emit("Expand", {id, operation.constant("shape", int64_tensor(dims))});
}

void convert_fill(TfOperation& operation) {
  operation.output(0, expanded(operation, operation.input(1), operation.integers(0, "sizes")));
}

void convert_broadcast_to(TfOperation& operation) {
  operation.output(0, expanded(operation, operation.input(0), operation.integers(1, "sizes")));
}

void emit_like(TfOperation& operation, double value) {
  const ValueId scalar = operation.constant("value", float_scalar(operation.type(0), value));
  operation.output(0, expanded(operation, scalar, operation.shape(0).dims()));
}

void convert_range(TfOperation& operation) {
  operation.output(0, operation.emit("Range", {operation.input(0), operation.input(1), operation.input(2)}));
}

// {{before, after}, ...} as the list that the graph's Pad wants.
std::vector<int64_t> pads_of(TfOperation& operation) {
  const std::vector<int64_t> pairs = operation.integers(1, "paddings");
  const size_t rank = size_t(operation.rank(0));
  if (pairs.size() != 2 * rank) invalid_node(fmt::format("needs paddings for {} axes", rank));
  std::vector<int64_t> pads(2 * rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    if (pairs[2 * axis] < 0 || pairs[2 * axis + 1] < 0) invalid_node("a padding is negative");
    pads[axis] = pairs[2 * axis];
    pads[axis + rank] = pairs[2 * axis + 1];
  }
  return pads;
}

// Padding rows and columns of images is done with the channels in front, where it meets the layer that
// follows.
void emit_pad(TfOperation& operation, const std::string& mode) {
  std::vector<int64_t> pads = pads_of(operation);
  ValueId x = operation.input(0);
  const bool is_image = pads.size() == 8 && pads[0] + pads[4] + pads[3] + pads[7] == 0;
  if (is_image) {
    x = reordered(operation, x, {0, 3, 1, 2});
    pads = {0, 0, pads[1], pads[2], 0, 0, pads[5], pads[6]};
  }
  std::vector<ValueId> inputs = {x, operation.constant("pads", int64_tensor(pads))};
  if (operation.input_count() > 2) inputs.push_back(operation.input(2));
  const ValueId padded = operation.emit("Pad", inputs, {{"mode", mode}});
  operation.output(0, is_image ? reordered(operation, padded, {0, 2, 3, 1}) : padded);
}

void convert_pad(TfOperation& operation) { emit_pad(operation, "constant"); }

void convert_mirror_pad(TfOperation& operation) {
  if (operation.node().string_or("mode", "REFLECT") != "REFLECT") {
    unsupported("repeats the border", "mode REFLECT is supported");
  }
  emit_pad(operation, "reflect");
}

}  // namespace

std::vector<TfTableEntry> tf_shape_converters() {
  return {{"BroadcastTo", convert_broadcast_to},
          {"Concat", convert_concat},
          {"ConcatV2", convert_concat_v2},
          {"ExpandDims", convert_expand_dims},
          {"Fill", convert_fill},
          {"Gather", convert_gather},
          {"GatherV2", convert_gather},
          {"MirrorPad", convert_mirror_pad},
          {"OnesLike", [](TfOperation& operation) { emit_like(operation, 1); }},
          {"Pack", convert_pack},
          {"Pad", convert_pad},
          {"PadV2", convert_pad},
          {"Range", convert_range},
          {"Rank", convert_rank},
          {"Reshape", convert_reshape},
          {"Shape", convert_shape},
          {"Size", convert_size},
          {"Squeeze", convert_squeeze},
          {"Tile", convert_tile},
          {"Transpose", convert_transpose},
          {"Unpack", convert_unpack},
          {"ZerosLike", [](TfOperation& operation) { emit_like(operation, 0); }}};
}

}  // namespace tilewright
