// GridSample, RoiAlign and Det. Formulas: ONNX operator reference, opset 16; cubic weights: Keys 1981 with
// a = -0.75.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

// `x` mirrored at both ends of low..high until it lies within.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double away = std::abs(x - low);  // mirrored at low once
  const double turns = std::floor(away / range);
  const double rest = away - turns * range;
  return std::fmod(turns, 2) == 0 ? low + rest : high - rest;
}

// How one axis of `size` elements treats what lies beyond it.
struct SampledAxis {
  int64_t size = 1;
  bool aligned = false;
  enum { kZeros, kBorder, kReflection } padding = kZeros;

  double low() const { return aligned ? 0 : -0.5; }
  double high() const { return aligned ? double(size - 1) : double(size) - 0.5; }
  // In elements, of a coordinate in -1..1.
  double position(double x) const {
    return aligned ? (x + 1) / 2 * double(size - 1) : ((x + 1) * double(size) - 1) / 2;
  }
  double padded(double x) const {
    if (padding == kBorder) return std::clamp(x, 0.0, double(size - 1));
    return padding == kReflection ? reflected(x, low(), high()) : x;
  }
  // -1: counts as zero. Positions that no element has, NaN among them, too.
  int64_t index(double x) const {
    if (!(std::abs(x) < 0x1p52)) return padding == kZeros || std::isnan(x) ? -1 : x < 0 ? 0 : size - 1;
    const double inside = padded(x);
    const auto i = int64_t(std::nearbyint(inside));
    if (padding == kZeros) return i >= 0 && i < size ? i : -1;
    return std::clamp<int64_t>(i, 0, size - 1);
  }
};

struct SampledTaps {
  int count = 0;
  int64_t index[4] = {};
  double weight[4] = {};
};

SampledTaps taps_at(const SampledAxis& axis, double coordinate, const std::string& mode) {
  double x = axis.position(coordinate);
  if (mode == "bicubic") {
    const double base = std::floor(x), t = x - base;
    constexpr double a = -0.75;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    SampledTaps taps{4, {}, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
    for (int i = 0; i < 4; ++i) taps.index[i] = axis.index(base + i - 1);
    return taps;
  }
  x = axis.padded(x);
  if (mode == "nearest") return {1, {axis.index(std::nearbyint(x))}, {1}};
  const double base = std::floor(x);
  return {2, {axis.index(base), axis.index(base + 1)}, {1 - (x - base), x - base}};
}

std::vector<Tensor> grid_sample(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &x = required_input(inputs, 0), &grid = required_input(inputs, 1);
  const Shape &in = x.shape(), &places = grid.shape();
  const std::string mode = node.string_or("mode", "bilinear"),
                    padding = node.string_or("padding_mode", "zeros");
  SampledAxis rows, columns;
  rows.size = in[2];
  columns.size = in[3];
  rows.aligned = columns.aligned = node.int_or("align_corners", 0) != 0;
  rows.padding = columns.padding = padding == "border"       ? SampledAxis::kBorder
                                   : padding == "reflection" ? SampledAxis::kReflection
                                                             : SampledAxis::kZeros;
  Tensor result(x.type(), {in[0], in[1], places[1], places[2]});
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const std::span<const T> data = x.data<T>(), at = grid.data<T>();
    const std::span<T> out = result.mutable_data<T>();
    const int64_t count = places[1] * places[2], plane = in[2] * in[3];
    for (int64_t place = 0; place < in[0] * count; ++place) {
      const SampledTaps across = taps_at(columns, double(at[size_t(2 * place)]), mode);
      const SampledTaps down = taps_at(rows, double(at[size_t(2 * place + 1)]), mode);
      for (int64_t c = 0; c < in[1]; ++c) {
        const int64_t map = place / count * in[1] + c;
        double sum = 0;
        for (int i = 0; i < down.count; ++i) {
          for (int j = 0; j < across.count; ++j) {
            if (down.index[i] < 0 || across.index[j] < 0) continue;
            sum += down.weight[i] * across.weight[j] *
                   double(data[size_t(map * plane + down.index[i] * in[3] + across.index[j])]);
          }
        }
        out[size_t(map * count + place % count)] = T(sum);
      }
    }
  });
  return {result};
}

// Two neighbours along an axis, the second with weight `above`; weight 0 for both far outside.
struct RoiTap {
  int64_t first = 0, second = 0;
  double below = 0, above = 0;
};

RoiTap roi_tap(double x, int64_t size) {
  if (!(x >= -1 && x <= double(size))) return {};
  x = std::clamp(x, 0.0, double(size - 1));
  const auto first = int64_t(x);
  const double above = x - double(first);
  return {first, std::min(first + 1, size - 1), 1 - above, above};
}

