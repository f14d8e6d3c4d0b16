// The operators of the domain `tilewright` (docs/reference/arithmetic.md). Convolutions and dense layers pack
// their weights once, when they are constant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "tilewright/base/parallel.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_node.h"
#include "tilewright/host/integer/integer_pool.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

void require_i8(const Tensor& x) {
  if (x.type() != ElementType::kI8) throw_unsupported_type(x.type());
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
    requantize_lanes(acc, base + scales.bias(channel), count, scales.scale(channel), output,
                     static_cast<int8_t*>(out));
  };
}

struct PreparedConvolution {
  IntegerConvolution convolution;
  Shape out_shape;
};

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
  return {IntegerConvolution::forward(conv_shape(window, x, channels, group), weight_values(weights)),
          window.output_shape(x[0], channels)};
}

PreparedConvolution prepare_transposed(const Node& node, const Shape& x, const Tensor& weights) {
  require_weight_type(weights);
  const int64_t group = checked_transposed_group(node, x, weights.shape());
  const Window window = transposed_window(node, x, weights.shape());
  const int64_t channels = weights.shape()[1] * group;
  return {IntegerConvolution::transposed(conv_shape(window, x, channels, group), weight_values(weights)),
          window.output_shape(x[0], channels)};
}

// QConv and QConvTranspose; `prepare` is one of the two functions above.
template <PreparedConvolution (*prepare)(const Node&, const Shape&, const Tensor&)>
BoundKernel bind_convolution(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  const OutputStage output = output_stage(node);
  const int32_t pad = integer_attribute(node, "pad_value", 0, -128, 127);
  std::shared_ptr<const PreparedConvolution> prepared;
  if (operands.size() > 1 && operands[0].present && operands[1].constant != nullptr) {
    prepared = std::make_shared<PreparedConvolution>(prepare(node, operands[0].shape, *operands[1].constant));
  }
  return [&node, output, pad, prepared](KernelInputs inputs, const HostOptions& options) {
    const Tensor& x = required_input(inputs, 0);
    require_i8(x);
    std::shared_ptr<const PreparedConvolution> ready = prepared;
    if (!ready) {
      ready = std::make_shared<PreparedConvolution>(prepare(node, x.shape(), required_input(inputs, 1)));
    }
    const ChannelScales scales(required_input(inputs, 2), required_input(inputs, 3),
                               required_input(inputs, 4), ready->out_shape[1]);
    Tensor y(ElementType::kI8, ready->out_shape);
    ready->convolution.run(x, 0, pad, requantizing(scales, output), y, options.threads);
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
  return {IntegerConvolution::forward(shape, weight_values(weights)), {x[0], weights.shape()[0]}};
}

Tensor transposed_matrix(const Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  if (rows == 1 || columns == 1) return matrix.reshaped({columns, rows});
  Tensor result(ElementType::kI8, {columns, rows});
  const auto from = matrix.data<int8_t>();
  const auto to = result.mutable_data<int8_t>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[size_t(c * rows + r)] = from[size_t(r * columns + c)];
  }
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
    require_i8(x);
    std::shared_ptr<const PreparedConvolution> ready = prepared;
    if (!ready) {
      ready = std::make_shared<PreparedConvolution>(prepare_gemm(x.shape(), required_input(inputs, 1)));
    }
    const Shape& shape = ready->out_shape;
    const ChannelScales scales(required_input(inputs, 2), required_input(inputs, 3),
                               required_input(inputs, 4), shape[1]);
    Tensor y(ElementType::kI8, {shape[1], shape[0]});
    ready->convolution.run(transposed_matrix(x), 0, 0, requantizing(scales, output), y, options.threads);
    return looked_up(transposed_matrix(y), inputs, 5);
  };
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
  Tensor y(ElementType::kI8, a.shape());
  const int8_t *from_a = a.data<int8_t>().data(), *from_b = b.data<int8_t>().data();
  int8_t* to = y.mutable_data<int8_t>().data();
  parallel_for(y.size() < 1 << 16 ? 1 : options.threads, y.size(), [&](int64_t begin, int64_t end) {
    constexpr int64_t kChunk = 256;
    int32_t acc[kChunk];
    for (int64_t i = begin; i < end; i += kChunk) {
      const int64_t count = std::min(kChunk, end - i);
      for (int64_t k = 0; k < count; ++k) {
        acc[k] = int32_t(uint32_t(from_a[i + k] * ma) + uint32_t(from_b[i + k] * mb));
      }
      requantize_lanes(acc, bias, count, scale, output, to + i);
    }
  });
  return looked_up(std::move(y), inputs, 2);
}

