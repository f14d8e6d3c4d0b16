// One function per family of TFLite operators: reads its inputs from the lowering, emits nodes and finishes
// its outputs. Each throws Error where the operator is damaged or not covered in this form.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/frontend/tflite/tflite_lowering.h"

namespace tilewright {

struct TflitePads {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  std::vector<int64_t> onnx() const { return {top, left, bottom, right}; }
};
// The padding of a window over `x` (NHWC) by the operator's options. Errors: strides, dilations or windows
// below 1.
TflitePads tflite_pads(const TfliteOperatorOptions& options, const Shape& x, int64_t kernel_h,
                       int64_t kernel_w, int64_t dilation_h, int64_t dilation_w);

// lower_layers.cpp
void lower_conv_2d(TfliteLowering& l);
void lower_depthwise_conv_2d(TfliteLowering& l);
void lower_transpose_conv(TfliteLowering& l);
void lower_fully_connected(TfliteLowering& l);
void lower_pool(TfliteLowering& l);

// lower_elementwise.cpp
void lower_binary(TfliteLowering& l);
void lower_comparison(TfliteLowering& l);
void lower_floor_division(TfliteLowering& l);
void lower_squared_difference(TfliteLowering& l);
void lower_add_n(TfliteLowering& l);
void lower_unary(TfliteLowering& l);
void lower_composed_unary(TfliteLowering& l);
void lower_activation(TfliteLowering& l);
void lower_leaky_relu(TfliteLowering& l);
void lower_prelu(TfliteLowering& l);
void lower_softmax(TfliteLowering& l);
void lower_quantize(TfliteLowering& l);
void lower_dequantize(TfliteLowering& l);
void lower_cast(TfliteLowering& l);

// lower_recurrent.cpp
void lower_lstm(TfliteLowering& l);
void lower_rnn(TfliteLowering& l);
void lower_svdf(TfliteLowering& l);

// lower_indexing.cpp
void lower_batch_matmul(TfliteLowering& l);
void lower_cumsum(TfliteLowering& l);
void lower_gather_nd(TfliteLowering& l);
void lower_one_hot(TfliteLowering& l);
void lower_reverse(TfliteLowering& l);
void lower_select(TfliteLowering& l);
void lower_tile(TfliteLowering& l);
void lower_top_k(TfliteLowering& l);
void lower_space_to_batch(TfliteLowering& l);
void lower_batch_to_space(TfliteLowering& l);

// lower_reductions.cpp
void lower_reduction(TfliteLowering& l);
void lower_arg(TfliteLowering& l);

// lower_shapes.cpp
void lower_reshape(TfliteLowering& l);
void lower_squeeze(TfliteLowering& l);
void lower_expand_dims(TfliteLowering& l);
void lower_transpose(TfliteLowering& l);
void lower_shape(TfliteLowering& l);
void lower_concatenation(TfliteLowering& l);
void lower_pack(TfliteLowering& l);
void lower_unpack(TfliteLowering& l);
void lower_split(TfliteLowering& l);
void lower_gather(TfliteLowering& l);

// lower_slices.cpp
void lower_slice(TfliteLowering& l);
void lower_strided_slice(TfliteLowering& l);
void lower_pad(TfliteLowering& l);

// lower_spatial.cpp
void lower_resize(TfliteLowering& l);
void lower_depth_space(TfliteLowering& l);

}  // namespace tilewright
