// Definitions first, speed last: each kernel is the formula of docs/reference/arithmetic.md with its index
// sums spelled out. Sums are kept in uint64_t because accumulators wrap, modulo 2^32 or 2^64, and signed
// overflow is undefined.
#include "tilewright/tensor/reference_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tilewright/base/integer_math.h"
#include "tilewright/tensor/index4.h"
#include "tilewright/tensor/quantized_arithmetic.h"
#include "tilewright/tensor/reference_checks.h"

namespace tilewright {

using namespace reference;

namespace {

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

void require_weights(const Tensor& weights, int rank, std::string_view op) {
  require((weights.type() == ElementType::kI8 || weights.type() == ElementType::kI16) &&
              weights.shape().rank() == rank,
          op,
          fmt::format("weights must be i8 or i16 of rank {}, are {}", rank,
                      to_string(weights.type(), weights.shape())));
}

// Bias and scale of each output channel.
class ChannelStage {
 public:
  ChannelStage(const Tensor& bias, const Tensor& multiplier, const Tensor& shift, const OutputStage& output,
               int64_t channels, std::string_view op)
      : bias_(bias), multiplier_(multiplier), shift_(shift), output_(output) {
    require_output(output, op);
    wide_ = bias.type() == ElementType::kI64;
    require_tensor(bias, wide_ ? ElementType::kI64 : ElementType::kI32, 1, op, "bias");
    require_tensor(multiplier, ElementType::kI32, 1, op, "multiplier");
    require_tensor(shift, ElementType::kI32, 1, op, "shift");
    require(bias.size() == channels, op, fmt::format("{} biases for {} channels", bias.size(), channels));
    for (const Tensor* scale : {&multiplier, &shift}) {
      require(scale->size() == channels || scale->size() == 1, op,
              fmt::format("{} multipliers or shifts for {} channels", scale->size(), channels));
    }
    for (int64_t o = 0; o < channels; ++o) {
      require_scale(pick(multiplier_, o), pick(shift_, o), op);
      require(!wide_ || pick(shift_, o) < kTwice, op, "a 64-bit accumulator is rounded once");
    }
  }

  uint64_t bias(int64_t channel) const { return uint64_t(bias_.integer_at(channel)); }
  int64_t finish(uint64_t accumulator, int64_t channel) const {
    const Requantization scale{pick(multiplier_, channel), pick(shift_, channel)};
    return wide_ ? stored(scaled_wide(int64_t(accumulator), scale), output_)
                 : finished(accumulator, scale, output_);
  }
  ElementType type() const { return type_of(output_); }

