// Output positions are taken eight at a time: the inputs under their taps are gathered once, then multiplied
// by all output channels of the group, four at a time.
#include "tilewright/host/integer/fixed_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"
#include "tilewright/host/kernel_inputs.h"

namespace tilewright {
void require_i32(const Tensor& tensor) {
  if (tensor.type() != ElementType::kI32) throw_unsupported_type(tensor.type());
}

namespace {

void require_bias(const Tensor& bias, int64_t channels) {
  require_i32(bias);
  if (bias.size() == channels) return;
  throw Error(ErrorKind::kInvalidInput, fmt::format("{} biases for {} channels", bias.size(), channels));
}

// Where the taps of one output position lie in a channel's plane, -1 in the padding: [tap][position].
void locate_taps(const WindowAxis& height, const WindowAxis& width, int64_t first, int64_t count,
                 std::vector<int64_t>& offsets) {
  offsets.assign(size_t(height.kernel * width.kernel * kFixedPositions), -1);
  for (int64_t p = 0; p < count; ++p) {
    const int64_t oy = (first + p) / width.output, ox = (first + p) % width.output;
    for (int64_t ky = 0; ky < height.kernel; ++ky) {
      const int64_t iy = height.input_index(oy, ky);
      if (iy < 0 || iy >= height.input) continue;
      for (int64_t kx = 0; kx < width.kernel; ++kx) {
        const int64_t ix = width.input_index(ox, kx);
        if (ix < 0 || ix >= width.input) continue;
        offsets[size_t((ky * width.kernel + kx) * kFixedPositions + p)] = iy * width.input + ix;
      }
    }
  }
}

void gather_rows(const int32_t* planes, int64_t channels, int64_t plane_size,
                 const std::vector<int64_t>& offsets, int32_t* values) {
  for (int64_t c = 0; c < channels; ++c, planes += plane_size) {
    for (const int64_t offset : offsets) *values++ = offset < 0 ? 0 : planes[offset];
  }
}

}  // namespace

void FixedExtremes::join(const FixedExtremes& other) {
  largest_sum = std::max(largest_sum, other.largest_sum);
  saturated += other.saturated;
}

// Where a block of sums goes: element (row, position) to `to[row * row_step + position * position_step]`.
struct FixedWeights::Output {
  const int32_t* bias;  // of the group's first row
  FixedFinish finish;
  int64_t positions;
  int32_t* to;
  int64_t row_step, position_step;
  FixedExtremes seen;

  void store(int64_t row, int64_t position, uint64_t sum) {
    sum += fixed_bias(bias[row], finish.fraction);
    seen.largest_sum = std::max(seen.largest_sum, int64_t(sum) < 0 ? ~sum + 1 : sum);
    const int32_t y = fixed_finish(sum, finish.fraction, finish.clip);
    if (y == INT32_MAX || y == INT32_MIN) {
      const uint64_t half = finish.fraction == 0 ? 0 : uint64_t{1} << (finish.fraction - 1);
      seen.saturated += int64_t(sum + half) >> finish.fraction != y;
    }
    to[row * row_step + position * position_step] = y;
  }
};

FixedWeights::FixedWeights(const Tensor& weights, int64_t group, FixedProducts products)
    : products_(products), groups_(group) {
  require_i32(weights);
  const int64_t channels = weights.shape().rank() == 0 ? 0 : weights.shape()[0];
  if (group < 1 || channels < 1 || channels % group != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} groups do not fit weights {}", group, to_string(weights.shape())));
  }
  rows_ = channels / group;
  depth_ = weights.size() / channels;
  blocks_ = ceil_div(rows_, kFixedRows);
  packed_.assign(size_t(groups_ * blocks_ * depth_ * kFixedRows), 0);
  const int32_t* from = weights.data<int32_t>().data();
  for (int64_t g = 0; g < groups_; ++g) {
    for (int64_t row = 0; row < rows_; ++row) {
      int32_t* to =
          packed_.data() + (g * blocks_ + row / kFixedRows) * depth_ * kFixedRows + row % kFixedRows;
      for (int64_t k = 0; k < depth_; ++k) to[k * kFixedRows] = *from++;
    }
  }
}

