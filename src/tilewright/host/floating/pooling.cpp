// MaxPool, AveragePool and the global pools over any number of spatial axes. Window geometry: graph/window.h.
#include <algorithm>
#include <functional>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/parallel.h"
#include "tilewright/graph/window.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/integer/integer_pool.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

// The taps of one output position along one axis that lie inside the input: first index, number of taps.
struct Reach {
  int64_t first = 0, count = 0;
};

std::vector<Reach> reaches(const WindowAxis& axis) {
  std::vector<Reach> result;
  for (int64_t o = 0; o < axis.output; ++o) {
    const int64_t start = axis.input_index(o, 0);
    const int64_t skipped = start >= 0 ? 0 : ceil_div(-start, axis.dilation);
    const int64_t first = start + skipped * axis.dilation;
    const int64_t fitting = first >= axis.input ? 0 : (axis.input - 1 - first) / axis.dilation + 1;
    result.push_back({first, std::clamp<int64_t>(axis.kernel - skipped, 0, fitting)});
  }
  return result;
}

int64_t plane_size(const Window& window) {
  int64_t size = 1;
  for (const WindowAxis& axis : window.axes) size *= axis.input;
  return size;
}

// Turns a row-major index within a plane into the column-major one (storage_order = 1).
int64_t column_major(const Window& window, int64_t index) {
  int64_t result = 0, scale = 1;
  std::vector<int64_t> position(window.axes.size());
  for (size_t axis = window.axes.size(); axis-- > 0;) {
    position[axis] = index % window.axes[axis].input;
    index /= window.axes[axis].input;
  }
  for (size_t axis = 0; axis < position.size(); ++axis) {
    result += position[axis] * scale;
    scale *= window.axes[axis].input;
  }
  return result;
}

// Maxima and sums over windows are separable: one axis after the other, outermost first, so that all but the
// last pass run over whole contiguous rows. `plane` is one input plane; the result has the window's outputs.
template <typename Acc, typename T, typename Combine>
std::vector<Acc> fold_windows(const Window& window, const std::vector<std::vector<Reach>>& reaches_by_axis,
                              const T* plane, Combine combine) {
  std::vector<Acc> current(plane, plane + plane_size(window)), next;
  int64_t outer = 1, inner = int64_t(current.size());
  for (size_t axis = 0; axis < reaches_by_axis.size(); ++axis) {
    const WindowAxis& a = window.axes[axis];
    inner /= a.input;
    next.assign(size_t(outer * a.output * inner), Acc{});
    for (int64_t o = 0; o < outer * a.output; ++o) {
      const Reach& reach = reaches_by_axis[axis][size_t(o % a.output)];
      const Acc* in = current.data() + (o / a.output * a.input + reach.first) * inner;
      Acc* out = next.data() + o * inner;
      if (reach.count == 0) continue;
      std::copy(in, in + inner, out);
      for (int64_t tap = 1; tap < reach.count; ++tap) {
        const Acc* row = in + tap * a.dilation * inner;
        for (int64_t i = 0; i < inner; ++i) out[i] = combine(out[i], row[i]);
      }
    }
    current.swap(next);
    outer *= a.output;
  }
  return current;
}

std::vector<std::vector<Reach>> all_reaches(const Window& window) {
  std::vector<std::vector<Reach>> result;
  for (const WindowAxis& axis : window.axes) result.push_back(reaches(axis));
  return result;
}

// The row-major index of the first maximum (or NaN) of every window of one plane.
template <typename T>
void max_positions(const Window& window, const std::vector<std::vector<Reach>>& reaches_by_axis,
                   const T* plane, int64_t* positions) {
  const size_t rank = window.axes.size();
  std::vector<int64_t> at(rank, 0), tap(rank, 0);
  for (int64_t flat = 0; flat < window.output_elements(); ++flat) {
    int64_t best = -1;
    std::ranges::fill(tap, 0);
    for (bool more = true; more;) {
      int64_t index = 0;
      for (size_t axis = 0; axis < rank; ++axis) {
        const Reach& reach = reaches_by_axis[axis][size_t(at[axis])];
        index = index * window.axes[axis].input + reach.first + tap[axis] * window.axes[axis].dilation;
      }
      if (best < 0 || plane[index] > plane[best] ||
          (plane[index] != plane[index] && plane[best] == plane[best])) {
        best = index;
      }
      more = false;
      for (size_t axis = rank; axis-- > 0 && !more;) {
        more = ++tap[axis] < reaches_by_axis[axis][size_t(at[axis])].count;
        if (!more) tap[axis] = 0;
      }
    }
    positions[flat] = best;
    for (size_t axis = rank; axis-- > 0;) {
      if (++at[axis] < window.axes[axis].output) break;
      at[axis] = 0;
    }
  }
}

