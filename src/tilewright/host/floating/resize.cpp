// Resize: nearest, linear and cubic. Every mode is separable, so each axis is one list of taps (source index
// and weight) per output position, applied axis by axis. Formulas: ONNX operator reference, Resize-13; cubic
// weights: Keys 1981.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/graph/resized_size.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

struct AxisPlan {
  int64_t input = 1, output = 1;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
};

struct Tap {
  int64_t index;
  double weight;
};

class Coordinates {
 public:
  explicit Coordinates(const Node& node)
      : mode_(node.string_or("coordinate_transformation_mode", "half_pixel")) {
    static constexpr const char* kModes[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                             "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
    if (std::ranges::find(kModes, mode_) == std::end(kModes)) {
      throw Error(ErrorKind::kUnsupported, "coordinate_transformation_mode '" + mode_ + "' is not supported");
    }
  }
  bool crops() const { return mode_ == "tf_crop_and_resize"; }

  // Where in the input, in elements, output position `x` looks.
  double source(const AxisPlan& axis, int64_t x) const {
    const double at = double(x), last = double(axis.input - 1);
    if (mode_ == "half_pixel") return (at + 0.5) / axis.scale - 0.5;
    if (mode_ == "pytorch_half_pixel") return axis.output > 1 ? (at + 0.5) / axis.scale - 0.5 : 0;
    if (mode_ == "asymmetric") return at / axis.scale;
    if (mode_ == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
    if (mode_ == "align_corners") {
      // The unrounded output size, as in the operator's reference implementation.
      const double size = axis.scale * double(axis.input);
      return axis.output == 1 || size == 1 ? 0 : at * last / (size - 1);
    }
    const double span = axis.roi_end - axis.roi_begin;
    return axis.output > 1 ? axis.roi_begin * last + at * span * last / double(axis.output - 1)
                           : 0.5 * (axis.roi_begin + axis.roi_end) * last;
  }

 private:
  std::string mode_;
};

int64_t nearest_index(const std::string& rounding, double x) {
  if (rounding == "round_prefer_floor") return int64_t(std::ceil(x - 0.5));
  if (rounding == "round_prefer_ceil") return int64_t(std::floor(x + 0.5));
  if (rounding == "floor") return int64_t(std::floor(x));
  if (rounding == "ceil") return int64_t(std::ceil(x));
  throw Error(ErrorKind::kUnsupported, "nearest_mode '" + rounding + "' is not supported");
}

std::vector<Tap> linear_taps(double x) {
  const double base = std::floor(x);
  return {{int64_t(base), 1 - (x - base)}, {int64_t(base) + 1, x - base}};
}

std::vector<Tap> cubic_taps(double x, double a) {
  const double base = std::floor(x), t = x - base;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };       // 0 <= d <= 1
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };  // 1 <= d <= 2
  const int64_t i = int64_t(base);
  return {{i - 1, far(t + 1)}, {i, near(t)}, {i + 1, near(1 - t)}, {i + 2, far(2 - t)}};
}

