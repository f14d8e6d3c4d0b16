// Softmax, LogSoftmax, BatchNormalization, InstanceNormalization, LayerNormalization, RMSNormalization and
// LRN. Statistics are accumulated in f64. Formulas: ONNX operator reference, opset 17; RMSNormalization:
// opset 23.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"
#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

template <bool kLogarithm>
std::vector<Tensor> softmax(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& x = required_input(inputs, 0);
  const int axis = normalize_axis(node.int_or("axis", -1), x.shape().rank());
  const int64_t size = x.shape()[axis], inner = x.shape().count(axis + 1, x.shape().rank());
  Tensor y(x.type(), x.shape());
  if (x.size() == 0) return {y};
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t line = 0; line < x.size() / size; ++line) {
      const int64_t start = line / inner * size * inner + line % inner;
      const T* in = storage<T>(x) + start;
      T* out = mutable_storage<T>(y) + start;
      T peak = in[0];
      for (int64_t i = 1; i < size; ++i) peak = std::max(peak, in[i * inner]);
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) {
        const T value = std::exp(in[i * inner] - peak);
        out[i * inner] = value;
        sum += double(value);
      }
      const T log_sum = T(std::log(sum));
      for (int64_t i = 0; i < size; ++i) {
        out[i * inner] = kLogarithm ? in[i * inner] - peak - log_sum : T(double(out[i * inner]) / sum);
      }
    }
  });
  return {y};
}

[[noreturn]] void reject_parameter(const Tensor& tensor, const Tensor& x, const char* what) {
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("{} is {}, which does not fit data {}", what,
                          to_string(tensor.type(), tensor.shape()), to_string(x.type(), x.shape())));
}

// A per-channel parameter of `channels` elements of the data's type.
template <typename T>
const T* parameter(KernelInputs inputs, size_t index, int64_t count, const Tensor& x, const char* what) {
  const Tensor& tensor = required_input(inputs, index);
  if (tensor.type() != x.type() || tensor.size() != count) reject_parameter(tensor, x, what);
  return storage<T>(tensor);
}

// A parameter of the data's type repeated to `shape`.
Tensor repeated(KernelInputs inputs, size_t index, const Shape& shape, const Tensor& x, const char* what) {
  const Tensor& tensor = required_input(inputs, index);
  if (tensor.type() != x.type() || !broadcasts_to(tensor.shape(), shape)) reject_parameter(tensor, x, what);
  if (tensor.shape() == shape) return tensor;
  return strided_copy(tensor, shape, broadcast_strides(shape, tensor.shape()));
}

// Rows of a tensor seen as batch x channel x rest.
struct Channels {
  explicit Channels(const Tensor& x) {
    if (x.shape().rank() < 2) {
      throw Error(ErrorKind::kInvalidInput, "data of shape " + to_string(x.shape()) + " has no channel axis");
    }
    channels = x.shape()[1];
    rows = x.shape()[0] * channels;
    size = x.shape().count(2, x.shape().rank());
  }
  int64_t channels, rows, size;
};

template <typename T>
void scale_row(const T* in, T* out, int64_t size, T factor, T offset) {
  for (int64_t i = 0; i < size; ++i) out[i] = in[i] * factor + offset;
}

// What a row is normalised with: factor * (x - mean) + bias.
struct RowScale {
  double factor = 0, mean = 0;
};

// Every row with the scale and bias of its channel. `prepare(tag, channels)` reads further parameters and
// gives a function of (row's data, channel, its scale) that returns a RowScale.
template <typename Prepare>
std::vector<Tensor> normalized_rows(KernelInputs inputs, const HostOptions& options, Prepare&& prepare) {
  const Tensor& x = required_input(inputs, 0);
  const Channels shape(x);
  Tensor y(x.type(), x.shape());
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* scale = parameter<T>(inputs, 1, shape.channels, x, "the scale");
    const T* bias = parameter<T>(inputs, 2, shape.channels, x, "the bias");
    const auto row_scale = prepare(tag, shape);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, shape.rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t c = row % shape.channels;
        const T* in = storage<T>(x) + row * shape.size;
        const RowScale s = row_scale(in, c, double(scale[c]));
        scale_row(in, out + row * shape.size, shape.size, T(s.factor),
                  T(double(bias[c]) - s.mean * s.factor));
      }
    });
  });
  return {y};
}

