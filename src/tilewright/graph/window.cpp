// Explicit padding and output sizes, after the shape formulas of the ONNX operator reference (Conv, MaxPool,
// AveragePool, ConvTranspose; opset 17). Every quantity is kept below 2^30, so that no product overflows.
#include "tilewright/graph/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 30;

[[noreturn]] void fail(const Node& node, std::string message, std::string hint = {}) {
  throw Error({{ErrorKind::kInvalidInput, where(node), node.op, std::move(message), std::move(hint)}});
}

// Attribute `name`, one number per spatial axis (`per_axis` numbers: 2 for pads), each in [low, 2^30].
std::vector<int64_t> numbers(const Node& node, const char* name, int spatial, int per_axis, int64_t low) {
  const size_t count = size_t(spatial) * size_t(per_axis);
  const std::vector<int64_t> values = node.ints_or(name, std::vector<int64_t>(count, low));
  if (values.size() != count) {
    fail(node, fmt::format("attribute '{}' has {} numbers, {} spatial axes need {}", name, values.size(),
                           spatial, count));
  }
  for (int64_t value : values) {
    if (value < low || value > kMaxWindow) {
      fail(node,
           fmt::format("attribute '{}' holds {}, which is outside {}..{}", name, value, low, kMaxWindow));
    }
  }
  return values;
}

int spatial_axes(const Node& node, const Shape& x) {
  if (x.rank() < 3) {
    fail(node, fmt::format("input has shape {}, batch, channels and at least one spatial axis are needed",
                           to_string(x)));
  }
  for (int axis = 2; axis < x.rank(); ++axis) {
    if (x[axis] < 1 || x[axis] > kMaxWindow) {
      fail(node,
           fmt::format("axis {} of the input shape {} is outside 1..{}", axis, to_string(x), kMaxWindow));
    }
  }
  return x.rank() - 2;
}

// Kernel sizes, strides and dilations; the padding still to be found.
Window plain_window(const Node& node, const Shape& x, const Shape* weights) {
  const int spatial = spatial_axes(node, x);
  const std::vector<int64_t> strides = numbers(node, "strides", spatial, 1, 1);
  const std::vector<int64_t> dilations = numbers(node, "dilations", spatial, 1, 1);
  std::vector<int64_t> kernel;
  if (weights != nullptr) {
    if (weights->rank() != x.rank()) {
      fail(node,
           fmt::format("weights of shape {} do not fit an input of shape {}", to_string(*weights),
                       to_string(x)),
           "both need the same number of axes");
    }
    kernel.assign(weights->begin() + 2, weights->end());
    for (int64_t size : kernel) {
      if (size < 1 || size > kMaxWindow)
        fail(node, fmt::format("weights have shape {}", to_string(*weights)));
    }
    if (node.has("kernel_shape") && node.ints_or("kernel_shape", {}) != kernel) {
      fail(node, fmt::format("attribute 'kernel_shape' is {}, the weights have shape {}",
                             fmt::join(node.ints_or("kernel_shape", {}), "x"), to_string(*weights)));
    }
  } else {
    if (!node.has("kernel_shape")) fail(node, "attribute 'kernel_shape' is missing");
    kernel = numbers(node, "kernel_shape", spatial, 1, 1);
  }
  Window window;
  for (size_t i = 0; i < size_t(spatial); ++i) {
    window.axes.push_back({x[int(i) + 2], kernel[i], strides[i], dilations[i], 0, 0, 1});
  }
  return window;
}

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

