// MaxPool, AveragePool and the global pools over any number of spatial axes. Window geometry: graph/window.h.
#include <algorithm>
#include <limits>

#include "tilewright/base/parallel.h"
#include "tilewright/graph/window.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/integer_pool.h"
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
    const int64_t skipped = start >= 0 ? 0 : (-start + axis.dilation - 1) / axis.dilation;
    const int64_t first = start + skipped * axis.dilation;
    const int64_t fitting = first >= axis.input ? 0 : (axis.input - 1 - first) / axis.dilation + 1;
    result.push_back({first, std::clamp<int64_t>(axis.kernel - skipped, 0, fitting)});
  }
  return result;
}

// Walks the windows of one input plane. visit(output index, reaches of the axes at this position).
class PlaneWalk {
 public:
  explicit PlaneWalk(const Window& window) : window_(window) {
    for (const WindowAxis& axis : window.axes) reaches_.push_back(reaches(axis));
  }

  template <typename Visit>
  void for_each_output(Visit&& visit) const {
    const size_t rank = reaches_.size();
    std::vector<size_t> position(rank, 0);
    std::vector<Reach> here(rank);
    const int64_t outputs = window_.output_elements();
    for (int64_t flat = 0; flat < outputs; ++flat) {
      for (size_t axis = 0; axis < rank; ++axis) here[axis] = reaches_[axis][position[axis]];
      visit(flat, here, position);
      for (size_t axis = rank; axis-- > 0;) {
        if (++position[axis] < reaches_[axis].size()) break;
        position[axis] = 0;
      }
    }
  }

  // Calls row(first index in the plane, count) for the runs of taps along the last axis, in row-major order.
  template <typename Row>
  void for_each_row(const std::vector<Reach>& here, Row&& row) const {
    const size_t last = here.size() - 1;
    std::vector<int64_t> tap(last, 0);
    for (const Reach& reach : here) {
      if (reach.count == 0) return;
    }
    while (true) {
      int64_t index = 0;
      for (size_t axis = 0; axis < last; ++axis) {
        index = index * window_.axes[axis].input + here[axis].first + tap[axis] * window_.axes[axis].dilation;
      }
      row(index * window_.axes[last].input + here[last].first, here[last].count);
      size_t axis = last;
      while (axis > 0 && ++tap[axis - 1] == here[axis - 1].count) tap[--axis] = 0;
      if (axis == 0) return;
    }
  }

  int64_t last_dilation() const { return window_.axes.back().dilation; }

 private:
  const Window& window_;
  std::vector<std::vector<Reach>> reaches_;
};

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

template <typename T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

template <typename T>
void max_plane(const PlaneWalk& walk, const T* in, T* out, int64_t* positions) {
  const int64_t step = walk.last_dilation();
  walk.for_each_output([&](int64_t flat, const std::vector<Reach>& here, const auto&) {
    T best = kLowest<T>;
    int64_t at = -1;
    walk.for_each_row(here, [&](int64_t index, int64_t count) {
      for (int64_t i = 0; i < count; ++i, index += step) {
        if (at < 0 || in[index] > best || in[index] != in[index]) {
          best = in[index];
          at = index;
        }
      }
    });
    out[flat] = best;
    if (positions != nullptr) positions[flat] = at;
  });
}

std::vector<Tensor> max_windows(const Tensor& x, const Window& window, bool want_positions, bool by_columns,
                                const HostOptions& options) {
  const int64_t planes = x.shape()[0] * x.shape()[1], in_size = plane_size(window);
  const Shape shape = window.output_shape(x.shape()[0], x.shape()[1]);
  Tensor y(x.type(), shape);
  Tensor positions(ElementType::kI64, want_positions ? shape : Shape{0});
  int64_t* const positions_out = mutable_storage<int64_t>(positions);
  const PlaneWalk walk(window);
  const int64_t out_size = window.output_elements();
  visit_number(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(x);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, planes, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        max_plane(walk, in + plane * in_size, out + plane * out_size,
                  want_positions ? positions_out + plane * out_size : nullptr);
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

Tensor average_windows(const Tensor& x, const Window& window, bool count_padding,
                       const HostOptions& options) {
  const int64_t planes = x.shape()[0] * x.shape()[1], in_size = plane_size(window);
  Tensor y(x.type(), window.output_shape(x.shape()[0], x.shape()[1]));
  const PlaneWalk walk(window);
  const int64_t out_size = window.output_elements(), step = walk.last_dilation();
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* in = storage<T>(x);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, planes, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        walk.for_each_output([&](int64_t flat, const std::vector<Reach>& here, const auto& position) {
          double sum = 0;
          walk.for_each_row(here, [&](int64_t index, int64_t count) {
            const T* taps = in + plane * in_size + index;
            for (int64_t i = 0; i < count; ++i) sum += double(taps[i * step]);
          });
          int64_t taps = 1;
          for (size_t axis = 0; axis < here.size(); ++axis) {
            taps *=
                count_padding ? padded_taps(window.axes[axis], int64_t(position[axis])) : here[axis].count;
          }
          out[plane * out_size + flat] = taps == 0 ? T(0) : T(sum / double(taps));
        });
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

constexpr KernelEntry kKernels[] = {
    {"", "AveragePool", average_pool},
    {"", "GlobalAveragePool", global_average_pool},
    {"", "GlobalMaxPool", global_max_pool},
    {"", "MaxPool", max_pool},
};

}  // namespace

std::span<const KernelEntry> pooling_kernels() { return kKernels; }

}  // namespace tilewright
