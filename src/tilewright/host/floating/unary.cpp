// Element-wise operators of one data input. Formulas: ONNX operator reference, opset 17.
#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

template <typename T, typename F>
Tensor map_elements(const Tensor& x, const HostOptions& options, F f) {
  Tensor y(x.type(), x.shape());
  const T* in = storage<T>(x);
  T* out = mutable_storage<T>(y);
  constexpr int64_t kElementsPerThread = 1 << 16;  // below, starting a thread costs more than it saves
  const int threads = int(std::clamp<int64_t>(x.size() / kElementsPerThread, 1, options.threads));
  parallel_for(threads, x.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = f(in[i]);
  });
  return y;
}

// Operators on real numbers. Op(node) reads the attributes; op(x) is applied to f32 or f64.
template <typename Op>
std::vector<Tensor> real_unary(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const Op op(node);
  return {visit_float(x.type(), [&](auto tag) {
    using T = decltype(tag);
    return map_elements<T>(x, options, [op](T v) { return T(op(v)); });
  })};
}

// Operators on any number.
template <typename Op>
std::vector<Tensor> number_unary(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const Op op(node);
  return {visit_number(x.type(), [&](auto tag) {
    using T = decltype(tag);
    return map_elements<T>(x, options, [op](T v) { return T(op(v)); });
  })};
}

struct NoAttributes {
  explicit NoAttributes(const Node&) {}
};

struct Ceil : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::ceil(x); }
};
struct Floor : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::floor(x); }
};
struct Round : NoAttributes {  // half to even
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::nearbyint(x); }
};
struct Cos : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::cos(x); }
};
struct Sin : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::sin(x); }
};
struct Tanh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::tanh(x); }
};
struct Acos : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::acos(x); }
};
struct Acosh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::acosh(x); }
};
struct Asin : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::asin(x); }
};
struct Asinh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::asinh(x); }
};
struct Atan : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::atan(x); }
};
struct Atanh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::atanh(x); }
};
struct Cosh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::cosh(x); }
};
struct Sinh : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::sinh(x); }
};
struct Tan : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::tan(x); }
};
struct Erf : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::erf(x); }
};
struct Exp : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::exp(x); }
};
struct Log : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::log(x); }
};
struct Sqrt : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return std::sqrt(x); }
};
struct Reciprocal : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return 1 / x; }
};
struct Sigmoid : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return 1 / (1 + std::exp(-x)); }
};
struct Softplus : NoAttributes {  // log(1 + exp(x)) without overflow
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }
};
struct Softsign : NoAttributes {
  using NoAttributes::NoAttributes;
  auto operator()(auto x) const { return x / (1 + std::abs(x)); }
};
struct HardSwish : NoAttributes {
  using NoAttributes::NoAttributes;
  template <typename T>
  T operator()(T x) const {
    return x * std::max(T(0), std::min(T(1), x / T(6) + T(0.5)));
  }
};
struct HardSigmoid {
  explicit HardSigmoid(const Node& node)
      : alpha(node.float_or("alpha", 0.2f)), beta(node.float_or("beta", 0.5f)) {}
  template <typename T>
  T operator()(T x) const {
    return std::max(T(0), std::min(T(1), T(alpha) * x + T(beta)));
  }
  float alpha, beta;
};
struct Elu {
  explicit Elu(const Node& node) : alpha(node.float_or("alpha", 1.0f)) {}
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? T(alpha) * std::expm1(x) : x;
  }
  float alpha;
};
struct Selu {
  explicit Selu(const Node& node)
      : alpha(node.float_or("alpha", 1.67326319217681884765625f)),
        gamma(node.float_or("gamma", 1.05070102214813232421875f)) {}
  template <typename T>
  T operator()(T x) const {
    return T(gamma) * (x > 0 ? x : T(alpha) * std::expm1(x));
  }
  float alpha, gamma;
};
struct LeakyRelu {
  explicit LeakyRelu(const Node& node) : alpha(node.float_or("alpha", 0.01f)) {}
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? T(alpha) * x : x;
  }
  float alpha;
};
struct ThresholdedRelu {
  explicit ThresholdedRelu(const Node& node) : alpha(node.float_or("alpha", 1.0f)) {}
  template <typename T>
  T operator()(T x) const {
    return x > T(alpha) ? x : T(0);
  }
  float alpha;
};