AutoPad auto_pad(const Node& node) {
  const std::string text = node.string_or("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  fail(node, fmt::format("attribute 'auto_pad' is '{}'", text),
       "use NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

// SAME_UPPER puts the odd element at the end, SAME_LOWER at the beginning.
void split_padding(WindowAxis& axis, int64_t total, bool odd_at_end) {
  total = std::max<int64_t>(total, 0);
  axis.pad_begin = odd_at_end ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

void take_pads(const Node& node, Window& window) {
  const std::vector<int64_t> pads = numbers(node, "pads", window.rank(), 2, 0);
  for (size_t i = 0; i < window.axes.size(); ++i) {
    window.axes[i].pad_begin = pads[i];
    window.axes[i].pad_end = pads[i + window.axes.size()];
  }
}

void pad_forward(const Node& node, Window& window, bool round_up) {
  const AutoPad mode = auto_pad(node);
  if (mode == AutoPad::kNotSet) take_pads(node, window);
  for (size_t i = 0; i < window.axes.size(); ++i) {
    WindowAxis& axis = window.axes[i];
    if (mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
      axis.output = (axis.input - 1) / axis.stride + 1;
      split_padding(axis, (axis.output - 1) * axis.stride + axis.effective_kernel() - axis.input,
                    mode == AutoPad::kSameUpper);
      continue;
    }
    const int64_t slack = axis.input + axis.pad_begin + axis.pad_end - axis.effective_kernel();
    if (slack < 0) {
      fail(node,
           fmt::format("a kernel of {} with dilation {} does not fit axis {} of size {} with padding {} + {}",
                       axis.kernel, axis.dilation, i + 2, axis.input, axis.pad_begin, axis.pad_end));
    }
    axis.output = (round_up ? ceil_div(slack, axis.stride) : slack / axis.stride) + 1;
    if (round_up && (axis.output - 1) * axis.stride >= axis.input + axis.pad_begin) --axis.output;
  }
}

int64_t saturating_product(const std::vector<WindowAxis>& axes, int64_t WindowAxis::*member) {
  int64_t product = 1;
  for (const WindowAxis& axis : axes) {
    if (__builtin_mul_overflow(product, axis.*member, &product)) return INT64_MAX;
  }
  return product;
}

}  // namespace

int64_t Window::kernel_elements() const { return saturating_product(axes, &WindowAxis::kernel); }
int64_t Window::output_elements() const { return saturating_product(axes, &WindowAxis::output); }

bool Window::has_padding() const {
  return std::any_of(axes.begin(), axes.end(),
                     [](const WindowAxis& a) { return a.pad_begin != 0 || a.pad_end != 0; });
}

bool Window::has_dilation() const {
  return std::any_of(axes.begin(), axes.end(), [](const WindowAxis& a) { return a.dilation != 1; });
}

std::vector<int64_t> Window::pads() const {
  std::vector<int64_t> result;
  for (const WindowAxis& axis : axes) result.push_back(axis.pad_begin);
  for (const WindowAxis& axis : axes) result.push_back(axis.pad_end);
  return result;
}

Shape Window::output_shape(int64_t batch, int64_t channels) const {
  std::vector<int64_t> dims{batch, channels};
  for (const WindowAxis& axis : axes) dims.push_back(axis.output);
  return Shape(std::move(dims));
}

Window convolution_window(const Node& node, const Shape& x, const Shape& weights) {
  Window window = plain_window(node, x, &weights);
  pad_forward(node, window, false);
  return window;
}

Window pool_window(const Node& node, const Shape& x) {
  Window window = plain_window(node, x, nullptr);
  pad_forward(node, window, node.int_or("ceil_mode", 0) != 0);
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const WindowAxis& axis = window.axes[i];
    if (std::max(axis.pad_begin, axis.pad_end) >= axis.effective_kernel()) {
      fail(node,
           fmt::format("padding {} + {} on axis {} is not smaller than the kernel of {}", axis.pad_begin,
                       axis.pad_end, i + 2, axis.kernel),
           "a window would hold nothing but padding");
    }
  }
  return window;
}

Window transposed_window(const Node& node, const Shape& x, const Shape& weights) {
  Window window = plain_window(node, x, &weights);
  const AutoPad mode = auto_pad(node);
  const std::vector<int64_t> extra = numbers(node, "output_padding", window.rank(), 1, 0);
  std::vector<int64_t> wanted = node.ints_or("output_shape", {});
  // Some exporters list the batch and channel sizes too.
  if (wanted.size() == size_t(x.rank())) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != window.axes.size()) {
    fail(node, fmt::format("attribute 'output_shape' has {} numbers, {} spatial axes need {}", wanted.size(),
                           window.rank(), window.rank()));
  }
  if (mode == AutoPad::kNotSet && wanted.empty()) take_pads(node, window);
  for (size_t i = 0; i < window.axes.size(); ++i) {
    WindowAxis& axis = window.axes[i];
    const int64_t full = (axis.input - 1) * axis.stride + axis.effective_kernel() + extra[i];
    const bool same = mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower;
    if (!wanted.empty() || same) {
      axis.output = wanted.empty() ? axis.input * axis.stride : wanted[i];
      split_padding(axis, full - axis.output, mode == AutoPad::kSameUpper);
    } else {
      axis.output = full - axis.pad_begin - axis.pad_end;
    }
    if (axis.output < 1 || axis.output > kMaxWindow) {
      fail(node, fmt::format("the output would have size {} on axis {}", axis.output, i + 2),
           "check pads, output_padding and output_shape");
    }
  }
  return window;
}

Window global_window(const Node& node, const Shape& x) {
  Window window;
  spatial_axes(node, x);
  for (int axis = 2; axis < x.rank(); ++axis) window.axes.push_back({x[axis], x[axis], 1, 1, 0, 0, 1});
  return window;
}

}  // namespace tilewright
