// Definitions first, speed last: each kernel is the formula of docs/reference/arithmetic.md with its index
// sums spelled out. Sums are kept in uint32_t because the accumulator wraps modulo 2^32 and signed overflow
// is undefined.
#include "tilewright/tensor/reference_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tilewright/base/integer_math.h"
#include "tilewright/tensor/index4.h"
#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

void require(bool condition, std::string_view op, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {}", op, message));
}

void require_tensor(const Tensor& tensor, ElementType type, int rank, std::string_view op,
                    std::string_view what) {
  require(tensor.type() == type && tensor.shape().rank() == rank, op,
          fmt::format("{} must be {} of rank {}, is {}", what, name(type), rank,
                      to_string(tensor.type(), tensor.shape())));
}

void require_output(const OutputStage& output, std::string_view op) {
  require(-128 <= output.clip_low && output.clip_low <= output.clip_high && output.clip_high <= 127, op,
          fmt::format("clip range {}..{} is not inside -128..127", output.clip_low, output.clip_high));
  require(!output.bipolar || (output.clip_low == 0 && output.clip_high == 1), op,
          "a bipolar output has the clip range 0..1");
  require(-(1 << 30) < output.y_zero_point && output.y_zero_point < (1 << 30), op,
          fmt::format("zero point {} is out of range", output.y_zero_point));
}

void require_window(const WindowParameters& window, std::string_view op) {
  for (int axis = 0; axis < 2; ++axis) {
    require(window.strides[size_t(axis)] >= 1 && window.dilations[size_t(axis)] >= 1, op,
            "strides and dilations must be at least 1");
  }
  for (const int64_t pad : window.pads) require(pad >= 0, op, "pads must not be negative");
}

void require_kernel(const std::array<int64_t, 2>& kernel, std::string_view op) {
  require(kernel[0] >= 1 && kernel[1] >= 1, op, "the window must have at least one tap along each axis");
}

void require_scale(int32_t multiplier, int32_t shift, std::string_view op) {
  require(multiplier > 0, op, fmt::format("multiplier {} must be positive", multiplier));
  require(is_shift(shift), op, fmt::format("shift {} must be in 0..62, or 96..126 to round twice", shift));
}

void require_weights(const Tensor& weights, int rank, std::string_view op) {
  require((weights.type() == ElementType::kI8 || weights.type() == ElementType::kI16) &&
              weights.shape().rank() == rank,
          op,
          fmt::format("weights must be i8 or i16 of rank {}, are {}", rank,
                      to_string(weights.type(), weights.shape())));
}

int8_t finished(uint32_t accumulator, Requantization scale, const OutputStage& output) {
  const int32_t value =
      requantize(int32_t(accumulator), scale, output.y_zero_point, output.clip_low, output.clip_high);
  return int8_t(output.bipolar ? 2 * value - 1 : value);
}

// Bias and scale of each output channel.
class ChannelStage {
 public:
  ChannelStage(const Tensor& bias, const Tensor& multiplier, const Tensor& shift, const OutputStage& output,
               int64_t channels, std::string_view op)
      : bias_(bias), multiplier_(multiplier), shift_(shift), output_(output) {
    require_output(output, op);
    require_tensor(bias, ElementType::kI32, 1, op, "bias");
    require_tensor(multiplier, ElementType::kI32, 1, op, "multiplier");
    require_tensor(shift, ElementType::kI32, 1, op, "shift");
    require(bias.size() == channels, op, fmt::format("{} biases for {} channels", bias.size(), channels));
    for (const Tensor* scale : {&multiplier, &shift}) {
      require(scale->size() == channels || scale->size() == 1, op,
              fmt::format("{} multipliers or shifts for {} channels", scale->size(), channels));
    }
    for (int64_t o = 0; o < channels; ++o) require_scale(pick(multiplier_, o), pick(shift_, o), op);
  }

