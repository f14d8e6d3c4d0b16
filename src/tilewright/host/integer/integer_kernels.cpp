// The operators of the domain `tilewright` (docs/reference/arithmetic.md). Convolutions and dense layers pack
// their weights once, when they are constant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <type_traits>

#include "tilewright/base/parallel.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_node.h"
#include "tilewright/host/integer/integer_pool.h"
#include "tilewright/host/integer/wide_layer.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

void require_i8(const Tensor& x) {
  if (x.type() != ElementType::kI8) throw_unsupported_type(x.type());
}

// Calls f with a pointer to the elements of an activation, i8 or i16.
template <typename F>
auto with_elements(const Tensor& x, F&& f) {
  if (x.type() == ElementType::kI16) return f(x.data<int16_t>().data());
  require_i8(x);
  return f(x.data<int8_t>().data());
}

ElementType stored_type(const OutputStage& output) {
  return output.bits == 16 ? ElementType::kI16 : ElementType::kI8;
}

// Calls f with a pointer to the elements of a result, i8 or i16.
template <typename F>
void with_result(Tensor& y, F&& f) {
  if (y.type() == ElementType::kI16) return f(y.mutable_data<int16_t>().data());
  f(y.mutable_data<int8_t>().data());
}

// `y` through the table of the node, if it has one: input `index`.
std::vector<Tensor> looked_up(Tensor y, KernelInputs inputs, size_t index) {
  if (index < inputs.size() && inputs[index] != nullptr) {
    const Tensor& table = *inputs[index];
    require_i8(table);
    if (table.size() != 256) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("the table has {} entries, not 256", table.size()));
    }
    const int8_t* entries = table.data<int8_t>().data() + 128;
    for (int8_t& value : y.mutable_data<int8_t>()) value = entries[value];
  }
  return {std::move(y)};
}

FinishChannel requantizing(const ChannelScales& scales, const OutputStage& output) {
  return [&scales, output](int64_t channel, const int32_t* acc, uint32_t base, int64_t count, void* out) {
    requantize_lanes(acc, base + uint32_t(scales.bias(channel)), count, scales.scale(channel), output,
                     static_cast<int8_t*>(out));
  };
}

struct PreparedConvolution {
  IntegerConvolution convolution;
  Shape out_shape;
  bool has_exact_planes = true;  // no sum of one plane of 8 bits can leave 32 bits
};

// What QConv, QConvTranspose and QGemm have in common: x, padded with `pad`, to y.
void run_layer(const PreparedConvolution& prepared, const Tensor& x, int32_t pad, const ChannelScales& scales,
               const OutputStage& output, Tensor& y, int threads) {
  if (x.type() == ElementType::kI8 && y.type() == ElementType::kI8 && !scales.is_wide()) {
    prepared.convolution.run(x, 0, pad, requantizing(scales, output), y, threads);
    return;
  }
  if (scales.is_wide() && !prepared.has_exact_planes) {
    throw Error(ErrorKind::kUnsupported, "its 64-bit sums have more products than the kernels can add up");
  }
  run_wide_layer(prepared.convolution, x, pad, scales, output, y, threads);
}

bool has_exact_planes(std::span<const int16_t> weights, int64_t output_channels) {
  int64_t magnitude = 0;
  for (const int16_t w : weights) magnitude = std::max<int64_t>(magnitude, std::abs(int32_t{w}));
  return plane_sums_fit(int64_t(weights.size()) / std::max<int64_t>(output_channels, 1), magnitude);
}

void require_weight_type(const Tensor& weights) {
  if (weights.type() != ElementType::kI8 && weights.type() != ElementType::kI16) {
    throw_unsupported_type(weights.type());
  }
}

PreparedConvolution prepare_forward(const Node& node, const Shape& x, const Tensor& weights) {
  require_weight_type(weights);
  const int64_t group = checked_group(node, x, weights.shape());
  const Window window = convolution_window(node, x, weights.shape());
  const int64_t channels = weights.shape()[0];
  const std::vector<int16_t> values = weight_values(weights);
  return {IntegerConvolution::forward(conv_shape(window, x, channels, group), values),
          window.output_shape(x[0], channels), has_exact_planes(values, channels)};
}