struct Relu : NoAttributes {  // written so that NaN stays NaN
  using NoAttributes::NoAttributes;
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
struct Abs : NoAttributes {
  using NoAttributes::NoAttributes;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    if constexpr (std::is_unsigned_v<T>) return x;
    return x < T(0) ? T(0 - uint64_t(x)) : x;
  }
};
struct Neg : NoAttributes {  // the smallest integer stays itself
  using NoAttributes::NoAttributes;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return -x;
    return T(0 - uint64_t(x));
  }
};
struct Sign : NoAttributes {
  using NoAttributes::NoAttributes;
  template <typename T>
  T operator()(T x) const {
    return T(int(x > T(0)) - int(x < T(0)));
  }
};

// A bound of Clip, given as an optional one-element input.
template <typename T>
T bound(KernelInputs inputs, size_t index, T fallback) {
  if (!has_input(inputs, index)) return fallback;
  const Tensor& tensor = *inputs[index];
  if (tensor.size() != 1 || tensor.type() != element_type_of<T>::value) {
    throw Error(ErrorKind::kInvalidInput, "the bounds of a Clip must be scalars of the type of its data");
  }
  return tensor.data<T>()[0];
}

std::vector<Tensor> clip_elements(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  return {visit_number(x.type(), [&](auto tag) {
    using T = decltype(tag);
    const T low = bound<T>(inputs, 1, std::numeric_limits<T>::lowest());
    const T high = bound<T>(inputs, 2, std::numeric_limits<T>::max());
    // As in numpy, the upper bound wins when the two cross.
    return map_elements<T>(x, options, [=](T v) {
      const T raised = v < low ? low : v;
      return raised > high ? high : raised;
    });
  })};
}

std::vector<Tensor> logical_not(const Node&, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  if (x.type() != ElementType::kBool) throw_unsupported_type(x.type());
  return {map_elements<uint8_t>(x, options, [](uint8_t v) { return uint8_t(v == 0); })};
}

constexpr KernelEntry kUnaryKernels[] = {
    {"", "Abs", number_unary<Abs>},
    {"", "Acos", real_unary<Acos>},
    {"", "Acosh", real_unary<Acosh>},
    {"", "Asin", real_unary<Asin>},
    {"", "Asinh", real_unary<Asinh>},
    {"", "Atan", real_unary<Atan>},
    {"", "Atanh", real_unary<Atanh>},
    {"", "Ceil", real_unary<Ceil>},
    {"", "Clip", clip_elements},
    {"", "Cos", real_unary<Cos>},
    {"", "Cosh", real_unary<Cosh>},
    {"", "Elu", real_unary<Elu>},
    {"", "Erf", real_unary<Erf>},
    {"", "Exp", real_unary<Exp>},
    {"", "Floor", real_unary<Floor>},
    {"", "HardSigmoid", real_unary<HardSigmoid>},
    {"", "HardSwish", real_unary<HardSwish>},
    {"", "LeakyRelu", real_unary<LeakyRelu>},
    {"", "Log", real_unary<Log>},
    {"", "Neg", number_unary<Neg>},
    {"", "Not", logical_not},
    {"", "Reciprocal", real_unary<Reciprocal>},
    {"", "Relu", number_unary<Relu>},
    {"", "Round", real_unary<Round>},
    {"", "Selu", real_unary<Selu>},
    {"", "Sigmoid", real_unary<Sigmoid>},
    {"", "Sign", number_unary<Sign>},
    {"", "Sin", real_unary<Sin>},
    {"", "Sinh", real_unary<Sinh>},
    {"", "Softplus", real_unary<Softplus>},
    {"", "Softsign", real_unary<Softsign>},
    {"", "Sqrt", real_unary<Sqrt>},
    {"", "Tan", real_unary<Tan>},
    {"", "Tanh", real_unary<Tanh>},
    {"", "ThresholdedRelu", real_unary<ThresholdedRelu>},
};

}  // namespace

std::span<const KernelEntry> unary_kernels() { return kUnaryKernels; }

}  // namespace tilewright