// One axis of a region: `bins` of them, each sampled at `samples` places.
struct RoiAxis {
  double start = 0, bin = 0;
  int64_t samples = 1;
  double place(int64_t b, int64_t s) const {
    return start + double(b) * bin + (double(s) + 0.5) * bin / double(samples);
  }
};

RoiAxis roi_axis(const Node& node, double from, double to, int64_t bins) {
  const bool half_pixel = node.string_or("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const double scale = double(node.float_or("spatial_scale", 1.0f)), offset = half_pixel ? 0.5 : 0;
  RoiAxis axis;
  axis.start = from * scale - offset;
  double length = to * scale - offset - axis.start;
  if (!half_pixel) length = std::max(length, 1.0);
  axis.bin = length / double(bins);
  const int64_t ratio = node.int_or("sampling_ratio", 0);
  if (!(std::abs(axis.bin) < 4096))
    throw Error(ErrorKind::kInvalidInput, fmt::format("a region of {} elements", length));
  axis.samples = ratio > 0 ? ratio : std::max<int64_t>(1, int64_t(std::ceil(axis.bin)));
  return axis;
}

std::vector<Tensor> roi_align(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &x = required_input(inputs, 0), &rois = required_input(inputs, 1),
               &images = required_input(inputs, 2);
  const Shape& in = x.shape();
  const int64_t height = node.int_or("output_height", 1), width = node.int_or("output_width", 1);
  Tensor result = bounded_tensor(x.type(), {rois.shape()[0], in[1], height, width});
  for (int64_t r = 0; r < rois.shape()[0]; ++r) {
    const int64_t image = images.integer_at(r);
    if (image < 0 || image >= in[0])
      throw Error(ErrorKind::kInvalidInput, fmt::format("region {} lies in image {} of {}", r, image, in[0]));
    const auto corner = [&](int i) { return rois.number_at(r * 4 + i); };
    const RoiAxis across = roi_axis(node, corner(0), corner(2), width),
                  down = roi_axis(node, corner(1), corner(3), height);
    visit_float(x.type(), [&](auto tag) {
      using T = decltype(tag);
      const std::span<T> out = result.mutable_data<T>();
      for (int64_t c = 0; c < in[1]; ++c) {
        const T* map = x.data<T>().data() + (image * in[1] + c) * in[2] * in[3];
        for (int64_t bin = 0; bin < height * width; ++bin) {
          double sum = 0;
          for (int64_t sample = 0; sample < down.samples * across.samples; ++sample) {
            const RoiTap v = roi_tap(down.place(bin / width, sample / across.samples), in[2]);
            const RoiTap h = roi_tap(across.place(bin % width, sample % across.samples), in[3]);
            const auto row = [&](int64_t i) {
              return h.below * double(map[i * in[3] + h.first]) + h.above * double(map[i * in[3] + h.second]);
            };
            sum += v.below * row(v.first) + v.above * row(v.second);
          }
          out[size_t(((r * in[1] + c) * height * width) + bin)] =
              T(sum / double(down.samples * across.samples));
        }
      }
    });
  }
  return {result};
}

// By elimination with the largest pivot of each column.
double determinant(std::vector<double> m, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(m[size_t(i * n + k)]) > std::abs(m[size_t(pivot * n + k)])) pivot = i;
    }
    if (m[size_t(pivot * n + k)] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(m.begin() + k * n, m.begin() + (k + 1) * n, m.begin() + pivot * n);
      product = -product;
    }
    product *= m[size_t(k * n + k)];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = m[size_t(i * n + k)] / m[size_t(k * n + k)];
      for (int64_t j = k; j < n; ++j) m[size_t(i * n + j)] -= factor * m[size_t(k * n + j)];
    }
  }
  return product;
}

std::vector<Tensor> det(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  const int rank = x.shape().rank();
  const int64_t n = x.shape()[rank - 1];
  Tensor result(x.type(), Shape({x.shape().begin(), x.shape().end() - 2}));
  for (int64_t i = 0; i < result.size(); ++i) {
    std::vector<double> matrix(static_cast<size_t>(n * n));
    for (int64_t j = 0; j < n * n; ++j) matrix[size_t(j)] = x.number_at(i * n * n + j);
    result.set_number(i, determinant(std::move(matrix), n));
  }
  return {result};
}

constexpr KernelEntry kSamplingKernels[] = {
    {"", "Det", det},
    {"", "GridSample", grid_sample},
    {"", "RoiAlign", roi_align},
};

}  // namespace

std::span<const KernelEntry> sampling_kernels() { return kSamplingKernels; }

}  // namespace tilewright
