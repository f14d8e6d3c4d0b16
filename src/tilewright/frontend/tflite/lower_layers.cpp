// Convolutions and dense layers. Weights are turned to ONNX's order while reading; SAME padding becomes
// explicit: the output has ceil(input / stride) positions, and of the padding this takes the smaller half
// comes first.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using enum TensorLayout;

void require_rank_4(const Shape& shape, const char* what) {
  if (shape.rank() != 4) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("its {} is {} instead of rank 4", what, to_string(shape)));
  }
}

std::vector<ValueId> operands(ValueId x, ValueId w, ValueId bias) {
  return bias == kNoValue ? std::vector<ValueId>{x, w} : std::vector<ValueId>{x, w, bias};
}

struct KernelAttributes {
  int64_t height, width, group;
};

Attributes convolution_attributes(TfliteLowering& l, const Shape& x, const KernelAttributes& kernel) {
  const TfliteOperatorOptions& options = l.options();
  const TflitePads pads =
      tflite_pads(options, x, kernel.height, kernel.width, options.dilation_h, options.dilation_w);
  return {{"kernel_shape", std::vector<int64_t>{kernel.height, kernel.width}},
          {"strides", std::vector<int64_t>{options.stride_h, options.stride_w}},
          {"dilations", std::vector<int64_t>{options.dilation_h, options.dilation_w}},
          {"pads", pads.onnx()},
          {"group", kernel.group}};
}

}  // namespace

TflitePads tflite_pads(const TfliteOperatorOptions& options, const Shape& x, int64_t kernel_h,
                       int64_t kernel_w, int64_t dilation_h, int64_t dilation_w) {
  constexpr int64_t kLargest = int64_t{1} << 20;
  for (const int64_t number :
       {options.stride_h, options.stride_w, dilation_h, dilation_w, kernel_h, kernel_w}) {
    if (number < 1 || number > kLargest) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("has a stride, dilation or window of {}; 1 and more are possible", number));
    }
  }
  if (!options.is_same_padding) return {};
  const auto padding = [](int64_t size, int64_t stride, int64_t kernel, int64_t dilation) {
    const int64_t output = ceil_div(size, stride);
    return std::max<int64_t>((output - 1) * stride + (kernel - 1) * dilation + 1 - size, 0);
  };
  const int64_t h = padding(x[1], options.stride_h, kernel_h, dilation_h);
  const int64_t w = padding(x[2], options.stride_w, kernel_w, dilation_w);
  return {h / 2, w / 2, h - h / 2, w - w / 2};
}

void lower_conv_2d(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  const Shape x = l.shape(0), w = l.shape(1);  // [O, kH, kW, I]
  require_rank_4(x, "input");
  require_rank_4(w, "filter");
  if (w[3] < 1 || x[3] % w[3] != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("its filter has {} input channels, its input {}", w[3], x[3]));
  }
  const ValueId weights = l.weights(1, {0, 3, 1, 2});
  const auto attributes = convolution_attributes(l, x, {w[1], w[2], x[3] / w[3]});
  const ValueId bias = l.bias(2, 0, 1, w[0]);
  const ValueId y = l.emit("Conv", operands(l.activation(0, 1, kChannelsFirst), weights, bias), attributes);
  l.finish(0, l.activated(y, l.options().activation), kChannelsFirst);
}

void lower_depthwise_conv_2d(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  const Shape x = l.shape(0), w = l.shape(1);  // [1, kH, kW, O]
  require_rank_4(x, "input");
  require_rank_4(w, "filter");
  if (w[0] != 1 || x[3] < 1 || w[3] % x[3] != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("its filter {} does not fit {} input channels", to_string(w), x[3]));
  }
  const ValueId weights = l.weights(1, {3, 0, 1, 2});
  const auto attributes = convolution_attributes(l, x, {w[1], w[2], x[3]});
  const ValueId bias = l.bias(2, 0, 1, w[3]);
  const ValueId y = l.emit("Conv", operands(l.activation(0, 1, kChannelsFirst), weights, bias), attributes);
  l.finish(0, l.activated(y, l.options().activation), kChannelsFirst);
}