PreparedConvolution prepare_transposed(const Node& node, const Shape& x, const Tensor& weights) {
  require_weight_type(weights);
  const int64_t group = checked_transposed_group(node, x, weights.shape());
  const Window window = transposed_window(node, x, weights.shape());
  const int64_t channels = weights.shape()[1] * group;
  const std::vector<int16_t> values = weight_values(weights);
  return {IntegerConvolution::transposed(conv_shape(window, x, channels, group), values),
          window.output_shape(x[0], channels), has_exact_planes(values, channels)};
}

// QConv and QConvTranspose; `prepare` is one of the two functions above.
template <PreparedConvolution (*prepare)(const Node&, const Shape&, const Tensor&)>
BoundKernel bind_convolution(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  const OutputStage output = output_stage(node);
  std::shared_ptr<const PreparedConvolution> prepared;
  if (operands.size() > 1 && operands[0].present && operands[1].constant != nullptr) {
    prepared = std::make_shared<PreparedConvolution>(prepare(node, operands[0].shape, *operands[1].constant));
  }
  return [&node, output, prepared](KernelInputs inputs, const HostOptions& options) {
    const Tensor& x = required_input(inputs, 0);
    if (x.type() != ElementType::kI16) require_i8(x);
    const int32_t pad = element_attribute(node, "pad_value", x);
    std::shared_ptr<const PreparedConvolution> ready = prepared;
    if (!ready) {
      ready = std::make_shared<PreparedConvolution>(prepare(node, x.shape(), required_input(inputs, 1)));
    }
    const ChannelScales scales(required_input(inputs, 2), required_input(inputs, 3),
                               required_input(inputs, 4), ready->out_shape[1]);
    Tensor y(stored_type(output), ready->out_shape);
    run_layer(*ready, x, pad, scales, output, y, options.threads);
    return looked_up(std::move(y), inputs, 5);
  };
}

// QGemm is a 1x1 convolution of an image with N columns and one row, whose X is transposed to K x N.
PreparedConvolution prepare_gemm(const Shape& x, const Tensor& weights) {
  require_weight_type(weights);
  if (x.rank() != 2 || weights.shape().rank() != 2 || x[1] != weights.shape()[1]) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("X {} and weights {} must be [N,K] and [O,K]",
                                                      to_string(x), to_string(weights.shape())));
  }
  IntegerConvShape shape{1, x[1], weights.shape()[0], 1, {}, {}};
  shape.width.input = shape.width.output = x[0];
  const std::vector<int16_t> values = weight_values(weights);
  return {IntegerConvolution::forward(shape, values),
          {x[0], weights.shape()[0]},
          has_exact_planes(values, weights.shape()[0])};
}

Tensor transposed_matrix(const Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  if (rows == 1 || columns == 1) return matrix.reshaped({columns, rows});
  Tensor result(matrix.type(), {columns, rows});
  with_elements(matrix, [&](const auto* from) {
    using T = std::remove_cvref_t<decltype(*from)>;
    T* const to = result.mutable_data<T>().data();
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
    }
  });
  return result;
}

BoundKernel bind_integer_gemm(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  const OutputStage output = output_stage(node);
  std::shared_ptr<const PreparedConvolution> prepared;
  if (operands.size() > 1 && operands[0].present && operands[1].constant != nullptr) {
    prepared = std::make_shared<PreparedConvolution>(prepare_gemm(operands[0].shape, *operands[1].constant));
  }
  return [output, prepared](KernelInputs inputs, const HostOptions& options) {
    const Tensor& x = required_input(inputs, 0);
    if (x.type() != ElementType::kI16) require_i8(x);
    std::shared_ptr<const PreparedConvolution> ready = prepared;
    if (!ready) {
      ready = std::make_shared<PreparedConvolution>(prepare_gemm(x.shape(), required_input(inputs, 1)));
    }
    const Shape& shape = ready->out_shape;
    const ChannelScales scales(required_input(inputs, 2), required_input(inputs, 3),
                               required_input(inputs, 4), shape[1]);
    Tensor y(stored_type(output), {shape[1], shape[0]});
    run_layer(*ready, transposed_matrix(x), 0, scales, output, y, options.threads);
    return looked_up(transposed_matrix(y), inputs, 5);
  };
}

