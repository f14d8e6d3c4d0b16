// Forward: one plane per value that (tap * dilation) mod stride takes, and one product per group over all
// taps. Transposed: one product per output position modulo the stride, over the taps that reach it, so that
// no inserted zeros are multiplied. Threads share out panels of lanes and, where panels are few, their rows
// too.
#include "tilewright/host/integer/integer_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

constexpr int64_t kSlack = kMaxLanes;  // the last panel reads beyond the last lane

constexpr int64_t kMaxStridePhases = 4096;

bool fits_i8(std::span<const int16_t> values) {
  return std::all_of(values.begin(), values.end(), [](int16_t v) { return v >= -128 && v <= 127; });
}

// Output phase `phase` of a transposed convolution: output u * stride + phase takes input u + distance for
// each of these taps.
template <typename Tap>
std::vector<Tap> taps_of_phase(const WindowAxis& axis, int64_t phase) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t shifted = phase + axis.pad_begin - k * axis.dilation;
    if (shifted % axis.stride == 0) taps.push_back({k, shifted / axis.stride});
  }
  return taps;
}

// Padding before the input and the length of a plane along one axis of a transposed convolution.
struct TransposedExtent {
  int64_t before = 0, length = 0;
};

TransposedExtent transposed_extent(const WindowAxis& axis) {
  const int64_t last_output = (axis.output - 1) / axis.stride;
  const int64_t furthest = (axis.stride - 1 + axis.pad_begin) / axis.stride;
  const int64_t before =
      ceil_div(std::max<int64_t>(0, (axis.kernel - 1) * axis.dilation - axis.pad_begin), axis.stride);
  return {before, before + last_output + furthest + 1};
}

}  // namespace

IntegerConvolution::IntegerConvolution(const IntegerConvShape& shape, std::span<const int16_t> weights,
                                       IntegerIsa isa)
    : shape_(shape), isa_(isa), width_(choose_width(isa, fits_i8(weights))) {}

void IntegerConvolution::check_plane_size() const {
  const double bytes = double(shape_.input_channels) * double(phases_.size()) * double(plane_rows_) *
                       double(plane_columns_) * 2;
  if (bytes > 0x1p32) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("the padded input would take {:.1f} GiB per image", bytes / 0x1p30));
  }
}

IntegerConvolution IntegerConvolution::forward(const IntegerConvShape& shape,
                                               std::span<const int16_t> weights, IntegerIsa isa) {
  IntegerConvolution conv(shape, weights, isa);
  const WindowAxis &h = shape.height, &w = shape.width;
  conv.row_step_ = h.stride;
  conv.column_step_ = w.stride;
  conv.plane_rows_ = h.output + (h.kernel - 1) * h.dilation / h.stride;
  conv.plane_columns_ = w.output + (w.kernel - 1) * w.dilation / w.stride;
  std::map<std::pair<int64_t, int64_t>, int64_t> phase_index;
  std::vector<std::pair<int64_t, int64_t>> taps;  // phase, distance in the plane
  for (int64_t r = 0; r < h.kernel; ++r) {
    for (int64_t s = 0; s < w.kernel; ++s) {
      const int64_t y = r * h.dilation, x = s * w.dilation;
      const auto [found, is_new] =
          phase_index.try_emplace({y % h.stride, x % w.stride}, int64_t(conv.phases_.size()));
      if (is_new) conv.phases_.push_back({y % h.stride - h.pad_begin, x % w.stride - w.pad_begin});
      taps.emplace_back(found->second, y / h.stride * conv.plane_columns_ + x / w.stride);
    }
  }
  conv.check_plane_size();
  Pass pass;
  pass.rows = h.output;
  pass.columns = pass.out_row_step = w.output;
  const int64_t channels = shape.input_channels / shape.group, rows = shape.output_channels / shape.group;
  for (int64_t c = 0; c < channels; ++c) {
    for (const auto& [phase, distance] : taps) {
      pass.offsets.push_back(c * conv.channel_elements() + phase * conv.phase_elements() + distance);
    }
  }
  const int64_t depth = int64_t(pass.offsets.size());
  for (int64_t g = 0; g < shape.group; ++g) {
    pass.matrices.emplace_back(weights.subspan(size_t(g * rows * depth), size_t(rows * depth)), rows, depth,
                               conv.width_, isa);
  }
  conv.passes_.push_back(std::move(pass));
  return conv;
}