 private:
  static int32_t pick(const Tensor& tensor, int64_t channel) {
    return tensor.data<int32_t>()[tensor.size() == 1 ? 0 : size_t(channel)];
  }
  const Tensor &bias_, &multiplier_, &shift_;
  const OutputStage& output_;
  bool wide_ = false;
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

Tensor conv(const Tensor& x, const Tensor& weights, const ChannelStage& stage, const ConvParameters& p,
            const Shape& out_shape) {
  const Shape &in = x.shape(), &w = weights.shape();
  const std::vector<int64_t> x_data = x.to_integers(), w_data = weights.to_integers();
  Tensor result(stage.type(), out_shape);
  const int64_t outputs_per_group = w[0] / p.group;
  for_each_index(out_shape, [&](int64_t n, int64_t o, int64_t oy, int64_t ox) {
    const int64_t first_channel = o / outputs_per_group * w[1];
    uint64_t sum = stage.bias(o);
    for (int64_t c = 0; c < w[1]; ++c) {
      for_each_tap(p.window, w[2], w[3], oy, ox, [&](int64_t ky, int64_t kx, int64_t iy, int64_t ix) {
        const int64_t value =
            inside(in, iy, ix) ? x_data[size_t(offset(in, n, first_channel + c, iy, ix))] : p.pad_value;
        sum += uint64_t(value * w_data[size_t(offset(w, o, c, ky, kx))]);
      });
    }
    result.set_integer(offset(out_shape, n, o, oy, ox), stage.finish(sum, o));
  });
  return result;
}

Tensor conv_transpose(const Tensor& x, const Tensor& weights, const ChannelStage& stage,
                      const ConvTransposeParameters& p, const Shape& out_shape) {
  const Shape &in = x.shape(), &w = weights.shape();
  const std::vector<int64_t> x_data = x.to_integers(), w_data = weights.to_integers();
  Tensor result(stage.type(), out_shape);
  const int64_t inputs_per_group = w[0] / p.group;
  for_each_index(out_shape, [&](int64_t n, int64_t o, int64_t oy, int64_t ox) {
    const int64_t group = o / w[1];
    uint64_t sum = stage.bias(o);
    for (int64_t c = group * inputs_per_group; c < (group + 1) * inputs_per_group; ++c) {
      for (int64_t iy = 0; iy < in[2]; ++iy) {
        for (int64_t ix = 0; ix < in[3]; ++ix) {
          // Input element (iy, ix) reaches output iy * stride - pad + k * dilation for every tap k.
          const int64_t y = oy - (iy * p.window.strides[0] - p.window.pads[0]);
          const int64_t z = ox - (ix * p.window.strides[1] - p.window.pads[1]);
          if (y < 0 || z < 0 || y % p.window.dilations[0] != 0 || z % p.window.dilations[1] != 0) continue;
          const int64_t ky = y / p.window.dilations[0], kx = z / p.window.dilations[1];
          if (ky >= w[2] || kx >= w[3]) continue;
          sum += uint64_t(x_data[size_t(offset(in, n, c, iy, ix))] *
                          w_data[size_t(offset(w, c, o % w[1], ky, kx))]);
        }
      }
    }
    result.set_integer(offset(out_shape, n, o, oy, ox), stage.finish(sum, o));
  });
  return result;
}

Tensor gemm(const Tensor& x, const Tensor& weights, const ChannelStage& stage) {
  const int64_t rows = x.shape()[0], depth = x.shape()[1], columns = weights.shape()[0];
  const std::vector<int64_t> x_data = x.to_integers(), w_data = weights.to_integers();
  Tensor result(stage.type(), {rows, columns});
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t o = 0; o < columns; ++o) {
      uint64_t sum = stage.bias(o);
      for (int64_t k = 0; k < depth; ++k) {
        sum += uint64_t(x_data[size_t(n * depth + k)] * w_data[size_t(o * depth + k)]);
      }
      result.set_integer(n * columns + o, stage.finish(sum, o));
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
  require_activation(x, 4, kOp, "X");
  require_weights(weights, 4, kOp);
  require_window(parameters.window, kOp);
  const Shape &in = x.shape(), &w = weights.shape();
  require(parameters.group >= 1 && w[0] % parameters.group == 0 && in[1] == w[1] * parameters.group, kOp,
          fmt::format("{} groups do not divide X {} and weights {}", parameters.group, to_string(in),
                      to_string(w)));
  require_kernel({w[2], w[3]}, kOp);
  require_element(parameters.pad_value, x, kOp, "pad_value");
  const ChannelStage stage(bias, multiplier, shift, parameters.output, w[0], kOp);
  const Shape out_shape{in[0], w[0], window_output_size(parameters.window, 0, in[2], w[2]),
                        window_output_size(parameters.window, 1, in[3], w[3])};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  return conv(x, weights, stage, parameters, out_shape);
}

Tensor reference_conv_transpose(const Tensor& x, const Tensor& weights, const Tensor& bias,
                                const Tensor& multiplier, const Tensor& shift,
                                const ConvTransposeParameters& parameters) {
  constexpr std::string_view kOp = "QConvTranspose";
  require_activation(x, 4, kOp, "X");
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
  return conv_transpose(x, weights, stage, parameters, out_shape);
}

Tensor reference_gemm(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& multiplier,
                      const Tensor& shift, const OutputStage& output) {
  constexpr std::string_view kOp = "QGemm";
  require_activation(x, 2, kOp, "X");
  require_weights(weights, 2, kOp);
  require(x.shape()[1] == weights.shape()[1], kOp,
          fmt::format("X {} and weights {} have different depths", to_string(x.shape()),
                      to_string(weights.shape())));
  const ChannelStage stage(bias, multiplier, shift, output, weights.shape()[0], kOp);
  return gemm(x, weights, stage);
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
  Tensor result(type_of(parameters.output), a.shape());
  const auto a_data = a.data<int8_t>(), b_data = b.data<int8_t>();
  for (int64_t i = 0; i < result.size(); ++i) {
    const uint32_t sum = uint32_t(a_data[size_t(i)] * parameters.multiplier_a) +
                         uint32_t(b_data[size_t(i)] * parameters.multiplier_b) + uint32_t(parameters.bias);
    result.set_integer(i, finished(sum, {1, parameters.shift}, parameters.output));
  }
  return result;
}

Tensor reference_rescaled_add(const Tensor& a, const Tensor& b, const RescaledAddParameters& parameters) {
  constexpr std::string_view kOp = "QRescaledAdd";
  require_activation(a, kOp, "A");
  require_activation(b, kOp, "B");
  require(a.shape() == b.shape(), kOp,
          fmt::format("the operands have the shapes {} and {}", to_string(a.shape()), to_string(b.shape())));
  require_output(parameters.output, kOp);
  for (const Requantization& r : {parameters.a, parameters.b, parameters.sum}) {
    require_scale(r.multiplier, r.shift, kOp);
  }
  for (const Requantization& r : {parameters.a, parameters.b}) {
    require(decode_scale(r) <= 0.5, kOp, "an operand's scale must be 1/2 or less");
  }
  Tensor result(type_of(parameters.output), a.shape());
  const auto operand = [](int64_t q, Requantization r) { return scaled(int32_t(q * (1 << 15)), r); };
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t x = operand(a.integer_at(i), parameters.a), y = operand(b.integer_at(i), parameters.b);
    const int64_t sum = (parameters.subtract ? x - y : x + y) + parameters.bias;
    result.set_integer(i, finished(uint64_t(sum), parameters.sum, parameters.output));
  }
  return result;
}

Tensor reference_multiply(const Tensor& a, const Tensor& b, const MultiplyParameters& parameters) {
  constexpr std::string_view kOp = "QMul";
  require_factors(a, b, parameters, kOp);
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
    return operand.integer_at(index);
  };
  Tensor result(type_of(parameters.output), shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t product =
        (element(a, i) - parameters.a_zero_point) * (element(b, i) - parameters.b_zero_point);
    result.set_integer(
        i, finished(uint64_t(product), {parameters.multiplier, parameters.shift}, parameters.output));
  }
  return result;
}

Tensor reference_average_pool(const Tensor& x, const AveragePoolParameters& parameters) {
  constexpr std::string_view kOp = "QAveragePool";
  require_activation(x, 4, kOp, "X");
  require_window(parameters.window, kOp);
  require_kernel(parameters.kernel, kOp);
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  const Shape& in = x.shape();
  const Shape out_shape{in[0], in[1], window_output_size(parameters.window, 0, in[2], parameters.kernel[0]),
                        window_output_size(parameters.window, 1, in[3], parameters.kernel[1])};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  require_element(parameters.pad_value, x, kOp, "pad_value");
  Tensor result(type_of(parameters.output), out_shape);
  const std::vector<int64_t> data = x.to_integers();
  for_each_index(out_shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    uint64_t sum = uint64_t(parameters.bias);
    for_each_tap(
        parameters.window, parameters.kernel[0], parameters.kernel[1], oy, ox,
        [&](int64_t, int64_t, int64_t iy, int64_t ix) {
          sum += uint64_t(inside(in, iy, ix) ? data[size_t(offset(in, n, c, iy, ix))] : parameters.pad_value);
        });
    result.set_integer(offset(out_shape, n, c, oy, ox),
                       finished(sum, {parameters.multiplier, parameters.shift}, parameters.output));
  });
  return result;
}