// Calls f(first, count, accumulators) for up to 256 elements at a time.
template <typename F>
void for_each_chunk(int64_t begin, int64_t end, F&& f) {
  constexpr int64_t kChunk = 256;
  int32_t acc[kChunk];
  for (int64_t i = begin; i < end; i += kChunk) f(i, std::min(kChunk, end - i), acc);
}

std::vector<Tensor> add(const Node& node, KernelInputs inputs, const HostOptions& options) {
  constexpr int64_t kLimit = (1 << 23) - 1;
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_i8(a);
  require_i8(b);
  if (a.shape() != b.shape()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the operands have shapes {} and {}",
                                                      to_string(a.shape()), to_string(b.shape())));
  }
  const int32_t ma = integer_attribute(node, "multiplier_a", 1, -kLimit, kLimit);
  const int32_t mb = integer_attribute(node, "multiplier_b", 1, -kLimit, kLimit);
  const uint32_t bias = uint32_t(integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX));
  const Requantization scale{1, integer_attribute(node, "shift", 0, 0, 31)};
  const OutputStage output = output_stage(node);
  Tensor y(stored_type(output), a.shape());
  const int8_t *from_a = a.data<int8_t>().data(), *from_b = b.data<int8_t>().data();
  with_result(y, [&](auto* to) {
    parallel_for(y.size() < 1 << 16 ? 1 : options.threads, y.size(), [&](int64_t begin, int64_t end) {
      for_each_chunk(begin, end, [&](int64_t i, int64_t count, int32_t* acc) {
        for (int64_t k = 0; k < count; ++k) {
          acc[k] = int32_t(uint32_t(from_a[i + k] * ma) + uint32_t(from_b[i + k] * mb));
        }
        requantize_lanes(acc, bias, count, scale, output, to + i);
      });
    });
  });
  return looked_up(std::move(y), inputs, 2);
}

// q * 2^15, scaled.
template <typename T>
int64_t rescaled(T q, Requantization scale) {
  return scaled(int32_t{q} * (1 << 15), scale);
}

std::vector<Tensor> rescaled_add(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  if (a.shape() != b.shape()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the operands have shapes {} and {}",
                                                      to_string(a.shape()), to_string(b.shape())));
  }
  const int64_t bias = integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX);
  const Requantization scale_a = single_scale(node, "multiplier_a", "shift_a");
  const Requantization scale_b = single_scale(node, "multiplier_b", "shift_b");
  const Requantization scale = single_scale(node);
  const int64_t sign = integer_attribute(node, "subtract", 0, 0, 1) != 0 ? -1 : 1;
  const OutputStage output = output_stage(node);
  Tensor y(stored_type(output), a.shape());
  const auto add_chunks = [&](const auto* from_a, const auto* from_b, auto* to) {
    parallel_for(y.size() < 1 << 14 ? 1 : options.threads, y.size(), [&](int64_t begin, int64_t end) {
      for_each_chunk(begin, end, [&](int64_t i, int64_t count, int32_t* acc) {
        for (int64_t k = 0; k < count; ++k) {
          acc[k] =
              wrap(rescaled(from_a[i + k], scale_a) + sign * rescaled(from_b[i + k], scale_b) + bias, 32);
        }
        requantize_lanes(acc, 0, count, scale, output, to + i);
      });
    });
  };
  with_elements(a, [&](const auto* from_a) {
    with_elements(
        b, [&](const auto* from_b) { with_result(y, [&](auto* to) { add_chunks(from_a, from_b, to); }); });
  });
  return looked_up(std::move(y), inputs, 2);
}

std::vector<Tensor> integer_multiply(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  const int32_t za = element_attribute(node, "a_zero_point", a),
                zb = element_attribute(node, "b_zero_point", b);
  const Requantization scale = single_scale(node);
  const OutputStage output = output_stage(node);
  const Shape shape = broadcast(a.shape(), b.shape());
  Tensor y(stored_type(output), shape);
  const std::array<Shape, 2> operands{a.shape(), b.shape()};
  const BroadcastLoop loop(shape, operands);
  const auto multiply_rows = [&](const auto* from_a, const auto* from_b, auto* to) {
    loop.for_each_row([&](int64_t offset, const auto& offsets) {
      for_each_chunk(0, loop.row_length(), [&](int64_t begin, int64_t count, int32_t* acc) {
        const auto* const pa = from_a + offsets[0] + begin * loop.step(0);
        const auto* const pb = from_b + offsets[1] + begin * loop.step(1);
        for (int64_t k = 0; k < count; ++k) {
          acc[k] = int32_t(uint32_t(pa[k * loop.step(0)] - za) * uint32_t(pb[k * loop.step(1)] - zb));
        }
        requantize_lanes(acc, 0, count, scale, output, to + offset + begin);
      });
    });
  };
  with_elements(a, [&](const auto* from_a) {
    with_elements(
        b, [&](const auto* from_b) { with_result(y, [&](auto* to) { multiply_rows(from_a, from_b, to); }); });
  });
  return looked_up(std::move(y), inputs, 2);
}

