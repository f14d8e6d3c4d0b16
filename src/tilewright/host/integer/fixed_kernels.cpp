// The wide fixed-point operators of docs/reference/arithmetic.md. Weights that are constant are reordered
// once.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tilewright/base/parallel.h"
#include "tilewright/host/integer/fixed_layers.h"
#include "tilewright/host/integer/integer_node.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements that are worth a thread

int fraction_of(const Node& node) { return integer_attribute(node, "fraction", 0, 0, kMostFraction); }

FixedClip clip_of(const Node& node) {
  FixedClip clip;
  clip.low = integer_attribute(node, "clip_low", INT32_MIN, INT32_MIN, INT32_MAX);
  clip.high = integer_attribute(node, "clip_high", INT32_MAX, clip.low, INT32_MAX);
  return clip;
}

using Weights = std::shared_ptr<const FixedWeights>;

Weights constant_weights(const Node& node, std::span<const KernelOperand> operands) {
  if (operands.size() < 2 || operands[1].constant == nullptr) return nullptr;
  return std::make_shared<FixedWeights>(*operands[1].constant, node.int_or("group", 1));
}

BoundKernel bind_fixed_convolution(const Node& node, std::span<const KernelOperand> operands,
                                   const HostOptions&) {
  const FixedFinish finish{fraction_of(node), clip_of(node)};
  const Weights prepared = constant_weights(node, operands);
  return [&node, finish, prepared](KernelInputs inputs, const HostOptions& options) {
    const Tensor &x = required_input(inputs, 0), &weights = required_input(inputs, 1);
    const int64_t group = checked_group(node, x.shape(), weights.shape());
    const Window window = convolution_window(node, x.shape(), weights.shape());
    const Weights ready = prepared ? prepared : std::make_shared<FixedWeights>(weights, group);
    return std::vector<Tensor>{
        ready->convolve(x, window, required_input(inputs, 2), finish, options.threads)};
  };
}

BoundKernel bind_fixed_gemm(const Node& node, std::span<const KernelOperand> operands, const HostOptions&) {
  const FixedFinish finish{fraction_of(node), clip_of(node)};
  const Weights prepared = constant_weights(node, operands);
  return [finish, prepared](KernelInputs inputs, const HostOptions& options) {
    const Tensor& weights = required_input(inputs, 1);
    const Weights ready = prepared ? prepared : std::make_shared<FixedWeights>(weights, 1);
    return std::vector<Tensor>{
        ready->multiply(required_input(inputs, 0), required_input(inputs, 2), finish, options.threads)};
  };
}

// y[i] = function(x[i]).
template <typename To, typename From, typename Function>
Tensor element_wise(const Tensor& x, ElementType type, const HostOptions& options, Function function) {
  Tensor y(type, x.shape());
  const From* from = x.data<From>().data();
  To* to = y.mutable_data<To>().data();
  parallel_for(x.size() < kChunk ? 1 : options.threads, x.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = function(from[i]);
  });
  return y;
}

std::vector<Tensor> add_fixed(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_i32(a);
  require_i32(b);
  if (a.shape() != b.shape()) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("the operands have shapes {} and {}",
                                                      to_string(a.shape()), to_string(b.shape())));
  }
  const FixedClip clip = clip_of(node);
  Tensor y(ElementType::kI32, a.shape());
  std::ranges::transform(a.data<int32_t>(), b.data<int32_t>(), y.mutable_data<int32_t>().begin(),
                         [&](int32_t left, int32_t right) { return fixed_add(left, right, clip); });
  return {std::move(y)};
}

// The sum of the window of output (oy, ox) in one plane.
int64_t window_sum(const int32_t* plane, const WindowAxis& height, const WindowAxis& width, int64_t oy,
                   int64_t ox) {
  int64_t sum = 0;
  for (int64_t ky = 0; ky < height.kernel; ++ky) {
    const int64_t iy = height.input_index(oy, ky);
    if (iy < 0 || iy >= height.input) continue;
    for (int64_t kx = 0; kx < width.kernel; ++kx) {
      const int64_t ix = width.input_index(ox, kx);
      if (ix >= 0 && ix < width.input) sum += plane[iy * width.input + ix];
    }
  }
  return sum;
}

std::vector<Tensor> fixed_average_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  require_i32(x);
  const Window window = pool_window(node, x.shape());
  if (!window.is_2d()) throw Error(ErrorKind::kUnsupported, "only two spatial axes are supported");
  const WindowAxis &height = window.height(), &width = window.width();
  const uint64_t multiplier = uint64_t(integer_attribute(node, "multiplier", 1, 1, INT32_MAX));
  const int fraction = fraction_of(node);
  const FixedClip clip = clip_of(node);
  Tensor y(ElementType::kI32, window.output_shape(x.shape()[0], x.shape()[1]));
  const int32_t* from = x.data<int32_t>().data();
  int32_t* to = y.mutable_data<int32_t>().data();
  const int64_t in_size = height.input * width.input, out_size = window.output_elements();
  parallel_for(options.threads, x.shape()[0] * x.shape()[1], [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t i = 0; i < out_size; ++i) {
        const int64_t sum =
            window_sum(from + plane * in_size, height, width, i / width.output, i % width.output);
        to[plane * out_size + i] = fixed_finish(uint64_t(sum) * multiplier, fraction, clip);
      }
    }
  });
  return {std::move(y)};
}

std::vector<Tensor> fixed_lookup(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &table = required_input(inputs, 1);
  require_i32(x);
  require_i32(table);
  if (table.size() != kFixedTableSize) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the table has {} entries, not {}", table.size(), kFixedTableSize));
  }
  const int input_shift = integer_attribute(node, "input_shift", 0, 0, kMostInputShift);
  const std::span<const int32_t> entries = table.data<int32_t>();
  return {element_wise<int32_t, int32_t>(x, ElementType::kI32, options, [&](int32_t value) {
    return tilewright::fixed_lookup(value, entries, input_shift);
  })};
}

std::vector<Tensor> encode(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (x.type() != ElementType::kF32) throw_unsupported_type(x.type());
  const int fraction = fraction_of(node);
  return {element_wise<int32_t, float>(x, ElementType::kI32, options,
                                       [&](float value) { return fixed_encode(double(value), fraction); })};
}

std::vector<Tensor> decode(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  require_i32(x);
  const int fraction = fraction_of(node);
  return {element_wise<float, int32_t>(x, ElementType::kF32, options,
                                       [&](int32_t value) { return fixed_decode(value, fraction); })};
}

constexpr KernelEntry kFixedKernels[] = {
    {kTilewrightDomain, "FixedConv", nullptr, bind_fixed_convolution},
    {kTilewrightDomain, "FixedGemm", nullptr, bind_fixed_gemm},
    {kTilewrightDomain, "FixedAdd", add_fixed},
    {kTilewrightDomain, "FixedAveragePool", fixed_average_pool},
    {kTilewrightDomain, "FixedLookup", fixed_lookup},
    {kTilewrightDomain, "FixedEncode", encode},
    {kTilewrightDomain, "FixedDecode", decode},
};

}  // namespace

std::span<const KernelEntry> fixed_point_kernels() { return kFixedKernels; }

}  // namespace tilewright