IntegerConvolution IntegerConvolution::transposed(const IntegerConvShape& shape,
                                                  std::span<const int16_t> weights, IntegerIsa isa) {
  IntegerConvolution conv(shape, weights, isa);
  const WindowAxis &h = shape.height, &w = shape.width;
  const TransposedExtent rows = transposed_extent(h), columns = transposed_extent(w);
  conv.plane_rows_ = rows.length;
  conv.plane_columns_ = columns.length;
  conv.phases_ = {{-rows.before, -columns.before}};
  conv.check_plane_size();
  const int64_t phases_y = std::min(h.stride, h.output), phases_x = std::min(w.stride, w.output);
  if (phases_y * phases_x > kMaxStridePhases) {
    throw Error(ErrorKind::kUnsupported, fmt::format("strides {}x{} are too large", h.stride, w.stride));
  }
  for (int64_t y = 0; y < phases_y; ++y) {
    for (int64_t x = 0; x < phases_x; ++x) {
      conv.add_transposed_pass(weights, y, x, taps_of_phase<Tap>(h, y), taps_of_phase<Tap>(w, x));
    }
  }
  return conv;
}

void IntegerConvolution::add_transposed_pass(std::span<const int16_t> weights, int64_t phase_y,
                                             int64_t phase_x, std::span<const Tap> taps_y,
                                             std::span<const Tap> taps_x) {
  const WindowAxis &h = shape_.height, &w = shape_.width;
  Pass pass;
  pass.rows = ceil_div(h.output - phase_y, h.stride);
  pass.columns = ceil_div(w.output - phase_x, w.stride);
  pass.out_first = phase_y * w.output + phase_x;
  pass.out_row_step = h.stride * w.output;
  pass.out_column_step = w.stride;
  const int64_t channels = shape_.input_channels / shape_.group;
  const int64_t rows = shape_.output_channels / shape_.group;
  for (int64_t c = 0; c < channels; ++c) {
    for (const Tap& y : taps_y) {
      for (const Tap& x : taps_x) {
        pass.offsets.push_back(c * phase_elements() + (y.distance - phases_[0].row_origin) * plane_columns_ +
                               x.distance - phases_[0].column_origin);
      }
    }
  }
  const int64_t depth = int64_t(pass.offsets.size());
  std::vector<int16_t> matrix(size_t(rows * depth));
  for (int64_t g = 0; g < shape_.group; ++g) {
    size_t to = 0;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = g * channels; c < (g + 1) * channels; ++c) {
        for (const Tap& y : taps_y) {
          for (const Tap& x : taps_x) {
            matrix[to++] = weights[size_t(((c * rows + row) * h.kernel + y.tap) * w.kernel + x.tap)];
          }
        }
      }
    }
    pass.matrices.emplace_back(matrix, rows, depth, width_, isa_);
  }
  passes_.push_back(std::move(pass));
}

template <typename T, typename X>
void IntegerConvolution::fill_channel(const X* x, const Encoding& encoding, T* planes) const {
  const T offset = T(encoding.offset), pad = T(encoding.pad);
  const int64_t height = shape_.height.input, width = shape_.width.input;
  for (const Phase& phase : phases_) {
    // Columns [begin, end) of the plane come from the input.
    const int64_t begin = std::clamp<int64_t>(
        ceil_div(std::max<int64_t>(0, -phase.column_origin), column_step_), 0, plane_columns_);
    const int64_t beyond = ceil_div(std::max<int64_t>(0, width - phase.column_origin), column_step_);
    const int64_t end = std::clamp<int64_t>(beyond, begin, plane_columns_);
    for (int64_t row = 0; row < plane_rows_; ++row, planes += plane_columns_) {
      const int64_t y = row * row_step_ + phase.row_origin;
      if (y < 0 || y >= height) {
        std::fill_n(planes, plane_columns_, pad);
        continue;
      }
      std::fill(planes, planes + begin, pad);
      std::fill(planes + end, planes + plane_columns_, pad);
      const X* from = x + y * width + begin * column_step_ + phase.column_origin;
      if (column_step_ == 1) {
        for (int64_t i = 0; i < end - begin; ++i) planes[begin + i] = T(T(from[i]) + offset);
      } else {
        for (int64_t i = 0; i < end - begin; ++i) planes[begin + i] = T(T(from[i * column_step_]) + offset);
      }
    }
  }
}