  uint32_t bias(int64_t channel) const { return uint32_t(bias_.data<int32_t>()[size_t(channel)]); }
  int8_t finish(uint32_t accumulator, int64_t channel) const {
    return finished(accumulator, {pick(multiplier_, channel), pick(shift_, channel)}, output_);
  }

 private:
  static int32_t pick(const Tensor& tensor, int64_t channel) {
    return tensor.data<int32_t>()[tensor.size() == 1 ? 0 : size_t(channel)];
  }
  const Tensor &bias_, &multiplier_, &shift_;
  const OutputStage& output_;
};

// Calls body(ky, kx, y, x) for every tap of the window of output element (out_y, out_x); y, x may lie outside
// of the input.
template <typename Body>
void for_each_tap(const WindowParameters& window, int64_t kernel_h, int64_t kernel_w, int64_t out_y,
                  int64_t out_x, Body&& body) {
  for (int64_t ky = 0; ky < kernel_h; ++ky) {
    for (int64_t kx = 0; kx < kernel_w; ++kx) {
      body(ky, kx, out_y * window.strides[0] - window.pads[0] + ky * window.dilations[0],
           out_x * window.strides[1] - window.pads[1] + kx * window.dilations[1]);
    }
  }
}

bool inside(const Shape& shape, int64_t y, int64_t x) {
  return 0 <= y && y < shape[2] && 0 <= x && x < shape[3];
}

template <typename Weight>
Tensor conv(const Tensor& x, const Tensor& weights, const ChannelStage& stage, const ConvParameters& p,
            const Shape& out_shape) {
  const Shape &in = x.shape(), &w = weights.shape();
  const auto x_data = x.data<int8_t>();
  const auto w_data = weights.data<Weight>();
  Tensor result(ElementType::kI8, out_shape);
  const auto out = result.mutable_data<int8_t>();
  const int64_t outputs_per_group = w[0] / p.group;
  for_each_index(out_shape, [&](int64_t n, int64_t o, int64_t oy, int64_t ox) {
    const int64_t first_channel = o / outputs_per_group * w[1];
    uint32_t sum = stage.bias(o);
    for (int64_t c = 0; c < w[1]; ++c) {
      for_each_tap(p.window, w[2], w[3], oy, ox, [&](int64_t ky, int64_t kx, int64_t iy, int64_t ix) {
        const int32_t value =
            inside(in, iy, ix) ? x_data[size_t(offset(in, n, first_channel + c, iy, ix))] : p.pad_value;
        sum += uint32_t(value * w_data[size_t(offset(w, o, c, ky, kx))]);
      });
    }
    out[size_t(offset(out_shape, n, o, oy, ox))] = stage.finish(sum, o);
  });
  return result;
}

template <typename Weight>
Tensor conv_transpose(const Tensor& x, const Tensor& weights, const ChannelStage& stage,
                      const ConvTransposeParameters& p, const Shape& out_shape) {
  const Shape &in = x.shape(), &w = weights.shape();
  const auto x_data = x.data<int8_t>();
  const auto w_data = weights.data<Weight>();
  Tensor result(ElementType::kI8, out_shape);
  const auto out = result.mutable_data<int8_t>();
  const int64_t inputs_per_group = w[0] / p.group;
  for_each_index(out_shape, [&](int64_t n, int64_t o, int64_t oy, int64_t ox) {
    const int64_t group = o / w[1];
    uint32_t sum = stage.bias(o);
    for (int64_t c = group * inputs_per_group; c < (group + 1) * inputs_per_group; ++c) {
      for (int64_t iy = 0; iy < in[2]; ++iy) {
        for (int64_t ix = 0; ix < in[3]; ++ix) {
          // Input element (iy, ix) reaches output iy * stride - pad + k * dilation for every tap k.
          const int64_t y = oy - (iy * p.window.strides[0] - p.window.pads[0]);
          const int64_t z = ox - (ix * p.window.strides[1] - p.window.pads[1]);
          if (y < 0 || z < 0 || y % p.window.dilations[0] != 0 || z % p.window.dilations[1] != 0) continue;
          const int64_t ky = y / p.window.dilations[0], kx = z / p.window.dilations[1];
          if (ky >= w[2] || kx >= w[3]) continue;
          sum += uint32_t(x_data[size_t(offset(in, n, c, iy, ix))] *
                          w_data[size_t(offset(w, c, o % w[1], ky, kx))]);
        }
      }
    }
    out[size_t(offset(out_shape, n, o, oy, ox))] = stage.finish(sum, o);
  });
  return result;
}

