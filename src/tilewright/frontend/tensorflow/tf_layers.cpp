// Layers with weights and pools. Weights are HWIO in TensorFlow and OIHW in the graph; those of a depthwise
// convolution are HWCM, with the M outputs of a channel next to each other.
#include <fmt/format.h>

#include "tilewright/frontend/tensorflow/tf_layout.h"

namespace tilewright {
namespace {

std::vector<int64_t> dilated(const std::vector<int64_t>& kernel, const std::vector<int64_t>& dilations) {
  return {(kernel[0] - 1) * dilations[0] + 1, (kernel[1] - 1) * dilations[1] + 1};
}

void expect_rank(TfOperation& operation, int input, int rank, const char* what) {
  if (operation.rank(input) == rank) return;
  invalid_node(fmt::format("{} of {} axes, this one has {}", what, rank, operation.rank(input)));
}

// The convolution of input 0 with `weights`, already OIHW.
void emit_conv(TfOperation& operation, ValueId weights, int64_t groups) {
  const TfNode& node = operation.node();
  const TfLayout layout(node);
  const ValueId x = to_channels_first(operation, layout, operation.input(0));
  const Shape kernel_shape = operation.value(weights).shape;
  const std::vector<int64_t> kernel = {kernel_shape[2], kernel_shape[3]};
  const std::vector<int64_t> strides = layout.window(node, "strides", 1);
  const std::vector<int64_t> dilations = layout.window(node, "dilations", 1);
  const std::vector<int64_t> pads =
      tf_padding(node, layout, operation.value(x).shape, dilated(kernel, dilations), strides);
  const ValueId y = operation.emit("Conv", {x, weights},
                                   {{"kernel_shape", kernel},
                                    {"strides", strides},
                                    {"dilations", dilations},
                                    {"pads", pads},
                                    {"group", groups}});
  operation.output(0, from_channels_first(operation, layout, y));
}

void convert_conv2d(TfOperation& operation) {
  expect_rank(operation, 1, 4, "needs weights");
  expect_rank(operation, 0, 4, "needs an input");
  const int64_t channels = operation.shape(0)[TfLayout(operation.node()).channel_axis(4)];
  const int64_t per_group = operation.shape(1)[2];
  if (per_group < 1 || channels % per_group != 0) {
    invalid_node(fmt::format("{} channels do not fit weights for {}", channels, per_group));
  }
  emit_conv(operation, reordered(operation, operation.input(1), {3, 2, 0, 1}), channels / per_group);
}

void convert_depthwise(TfOperation& operation) {
  expect_rank(operation, 1, 4, "needs weights");
  const Shape& shape = operation.shape(1);
  const int64_t channels = shape[2];
  const Shape grouped = {channels * shape[3], 1, shape[0], shape[1]};
  const ValueId ordered = reordered(operation, operation.input(1), {2, 3, 0, 1});
  emit_conv(operation, with_shape(operation, ordered, grouped), channels);
}

// A transposed convolution: input 0 holds the output's sizes, input 1 HWOI weights, input 2 the data.
void convert_conv2d_backprop(TfOperation& operation) {
  const TfNode& node = operation.node();
  const TfLayout layout(node);
  expect_rank(operation, 1, 4, "needs weights");
  const std::vector<int64_t> sizes = operation.integers(0, "output sizes");
  if (sizes.size() != 4) invalid_node("needs four output sizes");
  const ValueId weights = reordered(operation, operation.input(1), {3, 2, 0, 1});
  const ValueId x = to_channels_first(operation, layout, operation.input(2));
  const std::vector<int64_t> strides = layout.window(node, "strides", 1);
  const std::vector<int64_t> dilations = layout.window(node, "dilations", 1);
  const std::vector<int64_t> kernel = {operation.shape(1)[0], operation.shape(1)[1]};
  const std::vector<int64_t> span = dilated(kernel, dilations);
  const size_t rows = layout.channels_last() ? 1 : 2;
  const Shape outputs = {1, 1, sizes[rows], sizes[rows + 1]};
  std::vector<int64_t> pads = tf_padding(node, layout, outputs, span, strides);
  std::vector<int64_t> extra(2, 0);
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = operation.value(x).shape[int(axis) + 2];
    const int64_t made = (size - 1) * strides[axis] + span[axis] - pads[axis] - pads[axis + 2];
    extra[axis] = sizes[rows + axis] - made;
    if (extra[axis] < 0 || extra[axis] >= strides[axis]) {
      invalid_node(fmt::format("{} inputs do not give {} outputs", size, sizes[rows + axis]));
    }
  }
  const ValueId y = operation.emit("ConvTranspose", {x, weights},
                                   {{"kernel_shape", kernel},
                                    {"strides", strides},
                                    {"dilations", dilations},
                                    {"pads", pads},
                                    {"output_padding", extra}});
  operation.output(0, from_channels_first(operation, layout, y));
}

void convert_bias_add(TfOperation& operation) {
  const TfLayout layout(operation.node());
  const int rank = operation.rank(0);
  expect_rank(operation, 1, 1, "needs a bias");
  ValueId bias = operation.input(1);
  if (!layout.channels_last() && rank > 2) {
    std::vector<int64_t> dims(size_t(rank) - 1, 1);
    dims[0] = operation.shape(1)[0];
    bias = with_shape(operation, bias, Shape(dims));
  }
  operation.output(0, operation.emit("Add", {operation.input(0), bias}));
}

ValueId last_axes_swapped(TfOperation& operation, ValueId id) {
  const int rank = operation.value(id).shape.rank();
  if (rank < 2) invalid_node("needs matrices");
  std::vector<int64_t> order;
  for (int axis = 0; axis < rank; ++axis) order.push_back(axis);
  std::swap(order[size_t(rank) - 1], order[size_t(rank) - 2]);
  return reordered(operation, id, order);
}

void convert_matmul(TfOperation& operation) {
  const TfNode& node = operation.node();
  ValueId a = operation.input(0), b = operation.input(1);
  if (node.bool_or("transpose_a", false) || node.bool_or("adj_x", false)) a = last_axes_swapped(operation, a);
  if (node.bool_or("transpose_b", false) || node.bool_or("adj_y", false)) b = last_axes_swapped(operation, b);
  operation.output(0, operation.emit("MatMul", {a, b}));
}

void emit_pool(TfOperation& operation, const char* op) {
  const TfNode& node = operation.node();
  const TfLayout layout(node);
  const ValueId x = to_channels_first(operation, layout, operation.input(0));
  const std::vector<int64_t> kernel = layout.window(node, "ksize", 1);
  const std::vector<int64_t> strides = layout.window(node, "strides", 1);
  const std::vector<int64_t> pads = tf_padding(node, layout, operation.value(x).shape, kernel, strides);
  const ValueId y = operation.emit(op, {x}, {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}});
  operation.output(0, from_channels_first(operation, layout, y));
}

}  // namespace

std::vector<TfTableEntry> tf_layer_converters() {
  return {{"Conv2D", convert_conv2d},
          {"DepthwiseConv2dNative", convert_depthwise},
          {"Conv2DBackpropInput", convert_conv2d_backprop},
          {"BiasAdd", convert_bias_add},
          {"MatMul", convert_matmul},
          {"BatchMatMul", convert_matmul},
          {"BatchMatMulV2", convert_matmul},
          {"MaxPool", [](TfOperation& operation) { emit_pool(operation, "MaxPool"); }},
          {"AvgPool", [](TfOperation& operation) { emit_pool(operation, "AveragePool"); }}};
}

}  // namespace tilewright