std::vector<Tensor> batch_normalization(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (node.int_or("training_mode", 0) != 0) {
    throw Error(ErrorKind::kUnsupported, "training mode is not supported", "export the model for inference");
  }
  const double epsilon = double(node.float_or("epsilon", 1e-5f));
  return normalized_rows(inputs, options, [&](auto tag, const Channels& shape) {
    using T = decltype(tag);
    const T* mean = parameter<T>(inputs, 3, shape.channels, x, "the mean");
    const T* variance = parameter<T>(inputs, 4, shape.channels, x, "the variance");
    return [=](const T*, int64_t c, double scale) {
      return RowScale{scale / std::sqrt(double(variance[c]) + epsilon), double(mean[c])};
    };
  });
}

struct Statistics {
  double mean = 0, inverse_deviation = 0;
};

// The sum of term(element) over a row, in several partial sums, which the processor adds side by side.
template <typename T, typename Term>
double row_sum(const T* row, int64_t size, const Term& term) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += term(double(row[i + k]));
  }
  double sum = 0;
  for (; i < size; ++i) sum += term(double(row[i]));
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <typename T>
Statistics row_statistics(const T* row, int64_t size, double epsilon) {
  const double mean = row_sum(row, size, [](double x) { return x; }) / double(size);
  const double squares = row_sum(row, size, [mean](double x) { return (x - mean) * (x - mean); });
  return {mean, 1 / std::sqrt(squares / double(size) + epsilon)};
}

std::vector<Tensor> instance_normalization(const Node& node, KernelInputs inputs,
                                           const HostOptions& options) {
  const double epsilon = double(node.float_or("epsilon", 1e-5f));
  return normalized_rows(inputs, options, [&](auto tag, const Channels& shape) {
    return [=](const decltype(tag)* row, int64_t, double scale) {
      const Statistics s = row_statistics(row, shape.size, epsilon);
      return RowScale{scale * s.inverse_deviation, s.mean};
    };
  });
}

// The axes from `axis` on, which are normalised together, as rows of `size` elements.
struct TailRows {
  TailRows(const Node& node, const Shape& shape)
      : axis(normalize_axis(node.int_or("axis", -1), shape.rank())),
        rows(shape.count(0, axis)),
        size(shape.count(axis, shape.rank())),
        normalized({shape.begin() + axis, shape.end()}),
        epsilon(double(node.float_or("epsilon", 1e-5f))) {}

  int axis;
  int64_t rows, size;
  Shape normalized;
  double epsilon;
};

// Outputs: normalised data, mean, inverse standard deviation; the last two f32, with the normalised axes of
// size 1.
std::vector<Tensor> layer_normalization(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const TailRows tail(node, x.shape());
  const int64_t size = tail.size;
  Shape reduced = x.shape();
  for (int i = tail.axis; i < reduced.rank(); ++i) reduced[i] = 1;
  Tensor y(x.type(), x.shape()), means(ElementType::kF32, reduced), deviations(ElementType::kF32, reduced);
  const std::span<float> mean_out = means.mutable_data<float>();
  const std::span<float> deviation_out = deviations.mutable_data<float>();
  const Tensor scales = repeated(inputs, 1, tail.normalized, x, "the scale");
  const bool has_bias = has_input(inputs, 2);
  const Tensor biases = has_bias ? repeated(inputs, 2, tail.normalized, x, "the bias") : Tensor();
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* scale = storage<T>(scales);
    const T* bias = has_bias ? storage<T>(biases) : nullptr;
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, tail.rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = storage<T>(x) + row * size;
        const Statistics s = row_statistics(in, size, tail.epsilon);
        T* target = out + row * size;
        if (bias == nullptr) {
          for (int64_t i = 0; i < size; ++i) {
            target[i] = T((double(in[i]) - s.mean) * s.inverse_deviation * double(scale[i]));
          }
        } else {
          for (int64_t i = 0; i < size; ++i) {
            target[i] =
                T((double(in[i]) - s.mean) * s.inverse_deviation * double(scale[i]) + double(bias[i]));
          }
        }
        mean_out[size_t(row)] = float(s.mean);
        deviation_out[size_t(row)] = float(s.inverse_deviation);
      }
    });
  });
  return {y, means, deviations};
}