template <typename Weight>
Tensor gemm(const Tensor& x, const Tensor& weights, const ChannelStage& stage) {
  const int64_t rows = x.shape()[0], depth = x.shape()[1], columns = weights.shape()[0];
  const auto x_data = x.data<int8_t>();
  const auto w_data = weights.data<Weight>();
  Tensor result(ElementType::kI8, {rows, columns});
  const auto out = result.mutable_data<int8_t>();
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t o = 0; o < columns; ++o) {
      uint32_t sum = stage.bias(o);
      for (int64_t k = 0; k < depth; ++k) {
        sum += uint32_t(x_data[size_t(n * depth + k)] * w_data[size_t(o * depth + k)]);
      }
      out[size_t(n * columns + o)] = stage.finish(sum, o);
    }
  }
  return result;
}

}  // namespace

int64_t window_output_size(const WindowParameters& window, int axis, int64_t input, int64_t kernel,
                           bool ceil_mode) {
  const size_t a = size_t(axis);
  const int64_t padded = input + window.pads[a] + window.pads[a + 2];
  const int64_t span = padded - window.dilations[a] * (kernel - 1) - 1;
  if (span < 0) return 0;
  const int64_t stride = window.strides[a];
  if (!ceil_mode) return span / stride + 1;
  const int64_t count = ceil_div(span, stride) + 1;
  return (count - 1) * stride >= input + window.pads[a] ? count - 1 : count;
}

int64_t transpose_output_size(const ConvTransposeParameters& parameters, int axis, int64_t input,
                              int64_t kernel) {
  const size_t a = size_t(axis);
  const WindowParameters& window = parameters.window;
  return window.strides[a] * (input - 1) + window.dilations[a] * (kernel - 1) + 1 +
         parameters.output_padding[a] - window.pads[a] - window.pads[a + 2];
}

Tensor reference_conv(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& multiplier,
                      const Tensor& shift, const ConvParameters& parameters) {
  constexpr std::string_view kOp = "QConv";
  require_tensor(x, ElementType::kI8, 4, kOp, "X");
  require_weights(weights, 4, kOp);
  require_window(parameters.window, kOp);
  const Shape &in = x.shape(), &w = weights.shape();
  require(parameters.group >= 1 && w[0] % parameters.group == 0 && in[1] == w[1] * parameters.group, kOp,
          fmt::format("{} groups do not divide X {} and weights {}", parameters.group, to_string(in),
                      to_string(w)));
  require_kernel({w[2], w[3]}, kOp);
  require(-128 <= parameters.pad_value && parameters.pad_value <= 127, kOp, "pad_value must be in -128..127");
  const ChannelStage stage(bias, multiplier, shift, parameters.output, w[0], kOp);
  const Shape out_shape{in[0], w[0], window_output_size(parameters.window, 0, in[2], w[2]),
                        window_output_size(parameters.window, 1, in[3], w[3])};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  return weights.type() == ElementType::kI8 ? conv<int8_t>(x, weights, stage, parameters, out_shape)
                                            : conv<int16_t>(x, weights, stage, parameters, out_shape);
}

