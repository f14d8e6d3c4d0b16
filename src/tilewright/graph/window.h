// Sliding windows: what auto_pad, pads, strides, dilations, kernel_shape, ceil_mode and output_shape of ONNX
// convolutions, pools and transposed convolutions mean, as explicit numbers. Everything that needs padding or
// an output size (shape inference, host kernels, the overlay) uses this.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// One spatial axis. Sizes in elements.
struct WindowAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  int64_t output = 1;

  // From the first to the last tap, both included.
  int64_t effective_kernel() const { return (kernel - 1) * dilation + 1; }
  // Convolution and pooling: the input index that tap `k` of output `o` reads; padding when outside
  // [0, input).
  int64_t input_index(int64_t o, int64_t k) const { return o * stride + k * dilation - pad_begin; }
  // Transposed convolution: the output index that tap `k` of input `i` adds to; nothing when outside
  // [0, output).
  int64_t output_index(int64_t i, int64_t k) const { return i * stride + k * dilation - pad_begin; }
  bool operator==(const WindowAxis&) const = default;
};

struct Window {
  std::vector<WindowAxis> axes;  // outermost first: (height, width) in two dimensions

  int rank() const { return int(axes.size()); }
  const WindowAxis& operator[](int axis) const { return axes[size_t(axis)]; }
  bool is_2d() const { return axes.size() == 2; }
  // Two dimensions only.
  const WindowAxis& height() const { return axes[0]; }
  const WindowAxis& width() const { return axes[1]; }
  int64_t kernel_elements() const;  // product of the kernel sizes
  int64_t output_elements() const;  // product of the output sizes; saturates
  bool has_padding() const;
  bool has_dilation() const;
  // In the ONNX attribute order: all begins, then all ends.
  std::vector<int64_t> pads() const;
  // {batch, channels, output sizes...}.
  Shape output_shape(int64_t batch, int64_t channels) const;
};

// All of them: shapes are N x C x spatial (one or more spatial axes), weights O x C/group x kernel (for the
// transposed ones C x O/group x kernel). Formulas: ONNX operator reference, opset 17. Errors (invalid input,
// naming the node): an attribute of the wrong length or range, a kernel that does not fit the padded input, a
// kernel_shape that contradicts the weights, an output_shape that cannot be had.
//
// pool_window: a last window of ceil_mode that would begin in the end padding is dropped, as PyTorch and ONNX
// Runtime do; windows may then still reach beyond input + pad_end. Padding as large as the kernel is an
// error.
// transposed_window: `output` includes output_padding; output_shape sets the pads (clamped at 0).
// A global pool is a window as large as the input.
Window convolution_window(const Node& node, const Shape& x, const Shape& weights);
Window pool_window(const Node& node, const Shape& x);
Window transposed_window(const Node& node, const Shape& x, const Shape& weights);
Window global_window(const Node& node, const Shape& x);

}  // namespace tilewright
