// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: the borders between float and integers.
// Rounding is half to even, done by clamping first (the bounds are integers, so the result is the same) and
// adding 1.5 * 2^23, which compilers vectorise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

constexpr int64_t kParallelElements = 1 << 16;

// How the elements of a tensor share scales: element (outer, channel, inner) uses number `channel`.
struct ScaleLayout {
  int64_t outer = 1, channels = 1, inner = 1;
};

ScaleLayout scale_layout(const Node& node, const Tensor& x, const Tensor& scale, const Tensor* zero_point) {
  if (node.int_or("block_size", 0) != 0 || scale.shape().rank() > 1) {
    throw Error(ErrorKind::kUnsupported, "scales per block are not supported");
  }
  if (zero_point != nullptr && zero_point->size() != scale.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} scales but {} zero points", scale.size(), zero_point->size()));
  }
  if (scale.size() == 1) return {1, 1, x.size()};
  const int axis = normalize_axis(node.int_or("axis", 1), x.shape().rank());
  if (x.shape()[axis] != scale.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} scales for {} channels on axis {}", scale.size(), x.shape()[axis], axis));
  }
  return {x.shape().count(0, axis), scale.size(), x.shape().count(axis + 1, x.shape().rank())};
}

// Calls body(channel, first, count) for runs of elements that share a scale.
template <typename Body>
void for_each_run(const ScaleLayout& layout, int threads, Body&& body) {
  if (layout.channels == 1) {
    const int64_t count = layout.outer * layout.inner;
    parallel_for(count < kParallelElements ? 1 : threads, count,
                 [&](int64_t begin, int64_t end) { body(int64_t{0}, begin, end - begin); });
    return;
  }
  const int64_t runs = layout.outer * layout.channels;
  parallel_for(runs * layout.inner < kParallelElements ? 1 : threads, runs, [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) body(run % layout.channels, run * layout.inner, layout.inner);
  });
}

// Calls f(T{}) with the storage type of a quantised type of 8 bits and more.
template <typename F>
auto visit_quantized(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kI8:
      return f(int8_t{});
    case ElementType::kU8:
      return f(uint8_t{});
    case ElementType::kI16:
      return f(int16_t{});
    case ElementType::kU16:
      return f(uint16_t{});
    default:
      throw_unsupported_type(type);
  }
}

template <typename Q, typename X>
void quantize_run(const X* x, int64_t count, float scale, int64_t zero_point, int64_t lowest_q,
                  int64_t highest_q, Q* q) {
  constexpr float kRound = 0x1.8p23f;
  const float low = float(lowest_q - zero_point), high = float(highest_q - zero_point);
  const int32_t shift = int32_t(zero_point);
  for (int64_t i = 0; i < count; ++i) {
    float value = float(x[i]) / scale;
    value = value > low ? value : low;  // a NaN ends here too
    value = value < high ? value : high;
    q[i] = Q(int32_t((value + kRound) - kRound) + shift);
  }
}

// `type`: any integer type of up to 16 bits.
Tensor quantize(const Tensor& x, const Tensor& scale, const Tensor* zero_point, const ScaleLayout& layout,
                ElementType type, int threads) {
  if (!is_integer(type) || bit_width(type) > 16) throw_unsupported_type(type);
  // Types below 8 bits are made as bytes and packed at the end.
  const bool packed = bit_width(type) < 8;
  const ElementType storage_type = !packed ? type : is_signed(type) ? ElementType::kI8 : ElementType::kU8;
  const std::vector<float> scales = scale.to_floats();
  Tensor q(storage_type, x.shape());
  visit_quantized(storage_type, [&](auto tag) {
    using Q = decltype(tag);
    Q* out = mutable_storage<Q>(q);
    const auto run_from = [&](const auto* in) {
      for_each_run(layout, threads, [&](int64_t channel, int64_t first, int64_t count) {
        quantize_run(in + first, count, scales[size_t(channel)],
                     zero_point == nullptr ? 0 : zero_point->integer_at(channel), lowest(type), highest(type),
                     out + first);
      });
    };
    if (x.type() == ElementType::kF32) return run_from(storage<float>(x));
    if (x.type() == ElementType::kI32) return run_from(storage<int32_t>(x));
    throw_unsupported_type(x.type());
  });
  return packed ? q.cast(type) : q;
}

std::vector<Tensor> quantize_linear(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &scale = required_input(inputs, 1);
  const Tensor* zero_point = has_input(inputs, 2) ? inputs[2] : nullptr;
  const ElementType type = zero_point == nullptr ? ElementType::kU8 : zero_point->type();
  return {quantize(x, scale, zero_point, scale_layout(node, x, scale, zero_point), type, options.threads)};
}

std::vector<Tensor> dequantize_linear(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &scale = required_input(inputs, 1);
  const Tensor* zero_point = has_input(inputs, 2) ? inputs[2] : nullptr;
  const ScaleLayout layout = scale_layout(node, x, scale, zero_point);
  const bool wide = x.type() == ElementType::kI64;  // biases of 16-bit layers
  if (!is_integer(x.type()) || (bit_width(x.type()) > 32 && !wide)) throw_unsupported_type(x.type());
  const Tensor q =
      bit_width(x.type()) >= 8 ? x : x.cast(is_signed(x.type()) ? ElementType::kI8 : ElementType::kU8);
  const std::vector<float> scales = scale.to_floats();
  Tensor y(ElementType::kF32, x.shape());
  float* out = mutable_storage<float>(y);
  visit_number(q.type(), [&](auto tag) {
    using Q = decltype(tag);
    const Q* in = storage<Q>(q);
    for_each_run(layout, options.threads, [&](int64_t channel, int64_t first, int64_t count) {
      const float factor = scales[size_t(channel)];
      if (wide) {
        const int64_t zero = zero_point == nullptr ? 0 : zero_point->integer_at(channel);
        for (int64_t i = first; i < first + count; ++i) {
          out[i] = float(double(int64_t(in[i]) - zero) * double(factor));
        }
        return;
      }
      // 32-bit differences: i32 data has no zero point in practice, and a float holds 24 bits anyhow.
      const int32_t shift = zero_point == nullptr ? 0 : int32_t(zero_point->integer_at(channel));
      for (int64_t i = first; i < first + count; ++i) {
        out[i] = float(int32_t(uint32_t(in[i]) - uint32_t(shift))) * factor;
      }
    });
  });
  return {std::move(y)};
}

std::vector<Tensor> dynamic_quantize_linear(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (x.type() != ElementType::kF32) throw_unsupported_type(x.type());
  float low = 0, high = 0;
  for (const float value : x.data<float>()) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // A tensor of zeros has no range; any scale represents it.
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  const Tensor y_scale = Tensor::scalar(scale), y_zero_point = Tensor::scalar(uint8_t(zero));
  return {quantize(x, y_scale, &y_zero_point, {1, 1, x.size()}, ElementType::kU8, options.threads), y_scale,
          y_zero_point};
}

constexpr KernelEntry kQuantizeKernels[] = {
    {"", "DequantizeLinear", dequantize_linear},
    {"", "DynamicQuantizeLinear", dynamic_quantize_linear},
    {"", "QuantizeLinear", quantize_linear},
};

}  // namespace

std::span<const KernelEntry> quantize_kernels() { return kQuantizeKernels; }

}  // namespace tilewright