Tensor reference_conv_transpose(const Tensor& x, const Tensor& weights, const Tensor& bias,
                                const Tensor& multiplier, const Tensor& shift,
                                const ConvTransposeParameters& parameters) {
  constexpr std::string_view kOp = "QConvTranspose";
  require_tensor(x, ElementType::kI8, 4, kOp, "X");
  require_weights(weights, 4, kOp);
  require_window(parameters.window, kOp);
  const Shape &in = x.shape(), &w = weights.shape();
  require(parameters.group >= 1 && w[0] % parameters.group == 0 && in[1] == w[0], kOp,
          fmt::format("{} groups do not divide X {} and weights {}", parameters.group, to_string(in),
                      to_string(w)));
  require_kernel({w[2], w[3]}, kOp);
  for (size_t a = 0; a < 2; ++a) {
    require(parameters.output_padding[a] >= 0, kOp, "output_padding must not be negative");
  }
  const int64_t channels = w[1] * parameters.group;
  const ChannelStage stage(bias, multiplier, shift, parameters.output, channels, kOp);
  const Shape out_shape{in[0], channels, transpose_output_size(parameters, 0, in[2], w[2]),
                        transpose_output_size(parameters, 1, in[3], w[3])};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the pads leave no output");
  return weights.type() == ElementType::kI8
             ? conv_transpose<int8_t>(x, weights, stage, parameters, out_shape)
             : conv_transpose<int16_t>(x, weights, stage, parameters, out_shape);
}

Tensor reference_gemm(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& multiplier,
                      const Tensor& shift, const OutputStage& output) {
  constexpr std::string_view kOp = "QGemm";
  require_tensor(x, ElementType::kI8, 2, kOp, "X");
  require_weights(weights, 2, kOp);
  require(x.shape()[1] == weights.shape()[1], kOp,
          fmt::format("X {} and weights {} have different depths", to_string(x.shape()),
                      to_string(weights.shape())));
  const ChannelStage stage(bias, multiplier, shift, output, weights.shape()[0], kOp);
  return weights.type() == ElementType::kI8 ? gemm<int8_t>(x, weights, stage)
                                            : gemm<int16_t>(x, weights, stage);
}

Tensor reference_add(const Tensor& a, const Tensor& b, const AddParameters& parameters) {
  constexpr std::string_view kOp = "QAdd";
  constexpr int32_t kMultiplierEnd = 1 << 23;
  require(a.type() == ElementType::kI8 && b.type() == ElementType::kI8 && a.shape() == b.shape(), kOp,
          fmt::format("the operands must be i8 of one shape, are {} and {}", to_string(a.type(), a.shape()),
                      to_string(b.type(), b.shape())));
  require_output(parameters.output, kOp);
  for (const int32_t m : {parameters.multiplier_a, parameters.multiplier_b}) {
    require(-kMultiplierEnd < m && m < kMultiplierEnd, kOp,
            fmt::format("multiplier {} is not below 2^23 in magnitude", m));
  }
  require(0 <= parameters.shift && parameters.shift <= 31, kOp, "shift must be in 0..31");
  Tensor result(ElementType::kI8, a.shape());
  const auto out = result.mutable_data<int8_t>();
  const auto a_data = a.data<int8_t>(), b_data = b.data<int8_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t sum = uint32_t(a_data[i] * parameters.multiplier_a) +
                         uint32_t(b_data[i] * parameters.multiplier_b) + uint32_t(parameters.bias);
    out[i] = finished(sum, {1, parameters.shift}, parameters.output);
  }
  return result;
}

Tensor reference_multiply(const Tensor& a, const Tensor& b, const MultiplyParameters& parameters) {
  constexpr std::string_view kOp = "QMul";
  require(a.type() == ElementType::kI8 && b.type() == ElementType::kI8, kOp,
          fmt::format("the operands must be i8, are {} and {}", to_string(a.type(), a.shape()),
                      to_string(b.type(), b.shape())));
  for (const int32_t zero : {parameters.a_zero_point, parameters.b_zero_point}) {
    require(-128 <= zero && zero <= 127, kOp, "zero points must be in -128..127");
  }
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  const Shape shape = broadcast(a.shape(), b.shape());
  // The element of an operand that stands at `position` of the result.
  const std::vector<int64_t> strides = shape.strides();
  const auto element = [&](const Tensor& operand, int64_t position) {
    const std::vector<int64_t> steps = operand.shape().strides();
    const int missing = shape.rank() - operand.shape().rank();
    int64_t index = 0;
    for (int axis = 0; axis < operand.shape().rank(); ++axis) {
      if (operand.shape()[axis] == 1) continue;
      const int common = axis + missing;
      index += position / strides[size_t(common)] % shape[common] * steps[size_t(axis)];
    }
    return int32_t(operand.data<int8_t>()[size_t(index)]);
  };
  Tensor result(ElementType::kI8, shape);
  const auto out = result.mutable_data<int8_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    const int32_t product = (element(a, int64_t(i)) - parameters.a_zero_point) *
                            (element(b, int64_t(i)) - parameters.b_zero_point);
    out[i] = finished(uint32_t(product), {parameters.multiplier, parameters.shift}, parameters.output);
  }
  return result;
}

