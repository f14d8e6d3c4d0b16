// Both directions visit the pairs (position in one plane, position in the other) that a kernel tap connects;
// the convolution sums them per output, the transposed one scatters per input.
#include "tilewright/host/floating/plain_convolution.h"

#include "tilewright/base/parallel.h"
#include "tilewright/host/element_dispatch.h"

namespace tilewright {
namespace {

// Calls visit(index in the larger plane, tap) for every tap of the window at `position` that falls inside.
// Convolution: position in the output, larger plane = input. Transposed: position in the input, larger plane
// = output. The index arithmetic is the same: start = position * stride - pad.
template <typename Visit>
void for_each_tap(const Window& window, const std::vector<int64_t>& position,
                  const std::vector<int64_t>& plane, Visit&& visit) {
  const size_t rank = position.size();
  std::vector<int64_t> tap(rank, 0);
  for (int64_t t = 0; t < window.kernel_elements(); ++t) {
    int64_t index = 0;
    bool inside = true;
    for (size_t axis = 0; axis < rank && inside; ++axis) {
      const int64_t at = window.axes[axis].input_index(position[axis], tap[axis]);
      inside = at >= 0 && at < plane[axis];
      index = index * plane[axis] + at;
    }
    if (inside) visit(index, t);
    for (size_t axis = rank; axis-- > 0;) {
      if (++tap[axis] < window.axes[axis].kernel) break;
      tap[axis] = 0;
    }
  }
}

// Calls visit(flat index, position) for every position of a plane.
template <typename Visit>
void for_each_position(const std::vector<int64_t>& plane, Visit&& visit) {
  std::vector<int64_t> position(plane.size(), 0);
  const int64_t count = Shape(plane).element_count();
  for (int64_t flat = 0; flat < count; ++flat) {
    visit(flat, position);
    for (size_t axis = plane.size(); axis-- > 0;) {
      if (++position[axis] < plane[axis]) break;
      position[axis] = 0;
    }
  }
}

struct Planes {
  explicit Planes(const Window& window) : taps(window.kernel_elements()) {
    for (const WindowAxis& axis : window.axes) {
      input.push_back(axis.input);
      output.push_back(axis.output);
    }
    input_size = Shape(input).element_count();
    output_size = Shape(output).element_count();
  }
  std::vector<int64_t> input, output;
  int64_t taps, input_size, output_size;
};

// The result whose planes, one per image and output channel, body(tag, image, channel, plane's data) fills
// in.
template <typename Body>
Tensor plane_by_plane(const Tensor& x, int64_t outputs, const Window& window, const Planes& planes,
                      int threads, Body&& body) {
  const int64_t batch = x.shape()[0];
  Tensor y(x.type(), window.output_shape(batch, outputs));
  visit_float(x.type(), [&](auto tag) {
    auto* out = mutable_storage<decltype(tag)>(y);
    parallel_for(threads, batch * outputs, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        body(tag, plane / outputs, plane % outputs, out + plane * planes.output_size);
      }
    });
  });
  return y;
}

}  // namespace

Tensor plain_convolution(const Tensor& x, const Tensor& weights, const Tensor* bias, const Window& window,
                         int64_t group, int threads) {
  const int64_t channels = x.shape()[1], outputs = weights.shape()[0];
  const int64_t group_channels = channels / group, group_outputs = outputs / group;
  const Planes planes(window);
  return plane_by_plane(x, outputs, window, planes, threads, [&](auto tag, int64_t n, int64_t o, auto* out) {
    using T = decltype(tag);
    const T* in = storage<T>(x) + (n * channels + o / group_outputs * group_channels) * planes.input_size;
    const T* w = storage<T>(weights) + o * group_channels * planes.taps;
    const double start = bias == nullptr ? 0.0 : double(storage<T>(*bias)[o]);
    for_each_position(planes.output, [&](int64_t flat, const std::vector<int64_t>& position) {
      double sum = start;
      for_each_tap(window, position, planes.input, [&](int64_t index, int64_t tap) {
        for (int64_t c = 0; c < group_channels; ++c) {
          sum += double(in[c * planes.input_size + index]) * double(w[c * planes.taps + tap]);
        }
      });
      out[flat] = T(sum);
    });
  });
}

Tensor plain_transposed_convolution(const Tensor& x, const Tensor& weights, const Tensor* bias,
                                    const Window& window, int64_t group, int threads) {
  const int64_t channels = x.shape()[1], group_channels = channels / group;
  const int64_t group_outputs = weights.shape()[1], outputs = group_outputs * group;
  const Planes planes(window);
  return plane_by_plane(x, outputs, window, planes, threads, [&](auto tag, int64_t n, int64_t o, auto* out) {
    using T = decltype(tag);
    const int64_t first = o / group_outputs * group_channels;
    std::vector<double> sums(size_t(planes.output_size),
                             bias == nullptr ? 0.0 : double(storage<T>(*bias)[o]));
    for_each_position(planes.input, [&](int64_t flat, const std::vector<int64_t>& position) {
      for_each_tap(window, position, planes.output, [&](int64_t index, int64_t tap) {
        for (int64_t c = first; c < first + group_channels; ++c) {
          const T value = storage<T>(x)[(n * channels + c) * planes.input_size + flat];
          const T w = storage<T>(weights)[(c * group_outputs + o % group_outputs) * planes.taps + tap];
          sums[size_t(index)] += double(value) * double(w);
        }
      });
    });
    for (int64_t i = 0; i < planes.output_size; ++i) out[i] = T(sums[size_t(i)]);
  });
}

}  // namespace tilewright