// x / sqrt(mean(x^2) + epsilon) * scale, the mean over the axes from `axis` on.
std::vector<Tensor> rms_normalization(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const TailRows tail(node, x.shape());
  const int64_t size = tail.size;
  const Tensor scales = repeated(inputs, 1, tail.normalized, x, "the scale");
  Tensor y(x.type(), x.shape());
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T* scale = storage<T>(scales);
    T* result = mutable_storage<T>(y);
    parallel_for(options.threads, tail.rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = storage<T>(x) + row * size;
        T* out = result + row * size;
        const double squares = row_sum(in, size, [](double value) { return value * value; });
        const double inverse = 1 / std::sqrt(squares / double(size) + tail.epsilon);
        for (int64_t i = 0; i < size; ++i) out[i] = T(double(in[i]) * inverse * double(scale[i]));
      }
    });
  });
  return {y};
}

// y = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta. The sums of one pixel
// row are kept for all positions at once, so that memory is read in order.
std::vector<Tensor> lrn(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const Channels shape(x);
  const int64_t size = node.int_or("size", 0);
  if (size < 1) throw Error(ErrorKind::kInvalidInput, fmt::format("attribute 'size' is {}", size));
  const double alpha = double(node.float_or("alpha", 1e-4f)), beta = double(node.float_or("beta", 0.75f)),
               bias = double(node.float_or("bias", 1.0f));
  Tensor y(x.type(), x.shape());
  visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    T* out = mutable_storage<T>(y);
    parallel_for(options.threads, shape.rows, [&](int64_t begin, int64_t end) {
      std::vector<double> sums(static_cast<size_t>(shape.size));
      for (int64_t row = begin; row < end; ++row) {
        const int64_t c = row % shape.channels;
        const int64_t first = std::max<int64_t>(c - (size - 1) / 2, 0);
        const int64_t last = std::min(c + size / 2, shape.channels - 1);
        std::ranges::fill(sums, 0.0);
        for (int64_t other = first; other <= last; ++other) {
          const T* in = storage<T>(x) + (row - c + other) * shape.size;
          for (int64_t i = 0; i < shape.size; ++i) sums[size_t(i)] += double(in[i]) * double(in[i]);
        }
        const T* in = storage<T>(x) + row * shape.size;
        T* target = out + row * shape.size;
        for (int64_t i = 0; i < shape.size; ++i) {
          const double base = bias + alpha / double(size) * sums[size_t(i)];
          // The usual exponent, without a call to pow.
          const double divisor =
              beta == 0.75 ? std::sqrt(base) * std::sqrt(std::sqrt(base)) : std::pow(base, beta);
          target[i] = T(double(in[i]) / divisor);
        }
      }
    });
  });
  return {y};
}

constexpr KernelEntry kNormalizationKernels[] = {
    {"", "BatchNormalization", batch_normalization},
    {"", "InstanceNormalization", instance_normalization},
    {"", "LayerNormalization", layer_normalization},
    {"", "LogSoftmax", softmax<true>},
    {"", "LRN", lrn},
    {"", "RMSNormalization", rms_normalization},
    {"", "Softmax", softmax<false>},
};

}  // namespace

std::span<const KernelEntry> normalization_kernels() { return kNormalizationKernels; }

}  // namespace tilewright
