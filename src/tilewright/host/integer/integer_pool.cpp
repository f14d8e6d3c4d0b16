// Each output row is built tap by tap: a row of partial results absorbs the input row that the tap sees. Taps
// outside of the input contribute the pad value (average) or nothing (maximum).
#include "tilewright/host/integer/integer_pool.h"

#include <algorithm>
#include <limits>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"
#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_node.h"

namespace tilewright {
namespace {

// How many steps from the first lie before `reach`.
int64_t steps_before(int64_t reach, int64_t step) { return reach <= 0 ? 0 : ceil_div(reach, step); }

// Output columns [begin, end) of tap `k` whose input lies inside.
struct ColumnRange {
  int64_t begin, end;
};

ColumnRange inside_columns(const WindowAxis& axis, int64_t k) {
  const int64_t shift = axis.pad_begin - k * axis.dilation;  // input = o * stride - shift
  const int64_t begin = std::min(steps_before(shift, axis.stride), axis.output);
  return {begin, std::clamp(steps_before(axis.input + shift, axis.stride), begin, axis.output)};
}

// The taps [begin, end) of which any output between the first and last given reads inside: a kernel may reach
// far into the padding, and those taps are not worth a visit.
struct TapRange {
  int64_t begin, end;
};

TapRange inside_taps(const WindowAxis& axis, int64_t first_output, int64_t last_output) {
  const int64_t begin = steps_before(-axis.input_index(last_output, 0), axis.dilation);
  const int64_t end = steps_before(axis.input - axis.input_index(first_output, 0), axis.dilation);
  return {std::min(begin, axis.kernel), std::clamp<int64_t>(end, std::min(begin, axis.kernel), axis.kernel)};
}

// Calls absorb(acc, value) for every element that tap column `k` sees in one input row.
template <typename A, typename T, typename Absorb>
void absorb_row(const WindowAxis& axis, int64_t k, const T* row, A* acc, Absorb&& absorb) {
  const ColumnRange range = inside_columns(axis, k);
  const T* from = row + axis.input_index(range.begin, k);
  A* to = acc + range.begin;
  const int64_t count = range.end - range.begin;
  if (axis.stride == 1) {
    for (int64_t i = 0; i < count; ++i) absorb(to[i], from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) absorb(to[i], from[i * axis.stride]);
  }
}

template <typename T>
Tensor pooled_maxima(const Tensor& x, const IntegerConvShape& shape, const Shape& out_shape, int threads) {
  const WindowAxis &h = shape.height, &w = shape.width;
  Tensor y(x.type(), out_shape);
  const T* from = x.data<T>().data();
  T* to = y.mutable_data<T>().data();
  const TapRange columns = inside_taps(w, 0, w.output - 1);
  parallel_for(threads, shape.batch * shape.input_channels, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* image = from + plane * h.input * w.input;
      for (int64_t oy = 0; oy < h.output; ++oy) {
        T* row = to + (plane * h.output + oy) * w.output;
        std::fill_n(row, w.output, std::numeric_limits<T>::min());
        const TapRange rows = inside_taps(h, oy, oy);
        for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
          const int64_t iy = h.input_index(oy, ky);
          for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
            absorb_row(w, kx, image + iy * w.input, row,
                       [](T& best, T value) { best = std::max(best, value); });
          }
        }
      }
    }
  });
  return y;
}

template <typename T, typename Out>
Tensor pooled_averages(const Tensor& x, const Window& window, const AveragePoolParameters& parameters,
                       int threads) {
  const Shape out_shape = window.output_shape(x.shape()[0], x.shape()[1]);
  const IntegerConvShape shape = conv_shape(window, x.shape(), x.shape()[1], 1);
  const WindowAxis &h = shape.height, &w = shape.width;
  Tensor y(element_type_of<Out>::value, out_shape);
  const T* from = x.data<T>().data();
  Out* to = y.mutable_data<Out>().data();
  const TapRange columns = inside_taps(w, 0, w.output - 1);
  parallel_for(threads, shape.batch * shape.input_channels, [&](int64_t begin, int64_t end) {
    // Starting from a window full of padding, an element adds its difference to the pad value.
    const uint32_t all_pad = uint32_t(parameters.pad_value) * uint32_t(h.kernel) * uint32_t(w.kernel);
    const uint32_t base = uint32_t(parameters.bias) + all_pad;
    std::vector<int32_t> row(size_t(w.output));
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* image = from + plane * h.input * w.input;
      for (int64_t oy = 0; oy < h.output; ++oy) {
        std::fill(row.begin(), row.end(), 0);
        const TapRange rows = inside_taps(h, oy, oy);
        for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
          const int64_t iy = h.input_index(oy, ky);
          for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
            absorb_row(w, kx, image + iy * w.input, row.data(), [&](int32_t& sum, T value) {
              sum = int32_t(uint32_t(sum) + uint32_t(value - parameters.pad_value));
            });
          }
        }
        requantize_lanes(row.data(), base, w.output, {parameters.multiplier, parameters.shift},
                         parameters.output, to + (plane * h.output + oy) * w.output);
      }
    }
  });
  return y;
}

}  // namespace

Tensor integer_average_pool(const Tensor& x, const Window& window, const AveragePoolParameters& parameters,
                            int threads) {
  const auto pooled = [&](auto element) {
    using T = decltype(element);
    return parameters.output.bits == 16 ? pooled_averages<T, int16_t>(x, window, parameters, threads)
                                        : pooled_averages<T, int8_t>(x, window, parameters, threads);
  };
  return x.type() == ElementType::kI16 ? pooled(int16_t{}) : pooled(int8_t{});
}

Tensor integer_max_pool(const Tensor& x, const Window& window, int threads) {
  const Shape out_shape = window.output_shape(x.shape()[0], x.shape()[1]);
  const IntegerConvShape shape = conv_shape(window, x.shape(), x.shape()[1], 1);
  return x.type() == ElementType::kI8 ? pooled_maxima<int8_t>(x, shape, out_shape, threads)
                                      : pooled_maxima<uint8_t>(x, shape, out_shape, threads);
}

}  // namespace tilewright