std::vector<Tensor> max_windows(const Tensor& x, const Window& window, bool want_positions, bool by_columns,
                                const HostOptions& options) {
  const int64_t planes = x.shape()[0] * x.shape()[1], in_size = plane_size(window);
  const Shape shape = window.output_shape(x.shape()[0], x.shape()[1]);
  Tensor y(x.type(), shape);
  Tensor positions(ElementType::kI64, want_positions ? shape : Shape{0});
  int64_t* const positions_out = mutable_storage<int64_t>(positions);
  const std::vector<std::vector<Reach>> reach = all_reaches(window);
  for (const std::vector<Reach>& axis : reach) {
    // Dilated taps may straddle a small input; ONNX leaves the maximum of nothing open.
    if (std::ranges::any_of(axis, [](const Reach& r) { return r.count == 0; })) {
      throw Error(ErrorKind::kInvalidInput, "a window holds nothing but padding");
    }
  }
  const int64_t out_size = window.output_elements();
  visit_number(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(x);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, planes, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const std::vector<T> maxima =
            fold_windows<T>(window, reach, in + plane * in_size,
                            [](T best, T value) { return value > best || value != value ? value : best; });
        std::ranges::copy(maxima, out + plane * out_size);
        if (want_positions) {
          max_positions(window, reach, in + plane * in_size, positions_out + plane * out_size);
        }
      }
    });
  });
  for (int64_t i = 0; i < positions.size(); ++i) {
    const int64_t index = by_columns ? column_major(window, positions_out[i]) : positions_out[i];
    positions_out[i] = i / out_size * in_size + index;
  }
  return {y, positions};
}

std::vector<Tensor> max_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (bit_width(x.type()) == 8 && x.shape().rank() <= 4 && node.outputs.size() == 1) {
    return {integer_max_pool(x, pool_window(node, x.shape()), options.threads)};
  }
  return max_windows(x, pool_window(node, x.shape()), node.outputs.size() > 1,
                     node.int_or("storage_order", 0) != 0, options);
}

std::vector<Tensor> global_max_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  return max_windows(x, global_window(node, x.shape()), false, false, options);
}

// With `count_padding`, a window that ceil_mode lets reach beyond the end padding is divided by the taps
// within input and padding only.
int64_t padded_taps(const WindowAxis& axis, int64_t output) {
  const int64_t start = axis.input_index(output, 0), end = axis.input + axis.pad_end;
  return std::clamp<int64_t>((end - 1 - start) / axis.dilation + 1, 1, axis.kernel);
}

// What each output position along one axis contributes to the number of taps that a window is divided by.
std::vector<int64_t> divisors(const WindowAxis& axis, const std::vector<Reach>& reach, bool count_padding) {
  std::vector<int64_t> taps;
  for (int64_t o = 0; o < axis.output; ++o) {
    taps.push_back(count_padding ? padded_taps(axis, o) : std::max<int64_t>(reach[size_t(o)].count, 1));
  }
  return taps;
}

Tensor average_windows(const Tensor& x, const Window& window, bool count_padding,
                       const HostOptions& options) {
  const int64_t planes = x.shape()[0] * x.shape()[1], in_size = plane_size(window);
  Tensor y(x.type(), window.output_shape(x.shape()[0], x.shape()[1]));
  const std::vector<std::vector<Reach>> reach = all_reaches(window);
  std::vector<double> taps{1.0};  // of every output position
  for (size_t axis = 0; axis < reach.size(); ++axis) {
    std::vector<double> product;
    const std::vector<int64_t> along = divisors(window.axes[axis], reach[axis], count_padding);
    for (const double outer : taps) {
      for (const int64_t count : along) product.push_back(outer * double(count));
    }
    taps.swap(product);
  }
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, planes, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const std::vector<double> sums =
            fold_windows<double>(window, reach, storage<T>(x) + plane * in_size, std::plus<double>());
        for (size_t i = 0; i < sums.size(); ++i)
          out[plane * int64_t(sums.size()) + int64_t(i)] = T(sums[i] / taps[i]);
      }
    });
  });
  return y;
}

std::vector<Tensor> average_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  return {
      average_windows(x, pool_window(node, x.shape()), node.int_or("count_include_pad", 0) != 0, options)};
}

std::vector<Tensor> global_average_pool(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  return {average_windows(x, global_window(node, x.shape()), false, options)};
}

constexpr KernelEntry kPoolingKernels[] = {
    {"", "AveragePool", average_pool},
    {"", "GlobalAveragePool", global_average_pool},
    {"", "GlobalMaxPool", global_max_pool},
    {"", "MaxPool", max_pool},
};

}  // namespace

std::span<const KernelEntry> pooling_kernels() { return kPoolingKernels; }

}  // namespace tilewright