template <typename T>
void IntegerConvolution::run_pass(const Pass& pass, const T* planes, int32_t zero,
                                  const FinishChannel& finish, std::byte* out, int64_t element_bytes,
                                  int threads) const {
  const int64_t lanes = (pass.rows - 1) * plane_columns_ + pass.columns;
  const int64_t vectors = ceil_div(lanes, kLanesPerVector);
  const int64_t panel_lanes = ceil_div(vectors, ceil_div(vectors, kMaxVectors)) * kLanesPerVector;
  const int64_t panels = ceil_div(lanes, panel_lanes), items = panels * shape_.group;
  const int64_t group_rows = shape_.output_channels / shape_.group;
  // Few panels: several threads share one, each with its own rows.
  const int64_t shares =
      std::clamp<int64_t>(ceil_div(threads, items), 1, std::max<int64_t>(1, group_rows / 16));
  const int64_t group_elements = shape_.input_channels / shape_.group * channel_elements();
  const int64_t out_channel = shape_.height.output * shape_.width.output;
  const bool contiguous =
      pass.out_column_step == 1 && pass.out_row_step == pass.columns && plane_columns_ == pass.columns;
  parallel_for(threads, items * shares, [&](int64_t begin, int64_t end) {
    IntegerPanel panel(width_, int64_t(pass.offsets.size()));
    alignas(64) std::byte finished[size_t(kMaxLanes * 4)];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t share = item % shares, group = item / shares / panels;
      const int64_t first = item / shares % panels * panel_lanes;
      const int64_t count = std::min(panel_lanes, lanes - first);
      const int64_t first_row = first / plane_columns_, first_column = first % plane_columns_;
      const IntegerMatrix& matrix = pass.matrices[size_t(group)];
      if (item == begin || share == 0) {
        panel.fill(planes + group * group_elements, pass.offsets, first, count);
      }
      const auto emit = [&](int64_t row, const int32_t* acc) {
        const int64_t channel = group * group_rows + row;
        const uint32_t base = uint32_t(-zero) * matrix.row_sum(row);
        std::byte* target = out + (channel * out_channel + pass.out_first) * element_bytes;
        if (contiguous) {
          finish(channel, acc, base, count, target + first * element_bytes);
          return;
        }
        finish(channel, acc, base, count, finished);
        for (int64_t lane = 0, y = first_row, x = first_column; lane < count; ++y, x = 0) {
          const int64_t valid = std::clamp<int64_t>(pass.columns - x, 0, count - lane);
          std::byte* to = target + (y * pass.out_row_step + x * pass.out_column_step) * element_bytes;
          if (pass.out_column_step == 1) {
            std::memcpy(to, finished + lane * element_bytes, size_t(valid * element_bytes));
          } else {
            for (int64_t i = 0; i < valid; ++i) {
              std::memcpy(to + i * pass.out_column_step * element_bytes,
                          finished + (lane + i) * element_bytes, size_t(element_bytes));
            }
          }
          lane += plane_columns_ - x;
        }
      };
      matrix.multiply(panel, group_rows * share / shares, group_rows * (share + 1) / shares, emit);
    }
  });
}

template <typename T, typename X>
void IntegerConvolution::run_as(const Tensor& x, const Encoding& encoding, const FinishChannel& finish,
                                Tensor& y, int threads) const {
  const int64_t channels = shape_.input_channels, elements = channels * channel_elements();
  const auto planes = std::make_unique_for_overwrite<T[]>(size_t(elements + kSlack));
  std::fill_n(planes.get() + elements, kSlack, T(0));
  const int64_t image = shape_.height.input * shape_.width.input;
  const int64_t element_bytes = bit_width(y.type()) / 8;
  const int64_t out_image =
      shape_.output_channels * shape_.height.output * shape_.width.output * element_bytes;
  const X* data = x.data<X>().data();
  std::byte* out = y.mutable_bytes().data();
  for (int64_t n = 0; n < shape_.batch; ++n) {
    parallel_for(threads, channels, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        fill_channel<T, X>(data + (n * channels + c) * image, encoding,
                           planes.get() + c * channel_elements());
      }
    });
    for (const Pass& pass : passes_) {
      run_pass<T>(pass, planes.get(), encoding.zero, finish, out + n * out_image, element_bytes, threads);
    }
  }
}

void IntegerConvolution::run(const Tensor& x, int32_t zero_point, int32_t pad, const FinishChannel& finish,
                             Tensor& y, int threads) const {
  const WindowAxis &h = shape_.height, &w = shape_.width;
  TILEWRIGHT_CHECK(x.size() == shape_.batch * shape_.input_channels * h.input * w.input &&
                       y.size() == shape_.batch * shape_.output_channels * h.output * w.output,
                   "convolution run on other shapes");
  if (y.size() == 0) return;
  const bool is_i8 = x.type() == ElementType::kI8;
  if (width_ == IntegerWidth::kBytes) {
    const int32_t offset = is_i8 ? 128 : 0;
    const Encoding encoding{offset, pad + offset, zero_point + offset};
    return is_i8 ? run_as<uint8_t, int8_t>(x, encoding, finish, y, threads)
                 : run_as<uint8_t, uint8_t>(x, encoding, finish, y, threads);
  }
  const Encoding encoding{-zero_point, pad - zero_point, 0};
  return is_i8 ? run_as<int16_t, int8_t>(x, encoding, finish, y, threads)
               : run_as<int16_t, uint8_t>(x, encoding, finish, y, threads);
}

}  // namespace tilewright