void lower_transpose_conv(TfliteLowering& l) {
  l.require(3, 1);
  l.require_options();
  const std::vector<int64_t> y_size = l.constant_integers(0, "output sizes");
  const Shape w = l.shape(1), x = l.shape(2);  // [O, kH, kW, I]
  require_rank_4(x, "input");
  require_rank_4(w, "filter");
  if (y_size.size() != 4 || w[3] != x[3]) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("its filter {} does not fit its input {}", to_string(w), to_string(x)));
  }
  // The padding of the convolution that leads from the output to the input.
  const Shape y(y_size);
  const TfliteOperatorOptions& options = l.options();
  TflitePads pads = tflite_pads(options, y, w[1], w[2], 1, 1);
  const int64_t rest_h = (x[1] - 1) * options.stride_h + w[1] - pads.top - y[1];
  const int64_t rest_w = (x[2] - 1) * options.stride_w + w[2] - pads.left - y[2];
  pads.bottom = std::max<int64_t>(rest_h, 0);
  pads.right = std::max<int64_t>(rest_w, 0);
  const std::vector<int64_t> output_padding = {std::max<int64_t>(-rest_h, 0), std::max<int64_t>(-rest_w, 0)};
  const ValueId weights = l.weights(1, {3, 0, 1, 2});
  const ValueId bias = l.bias(3, 2, 1, w[0]);
  const ValueId result = l.emit("ConvTranspose", operands(l.activation(2, 1, kChannelsFirst), weights, bias),
                                {{"kernel_shape", std::vector<int64_t>{w[1], w[2]}},
                                 {"strides", std::vector<int64_t>{options.stride_h, options.stride_w}},
                                 {"pads", pads.onnx()},
                                 {"output_padding", output_padding}});
  l.finish(0, l.activated(result, options.activation), kChannelsFirst);
}

void lower_fully_connected(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  if (l.options().has_shuffled_weights) {
    throw Error(ErrorKind::kUnsupported, "has its weights in the shuffled format",
                "convert the model again with the default format");
  }
  const Shape x = l.shape(0), w = l.shape(1);  // [O, K]
  if (w.rank() != 2 || w[1] < 1 || x.element_count() % w[1] != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("its weights {} do not fit its input {}", to_string(w), to_string(x)));
  }
  const int64_t rows = x.element_count() / w[1];
  const ValueId matrix = l.reshape(l.activation(0, 1, l.flat_layout(0)), Shape{rows, w[1]});
  const ValueId weights = l.weights(1, {0, 1});
  const ValueId bias = l.bias(2, 0, 1, w[0]);
  ValueId y = l.emit("Gemm", operands(matrix, weights, bias), {{"transB", int64_t{1}}});
  y = l.activated(y, l.options().activation);
  if (l.options().keeps_dimensions && x.rank() > 0) {
    std::vector<int64_t> dims = x.dims();
    dims.back() = w[0];
    y = l.reshape(y, Shape(std::move(dims)));
  }
  l.finish(0, y, TensorLayout::kFile);
}

void lower_pool(TfliteLowering& l) {
  l.require(1, 1);
  l.require_options();
  const Shape x = l.shape(0);
  require_rank_4(x, "input");
  const TfliteOperatorOptions& options = l.options();
  const TflitePads pads = tflite_pads(options, x, options.filter_h, options.filter_w, 1, 1);
  const bool is_average = l.op().op == "AVERAGE_POOL_2D";
  const ValueId y = l.emit(is_average ? "AveragePool" : "MaxPool", {l.real(0, kChannelsFirst)},
                           {{"kernel_shape", std::vector<int64_t>{options.filter_h, options.filter_w}},
                            {"strides", std::vector<int64_t>{options.stride_h, options.stride_w}},
                            {"pads", pads.onnx()}});
  l.finish(0, l.activated(y, options.activation), kChannelsFirst);
}

}  // namespace tilewright