std::vector<Tensor> integer_multiply(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_i8(a);
  require_i8(b);
  const int32_t za = integer_attribute(node, "a_zero_point", 0, -128, 127);
  const int32_t zb = integer_attribute(node, "b_zero_point", 0, -128, 127);
  const Requantization scale = single_scale(node);
  const OutputStage output = output_stage(node);
  const Shape shape = broadcast(a.shape(), b.shape());
  Tensor y(ElementType::kI8, shape);
  const int8_t *from_a = a.data<int8_t>().data(), *from_b = b.data<int8_t>().data();
  int8_t* const to = y.mutable_data<int8_t>().data();
  const std::array<Shape, 2> operands{a.shape(), b.shape()};
  const BroadcastLoop loop(shape, operands);
  loop.for_each_row([&](int64_t offset, const auto& offsets) {
    constexpr int64_t kChunk = 256;
    int32_t acc[kChunk];
    for (int64_t begin = 0; begin < loop.row_length(); begin += kChunk) {
      const int64_t count = std::min(kChunk, loop.row_length() - begin);
      const int8_t* const pa = from_a + offsets[0] + begin * loop.step(0);
      const int8_t* const pb = from_b + offsets[1] + begin * loop.step(1);
      for (int64_t k = 0; k < count; ++k) acc[k] = (pa[k * loop.step(0)] - za) * (pb[k * loop.step(1)] - zb);
      requantize_lanes(acc, 0, count, scale, output, to + offset + begin);
    }
  });
  return looked_up(std::move(y), inputs, 2);
}

std::vector<Tensor> integer_average_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  require_i8(x);
  AveragePoolParameters p;
  p.pad_value = integer_attribute(node, "pad_value", 0, -128, 127);
  p.bias = integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX);
  const Requantization scale = single_scale(node);
  p.multiplier = scale.multiplier;
  p.shift = scale.shift;
  p.output = output_stage(node);
  return looked_up(integer_average_pool(x, pool_window(node, x.shape()), p, options.threads), inputs, 1);
}

// 256 possible inputs: a table.
std::vector<Tensor> requantize_all(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  require_i8(x);
  const int32_t bias = integer_attribute(node, "bias", 0, INT32_MIN, INT32_MAX);
  const Requantization scale = single_scale(node);
  std::array<int32_t, 256> values;
  for (int32_t i = 0; i < 256; ++i) values[size_t(i)] = i - 128;
  std::array<int8_t, 256> table;
  requantize_lanes(values.data(), uint32_t(bias), 256, scale, output_stage(node), table.data());
  Tensor y(ElementType::kI8, x.shape());
  std::ranges::transform(x.data<int8_t>(), y.mutable_data<int8_t>().begin(),
                         [&](int8_t value) { return table[size_t(value + 128)]; });
  return looked_up(std::move(y), inputs, 1);
}

std::vector<Tensor> lookup(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  require_i8(x);
  required_input(inputs, 1);
  return looked_up(x, inputs, 1);
}

constexpr KernelEntry kIntegerKernels[] = {
    {kTilewrightDomain, "QConv", nullptr, bind_convolution<prepare_forward>},
    {kTilewrightDomain, "QConvTranspose", nullptr, bind_convolution<prepare_transposed>},
    {kTilewrightDomain, "QGemm", nullptr, bind_integer_gemm},
    {kTilewrightDomain, "QAdd", add},
    {kTilewrightDomain, "QMul", integer_multiply},
    {kTilewrightDomain, "QAveragePool", integer_average_pool},
    {kTilewrightDomain, "QRequantize", requantize_all},
    {kTilewrightDomain, "QLookup", lookup},
};

}  // namespace

std::span<const KernelEntry> integer_kernels() { return kIntegerKernels; }

}  // namespace tilewright