void FixedWeights::finish_block(int64_t group, const int32_t* values, Output& output) const {
  std::array<uint64_t, kFixedRows * kFixedPositions> sums;
  for (int64_t block = 0; block < blocks_; ++block) {
    products_(packed_.data() + (group * blocks_ + block) * depth_ * kFixedRows, values, depth_, sums.data());
    const int64_t first = block * kFixedRows, count = std::min(kFixedRows, rows_ - first);
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t p = 0; p < output.positions; ++p) {
        output.store(first + r, p, sums[size_t(r * kFixedPositions + p)]);
      }
    }
  }
}

Tensor FixedWeights::convolve(const Tensor& x, const Window& window, const Tensor& bias,
                              const FixedFinish& finish, int threads, FixedExtremes* seen) const {
  require_i32(x);
  require_bias(bias, groups_ * rows_);
  if (!window.is_2d()) throw Error(ErrorKind::kUnsupported, "only two spatial axes are supported");
  const WindowAxis &height = window.height(), &width = window.width();
  const int64_t in_size = height.input * width.input, out_size = height.output * width.output;
  const int64_t group_channels = x.shape()[1] / groups_;
  const int64_t tiles = ceil_div(out_size, kFixedPositions);
  Tensor y(ElementType::kI32, window.output_shape(x.shape()[0], groups_ * rows_));
  const int32_t* from = x.data<int32_t>().data();
  int32_t* to = y.mutable_data<int32_t>().data();
  std::mutex joining;
  parallel_for(threads, x.shape()[0] * groups_ * tiles, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> offsets;
    std::vector<int32_t> values(size_t(depth_ * kFixedPositions));
    FixedExtremes extremes;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t tile = i % tiles, plane = i / tiles, g = plane % groups_;  // plane: image and group
      const int64_t first = tile * kFixedPositions, count = std::min(kFixedPositions, out_size - first);
      locate_taps(height, width, first, count, offsets);
      gather_rows(from + plane * group_channels * in_size, group_channels, in_size, offsets, values.data());
      Output output{bias.data<int32_t>().data() + g * rows_,
                    finish,
                    count,
                    to + plane * rows_ * out_size + first,
                    out_size,
                    1,
                    {}};
      finish_block(g, values.data(), output);
      extremes.join(output.seen);
    }
    const std::lock_guard lock(joining);
    if (seen) seen->join(extremes);
  });
  return y;
}

Tensor FixedWeights::multiply(const Tensor& x, const Tensor& bias, const FixedFinish& finish, int threads,
                              FixedExtremes* seen) const {
  require_i32(x);
  require_bias(bias, rows_);
  if (x.shape().rank() != 2 || x.shape()[1] != depth_) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("X {} does not fit weights of {} inputs", to_string(x.shape()), depth_));
  }
  Tensor y(ElementType::kI32, {x.shape()[0], rows_});
  const int32_t* from = x.data<int32_t>().data();
  int32_t* to = y.mutable_data<int32_t>().data();
  std::mutex joining;
  const int64_t tiles = ceil_div(x.shape()[0], kFixedPositions);
  parallel_for(threads, tiles, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> values(size_t(depth_ * kFixedPositions), 0);
    FixedExtremes extremes;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kFixedPositions;
      const int64_t count = std::min(kFixedPositions, x.shape()[0] - first);
      for (int64_t p = 0; p < count; ++p) {
        for (int64_t k = 0; k < depth_; ++k) {
          values[size_t(k * kFixedPositions + p)] = from[(first + p) * depth_ + k];
        }
      }
      Output output{bias.data<int32_t>().data(), finish, count, to + first * rows_, 1, rows_, {}};
      finish_block(0, values.data(), output);
      extremes.join(output.seen);
    }
    const std::lock_guard lock(joining);
    if (seen) seen->join(extremes);
  });
  return y;
}

}  // namespace tilewright