// Positions outside repeat the edge; with `exclude` they get no weight and the rest is scaled up to 1.
std::vector<Tap> inside(std::vector<Tap> taps, int64_t size, bool exclude) {
  double sum = 0;
  for (Tap& tap : taps) {
    if (exclude && (tap.index < 0 || tap.index >= size)) tap.weight = 0;
    tap.index = std::clamp<int64_t>(tap.index, 0, size - 1);
    sum += tap.weight;
  }
  if (exclude && sum != 0) {
    for (Tap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

// Resamples one axis; an empty tap list means `outside`.
template <typename T>
Tensor resample(const Tensor& in, int axis, const std::vector<std::vector<Tap>>& taps, T outside) {
  Shape shape = in.shape();
  const int64_t size = shape[axis], count = int64_t(taps.size());
  shape[axis] = count;
  Tensor result = bounded_tensor(in.type(), shape);
  const int64_t inner = shape.count(axis + 1, shape.rank());
  T* out = mutable_storage<T>(result);
  for (int64_t outer = 0; outer < shape.count(0, axis); ++outer) {
    const T* plane = storage<T>(in) + outer * size * inner;
    for (int64_t o = 0; o < count; ++o, out += inner) {
      if (taps[size_t(o)].empty()) {
        std::fill_n(out, inner, outside);
        continue;
      }
      for (int64_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (const Tap& tap : taps[size_t(o)]) sum += tap.weight * double(plane[tap.index * inner + i]);
        out[i] = T(sum);
      }
    }
  }
  return result;
}

std::vector<AxisPlan> plan_axes(KernelInputs inputs, bool crops) {
  const Tensor& x = required_input(inputs, 0);
  const size_t rank = size_t(x.shape().rank());
  const bool by_size = has_input(inputs, 3) && inputs[3]->size() > 0;
  if (!by_size && !has_input(inputs, 2)) {
    throw Error(ErrorKind::kInvalidInput, "neither scales nor sizes are given");
  }
  const Tensor& wanted = by_size ? *inputs[3] : *inputs[2];
  if (size_t(wanted.size()) != rank) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} {} for data of shape {}", wanted.size(),
                                                      by_size ? "sizes" : "scales", to_string(x.shape())));
  }
  if (crops && (!has_input(inputs, 1) || size_t(inputs[1]->size()) != 2 * rank)) {
    throw Error(ErrorKind::kInvalidInput, "tf_crop_and_resize needs a roi of two numbers per axis");
  }
  std::vector<AxisPlan> axes(rank);
  for (size_t i = 0; i < rank; ++i) {
    AxisPlan& axis = axes[i];
    axis.input = x.shape()[int(i)];
    if (crops) {
      axis.roi_begin = inputs[1]->number_at(int64_t(i));
      axis.roi_end = inputs[1]->number_at(int64_t(i + rank));
    }
    const double number = wanted.number_at(int64_t(i));
    const double size =
        by_size ? number
                : double(resized_size(axis.input, float(number), float(axis.roi_end - axis.roi_begin)));
    const bool possible = (by_size || number > 0) && size >= 0 && size <= 0x1p32;
    if (!possible || (axis.input == 0 && size > 0)) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("axis {} of size {} cannot get {} {}", i, axis.input,
                                                        by_size ? "size" : "scale", number));
    }
    axis.output = int64_t(size);
    axis.scale = by_size ? number / double(axis.input) : number;
  }
  return axes;
}

std::vector<Tensor> resize(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Coordinates coordinates(node);
  const std::string mode = node.string_or("mode", "nearest");
  const std::string rounding = node.string_or("nearest_mode", "round_prefer_floor");
  const double cubic_a = double(node.float_or("cubic_coeff_a", -0.75f));
  const bool exclude = node.int_or("exclude_outside", 0) != 0;
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    throw Error(ErrorKind::kUnsupported, "mode '" + mode + "' is not supported");
  }
  const std::vector<AxisPlan> axes = plan_axes(inputs, coordinates.crops());
  const auto is_outside = [&](const AxisPlan& axis, double x) {
    return coordinates.crops() && !(x >= 0 && x <= double(axis.input - 1));
  };
  std::vector<int64_t> out_dims;
  for (const AxisPlan& axis : axes) out_dims.push_back(axis.output);
  const Tensor& x = required_input(inputs, 0);
  bounded_tensor(x.type(), Shape(out_dims));
  const float extrapolation = node.float_or("extrapolation_value", 0.0f);
  if (mode == "nearest") {
    std::vector<std::vector<int64_t>> maps;
    for (const AxisPlan& axis : axes) {
      maps.emplace_back();
      for (int64_t o = 0; o < axis.output; ++o) {
        const double at = coordinates.source(axis, o);
        maps.back().push_back(
            is_outside(axis, at) ? -1 : std::clamp<int64_t>(nearest_index(rounding, at), 0, axis.input - 1));
      }
    }
    const Tensor fill = Tensor::scalar(extrapolation).cast(x.type());
    return {mapped_copy(x, maps, &fill)};
  }
  return {visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    Tensor result = x;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].output == axes[i].input && axes[i].scale == 1 && !coordinates.crops()) continue;
      std::vector<std::vector<Tap>> taps(size_t(axes[i].output));
      for (int64_t o = 0; o < axes[i].output; ++o) {
        const double at = coordinates.source(axes[i], o);
        if (is_outside(axes[i], at)) continue;
        taps[size_t(o)] =
            inside(mode == "linear" ? linear_taps(at) : cubic_taps(at, cubic_a), axes[i].input, exclude);
      }
      result = resample<T>(result, int(i), taps, T(extrapolation));
    }
    return result;
  })};
}

constexpr KernelEntry kResizeKernels[] = {{"", "Resize", resize}};

}  // namespace

std::span<const KernelEntry> resize_kernels() { return kResizeKernels; }

}  // namespace tilewright