std::vector<Tensor> integer_average_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (x.type() != ElementType::kI16) require_i8(x);
  AveragePoolParameters p;
  p.pad_value = element_attribute(node, "pad_value", x);
  p.bias = integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX);
  const Requantization scale = single_scale(node);
  p.multiplier = scale.multiplier;
  p.shift = scale.shift;
  p.output = output_stage(node);
  return looked_up(integer_average_pool(x, pool_window(node, x.shape()), p, options.threads), inputs, 1);
}

// entries[x - lowest] for every element.
template <typename T, typename Entry>
void look_up(std::span<const T> x, const Entry* entries, Entry* y) {
  const Entry* const zero = entries - std::numeric_limits<T>::min();
  for (const T value : x) *y++ = zero[value];
}

// 8 bits have 256 values: a table. The results of 16 bits are computed one by one.
std::vector<Tensor> requantize_all(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const int32_t bias = integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX);
  const Requantization scale = single_scale(node);
  const OutputStage output = output_stage(node);
  Tensor y(stored_type(output), x.shape());
  with_result(y, [&](auto* to) {
    if (x.type() != ElementType::kI16) {
      require_i8(x);
      std::array<int32_t, 256> values;
      for (int32_t i = 0; i < 256; ++i) values[size_t(i)] = i - 128;
      std::array<std::remove_cvref_t<decltype(*to)>, 256> table;
      requantize_lanes(values.data(), uint32_t(bias), 256, scale, output, table.data());
      look_up(x.data<int8_t>(), table.data(), to);
      return;
    }
    const int16_t* const from = x.data<int16_t>().data();
    parallel_for(y.size() < 1 << 14 ? 1 : options.threads, y.size(), [&](int64_t begin, int64_t end) {
      for_each_chunk(begin, end, [&](int64_t i, int64_t count, int32_t* acc) {
        std::copy_n(from + i, count, acc);
        requantize_lanes(acc, uint32_t(bias), count, scale, output, to + i);
      });
    });
  });
  return looked_up(std::move(y), inputs, 1);
}

std::vector<Tensor> lookup(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &x = required_input(inputs, 0), &table = required_input(inputs, 1);
  return with_elements(x, [&](const auto* from) -> std::vector<Tensor> {
    using T = std::remove_cvref_t<decltype(*from)>;
    if (table.size() != int64_t{1} << (8 * sizeof(T))) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("the table has {} entries, not {}", table.size(),
                                                        int64_t{1} << (8 * sizeof(T))));
    }
    return with_elements(table, [&](const auto* entries) -> std::vector<Tensor> {
      Tensor y(table.type(), x.shape());
      look_up(x.data<T>(), entries, y.mutable_data<std::remove_cvref_t<decltype(*entries)>>().data());
      return {std::move(y)};
    });
  });
}

constexpr KernelEntry kIntegerKernels[] = {
    {kTilewrightDomain, "QConv", nullptr, bind_convolution<prepare_forward>},
    {kTilewrightDomain, "QConvTranspose", nullptr, bind_convolution<prepare_transposed>},
    {kTilewrightDomain, "QGemm", nullptr, bind_integer_gemm},
    {kTilewrightDomain, "QAdd", add},
    {kTilewrightDomain, "QRescaledAdd", rescaled_add},
    {kTilewrightDomain, "QMul", integer_multiply},
    {kTilewrightDomain, "QAveragePool", integer_average_pool},
    {kTilewrightDomain, "QRequantize", requantize_all},
    {kTilewrightDomain, "QLookup", lookup},
};

}  // namespace

std::span<const KernelEntry> integer_kernels() { return kIntegerKernels; }

}  // namespace tilewright
