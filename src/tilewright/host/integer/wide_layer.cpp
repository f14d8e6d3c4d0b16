// x = 256 * high + low, with high in i8 and low in u8, so a sum of products is 256 times the sum of the high
// plane plus that of the low one. Each plane goes through the kernels of 8-bit layers; the sums are put
// together, requantised and stored in a pass of their own.
#include "tilewright/host/integer/wide_layer.h"

#include <optional>

#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

Tensor plane_sums(const IntegerConvolution& convolution, const Tensor& plane, int32_t pad, const Shape& shape,
                  int threads) {
  Tensor sums(ElementType::kI32, shape);
  const FinishChannel keep = [](int64_t, const int32_t* acc, uint32_t base, int64_t count, void* out) {
    auto* const to = static_cast<int32_t*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = int32_t(uint32_t(acc[i]) + base);
  };
  convolution.run(plane, 0, pad, keep, sums, threads);
  return sums;
}

struct BytePlanes {
  Tensor high, low;
};

BytePlanes split_planes(const Tensor& x) {
  BytePlanes planes{Tensor(ElementType::kI8, x.shape()), Tensor(ElementType::kU8, x.shape())};
  const auto from = x.data<int16_t>();
  const auto high = planes.high.mutable_data<int8_t>();
  const auto low = planes.low.mutable_data<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    high[i] = int8_t(from[i] >> 8);
    low[i] = uint8_t(from[i] & 0xFF);
  }
  return planes;
}

// The elements of one output channel: sums 256 * high + low, or low alone.
template <typename T>
void finish_channel(const int32_t* high, const int32_t* low, int64_t count, const ChannelScales& scales,
                    int64_t channel, const OutputStage& output, T* out) {
  const int64_t bias = scales.bias(channel);
  const Requantization scale = scales.scale(channel);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sum = (high == nullptr ? 0 : int64_t{256} * high[i]) + low[i] + bias;
    const int64_t value = scales.is_wide() ? scaled_wide(sum, scale) : scaled(wrap(sum, 32), scale);
    const int64_t stored = clip(value + output.y_zero_point, output.clip_low, output.clip_high);
    out[i] = T(output.bipolar ? 2 * stored - 1 : stored);
  }
}

}  // namespace

void run_wide_layer(const IntegerConvolution& convolution, const Tensor& x, int32_t pad,
                    const ChannelScales& scales, const OutputStage& output, Tensor& y, int threads) {
  std::optional<Tensor> high, low;
  if (x.type() == ElementType::kI16) {
    const BytePlanes planes = split_planes(x);
    high = plane_sums(convolution, planes.high, pad >> 8, y.shape(), threads);
    low = plane_sums(convolution, planes.low, pad & 0xFF, y.shape(), threads);
  } else {
    low = plane_sums(convolution, x, pad, y.shape(), threads);
  }
  const int64_t channels = convolution.output_channels(), count = convolution.channel_outputs();
  const int64_t rows = count == 0 ? 0 : y.size() / count;
  const int32_t* const from_high = high ? high->data<int32_t>().data() : nullptr;
  const int32_t* const from_low = low->data<int32_t>().data();
  const auto finish_rows = [&](auto* to) {
    parallel_for(threads, rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = row * count;
        finish_channel(from_high == nullptr ? nullptr : from_high + first, from_low + first, count, scales,
                       row % channels, output, to + first);
      }
    });
  };
  if (y.type() == ElementType::kI16) return finish_rows(y.mutable_data<int16_t>().data());
  finish_rows(y.mutable_data<int8_t>().data());
}

}  // namespace tilewright