Tensor reference_average_pool(const Tensor& x, const AveragePoolParameters& parameters) {
  constexpr std::string_view kOp = "QAveragePool";
  require_tensor(x, ElementType::kI8, 4, kOp, "X");
  require_window(parameters.window, kOp);
  require_kernel(parameters.kernel, kOp);
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  const Shape& in = x.shape();
  const Shape out_shape{in[0], in[1], window_output_size(parameters.window, 0, in[2], parameters.kernel[0]),
                        window_output_size(parameters.window, 1, in[3], parameters.kernel[1])};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  Tensor result(ElementType::kI8, out_shape);
  const auto out = result.mutable_data<int8_t>();
  const auto data = x.data<int8_t>();
  for_each_index(out_shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    uint32_t sum = uint32_t(parameters.bias);
    for_each_tap(
        parameters.window, parameters.kernel[0], parameters.kernel[1], oy, ox,
        [&](int64_t, int64_t, int64_t iy, int64_t ix) {
          sum += uint32_t(inside(in, iy, ix) ? data[size_t(offset(in, n, c, iy, ix))] : parameters.pad_value);
        });
    out[size_t(offset(out_shape, n, c, oy, ox))] =
        finished(sum, {parameters.multiplier, parameters.shift}, parameters.output);
  });
  return result;
}

Tensor reference_max_pool(const Tensor& x, const MaxPoolParameters& parameters) {
  constexpr std::string_view kOp = "MaxPool";
  require_tensor(x, ElementType::kI8, 4, kOp, "X");
  require_window(parameters.window, kOp);
  require_kernel(parameters.kernel, kOp);
  const Shape& in = x.shape();
  const auto size = [&](int axis) {
    return window_output_size(parameters.window, axis, in[2 + axis], parameters.kernel[size_t(axis)],
                              parameters.ceil_mode);
  };
  const Shape out_shape{in[0], in[1], size(0), size(1)};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  Tensor result(ElementType::kI8, out_shape);
  const auto out = result.mutable_data<int8_t>();
  const auto data = x.data<int8_t>();
  for_each_index(out_shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    int8_t best = -128;
    for_each_tap(parameters.window, parameters.kernel[0], parameters.kernel[1], oy, ox,
                 [&](int64_t, int64_t, int64_t iy, int64_t ix) {
                   if (inside(in, iy, ix)) best = std::max(best, data[size_t(offset(in, n, c, iy, ix))]);
                 });
    out[size_t(offset(out_shape, n, c, oy, ox))] = best;
  });
  return result;
}

Tensor reference_requantize(const Tensor& x, const RequantizeParameters& parameters) {
  constexpr std::string_view kOp = "QRequantize";
  require(x.type() == ElementType::kI8, kOp, fmt::format("X must be i8, is {}", name(x.type())));
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  Tensor result(ElementType::kI8, x.shape());
  const auto out = result.mutable_data<int8_t>();
  const auto data = x.data<int8_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t sum = uint32_t(data[i]) + uint32_t(parameters.bias);
    out[i] = finished(sum, {parameters.multiplier, parameters.shift}, parameters.output);
  }
  return result;
}

}  // namespace tilewright