Tensor reference_max_pool(const Tensor& x, const MaxPoolParameters& parameters) {
  constexpr std::string_view kOp = "MaxPool";
  require_activation(x, 4, kOp, "X");
  require_window(parameters.window, kOp);
  require_kernel(parameters.kernel, kOp);
  const Shape& in = x.shape();
  const auto size = [&](int axis) {
    return window_output_size(parameters.window, axis, in[2 + axis], parameters.kernel[size_t(axis)],
                              parameters.ceil_mode);
  };
  const Shape out_shape{in[0], in[1], size(0), size(1)};
  require(out_shape[2] > 0 && out_shape[3] > 0, kOp, "the window does not fit into the padded input");
  Tensor result(x.type(), out_shape);
  const std::vector<int64_t> data = x.to_integers();
  for_each_index(out_shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    int64_t best = lowest(x.type());
    for_each_tap(parameters.window, parameters.kernel[0], parameters.kernel[1], oy, ox,
                 [&](int64_t, int64_t, int64_t iy, int64_t ix) {
                   if (inside(in, iy, ix)) best = std::max(best, data[size_t(offset(in, n, c, iy, ix))]);
                 });
    result.set_integer(offset(out_shape, n, c, oy, ox), best);
  });
  return result;
}

Tensor reference_requantize(const Tensor& x, const RequantizeParameters& parameters) {
  constexpr std::string_view kOp = "QRequantize";
  require_activation(x, kOp, "X");
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  Tensor result(type_of(parameters.output), x.shape());
  for (int64_t i = 0; i < result.size(); ++i) {
    const uint64_t sum = uint64_t(x.integer_at(i) + parameters.bias);
    result.set_integer(i, finished(sum, {parameters.multiplier, parameters.shift}, parameters.output));
  }
  return result;
}

}  // namespace tilewright
