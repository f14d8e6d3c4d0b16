// Element-wise operators of several inputs that broadcast: arithmetic, comparisons, logic, Where.
// Integers wrap modulo 2^width, as numpy and ONNX Runtime do.
#include <cmath>

#include "tilewright/host/broadcast_loop.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

void require_same_type(const Tensor& a, const Tensor& b) {
  if (a.type() == b.type()) return;
  throw Error(ErrorKind::kInvalidInput, std::string("inputs have different element types, ") +
                                            name(a.type()) + " and " + name(b.type()));
}

// out[i] = f(a[i], b[i]) over the broadcast shape; the loops without a stride are the ones that vectorise.
template <typename In, typename Out, typename F>
Tensor combine(const Tensor& a, const Tensor& b, ElementType type, F f) {
  const Shape shapes[] = {a.shape(), b.shape()};
  Tensor y(type, broadcast(a.shape(), b.shape()));
  const BroadcastLoop loop(y.shape(), shapes);
  const In *in_a = storage<In>(a), *in_b = storage<In>(b);
  Out* out = mutable_storage<Out>(y);
  const int64_t length = loop.row_length();
  loop.for_each_row([&](int64_t offset, const auto& offsets) {
    const In *pa = in_a + offsets[0], *pb = in_b + offsets[1];
    Out* po = out + offset;
    if (loop.step(0) == 1 && loop.step(1) == 1) {
      for (int64_t i = 0; i < length; ++i) po[i] = f(pa[i], pb[i]);
    } else if (loop.step(0) == 1) {
      const In vb = *pb;
      for (int64_t i = 0; i < length; ++i) po[i] = f(pa[i], vb);
    } else {
      const In va = *pa;
      for (int64_t i = 0; i < length; ++i) po[i] = f(va, pb[i * loop.step(1)]);
    }
  });
  return y;
}

// The unsigned type in which T's arithmetic wraps without promotion to int.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return T(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) throw Error(ErrorKind::kInvalidInput, "integer division by zero");
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T(0 - Wrapping<T>(a));
      }
      return T(a / b);
    }
  }
};
// NaN in either operand gives NaN.
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};
struct PRelu {
  template <typename T>
  T operator()(T x, T slope) const {
    return x < T(0) ? Mul()(x, slope) : x;
  }
};

template <typename Op>
Tensor arithmetic_of(const Tensor& a, const Tensor& b) {
  require_same_type(a, b);
  return visit_number(a.type(), [&](auto tag) {
    using T = decltype(tag);
    return combine<T, T>(a, b, a.type(), Op());
  });
}

template <typename Op>
std::vector<Tensor> arithmetic(const Node&, KernelInputs inputs, const HostOptions&) {
  return {arithmetic_of<Op>(required_input(inputs, 0), required_input(inputs, 1))};
}

// Max, Min, Sum of any number of inputs, from the left.
template <typename Op>
std::vector<Tensor> variadic(const Node&, KernelInputs inputs, const HostOptions&) {
  Tensor result = required_input(inputs, 0);
  for (size_t i = 1; i < inputs.size(); ++i) result = arithmetic_of<Op>(result, required_input(inputs, i));
  return {result};
}

std::vector<Tensor> mean(const Node& node, KernelInputs inputs, const HostOptions& options) {
  Tensor sum = variadic<Add>(node, inputs, options)[0];
  visit_float(sum.type(), [&](auto tag) {
    using T = decltype(tag);
    for (T& value : sum.mutable_data<T>()) value /= T(inputs.size());
  });
  return {sum};
}

// The remainder has the sign of the divisor; with fmod=1, that of the dividend.
template <typename T>
T modulo(T a, T b, bool c_remainder) {
  if constexpr (std::is_floating_point_v<T>) {
    const T remainder = std::fmod(a, b);
    return c_remainder || remainder == 0 || (remainder < 0) == (b < 0) ? remainder : remainder + b;
  } else {
    if (b == 0) throw Error(ErrorKind::kInvalidInput, "integer modulo by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
    }
    const T remainder = T(a % b);
    return c_remainder || remainder == 0 || (remainder < 0) == (b < 0) ? remainder : T(remainder + b);
  }
}

std::vector<Tensor> mod(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_same_type(a, b);
  const bool c_remainder = node.int_or("fmod", 0) != 0;
  return {visit_number(a.type(), [&](auto tag) {
    using T = decltype(tag);
    return combine<T, T>(a, b, a.type(), [=](T x, T y) { return modulo(x, y, c_remainder); });
  })};
}

// Bits shifted beyond the end are lost, all of them by the width of the type or more.
std::vector<Tensor> bit_shift(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_same_type(a, b);
  const bool left = node.string_or("direction", "") == "LEFT";
  return {visit_number(a.type(), [&](auto tag) -> Tensor {
    using T = decltype(tag);
    if constexpr (std::is_floating_point_v<T>) {
      throw_unsupported_type(a.type());
    } else {
      using U = std::make_unsigned_t<T>;
      return combine<T, T>(a, b, a.type(), [=](T x, T y) {
        if (U(y) >= 8 * sizeof(T)) return T(0);
        return left ? T(Wrapping<T>(U(x)) << y) : T(U(x) >> y);
      });
    }
  })};
}

template <typename T>
T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    // Only 1 and -1 have integer reciprocals.
    if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent % 2 != 0 ? T(-1) : T(1)) : T(0);
  }
  T result = 1;
  for (auto bits = std::make_unsigned_t<T>(exponent); bits != 0; bits >>= 1) {
    if (bits & 1) result = Mul()(result, base);
    base = Mul()(base, base);
  }
  return result;
}

// The result has the type of the base; a mixed pair is computed in f64.
std::vector<Tensor> pow(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &base = required_input(inputs, 0), &exponent = required_input(inputs, 1);
  if (base.type() != exponent.type()) {
    const Tensor wide =
        combine<double, double>(base.cast(ElementType::kF64), exponent.cast(ElementType::kF64),
                                ElementType::kF64, [](double a, double b) { return std::pow(a, b); });
    if (is_float(base.type())) return {wide.cast(base.type())};
    Tensor whole = wide;
    for (double& value : whole.mutable_data<double>()) value = std::trunc(value);
    return {whole.cast(base.type())};
  }
  return {visit_number(base.type(), [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_floating_point_v<T>) {
      if (exponent.size() == 1 && exponent.data<T>()[0] == T(2)) {
        return combine<T, T>(base, exponent, base.type(), [](T a, T) { return a * a; });
      }
      return combine<T, T>(base, exponent, base.type(), [](T a, T b) { return std::pow(a, b); });
    } else {
      return combine<T, T>(base, exponent, base.type(), [](T a, T b) { return integer_power(a, b); });
    }
  })};
}

std::vector<Tensor> prelu(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &x = required_input(inputs, 0), &slope = required_input(inputs, 1);
  if (!broadcasts_to(slope.shape(), x.shape())) {
    throw Error(ErrorKind::kInvalidInput,
                "the slope " + to_string(slope.shape()) + " does not broadcast to " + to_string(x.shape()));
  }
  return {arithmetic_of<PRelu>(x, slope)};
}

struct Equal {
  uint8_t operator()(auto a, auto b) const { return uint8_t(a == b); }
};
struct Less {
  uint8_t operator()(auto a, auto b) const { return uint8_t(a < b); }
};
struct LessOrEqual {
  uint8_t operator()(auto a, auto b) const { return uint8_t(a <= b); }
};
struct Greater {
  uint8_t operator()(auto a, auto b) const { return uint8_t(a > b); }
};
struct GreaterOrEqual {
  uint8_t operator()(auto a, auto b) const { return uint8_t(a >= b); }
};

template <typename Op>
std::vector<Tensor> comparison(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  require_same_type(a, b);
  const ElementType type = a.type() == ElementType::kBool ? ElementType::kU8 : a.type();
  return {visit_number(type, [&](auto tag) {
    using T = decltype(tag);
    return combine<T, uint8_t>(a, b, ElementType::kBool, Op());
  })};
}

struct And {
  uint8_t operator()(uint8_t a, uint8_t b) const { return uint8_t(a != 0 && b != 0); }
};
struct Or {
  uint8_t operator()(uint8_t a, uint8_t b) const { return uint8_t(a != 0 || b != 0); }
};
struct Xor {
  uint8_t operator()(uint8_t a, uint8_t b) const { return uint8_t((a != 0) != (b != 0)); }
};

template <typename Op>
std::vector<Tensor> logic(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  for (const Tensor* tensor : {&a, &b}) {
    if (tensor->type() != ElementType::kBool) throw_unsupported_type(tensor->type());
  }
  return {combine<uint8_t, uint8_t>(a, b, ElementType::kBool, Op())};
}

std::vector<Tensor> where_elements(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &condition = required_input(inputs, 0), &x = required_input(inputs, 1),
               &y = required_input(inputs, 2);
  if (condition.type() != ElementType::kBool) throw_unsupported_type(condition.type());
  require_same_type(x, y);
  const Shape shapes[] = {condition.shape(), x.shape(), y.shape()};
  Tensor result(x.type(), broadcast(condition.shape(), broadcast(x.shape(), y.shape())));
  const BroadcastLoop loop(result.shape(), shapes);
  visit_width(x.type(), [&](auto tag) {
    using U = decltype(tag);
    const uint8_t* choose = storage<uint8_t>(condition);
    const U *in_x = storage<U>(x), *in_y = storage<U>(y);
    U* out = mutable_storage<U>(result);
    loop.for_each_row([&](int64_t offset, const auto& offsets) {
      for (int64_t i = 0; i < loop.row_length(); ++i) {
        out[offset + i] = choose[offsets[0] + i * loop.step(0)] != 0 ? in_x[offsets[1] + i * loop.step(1)]
                                                                     : in_y[offsets[2] + i * loop.step(2)];
      }
    });
  });
  return {result};
}

constexpr KernelEntry kBinaryKernels[] = {
    {"", "Add", arithmetic<Add>},
    {"", "And", logic<And>},
    {"", "BitShift", bit_shift},
    {"", "Div", arithmetic<Div>},
    {"", "Equal", comparison<Equal>},
    {"", "Greater", comparison<Greater>},
    {"", "GreaterOrEqual", comparison<GreaterOrEqual>},
    {"", "Less", comparison<Less>},
    {"", "LessOrEqual", comparison<LessOrEqual>},
    {"", "Max", variadic<Max>},
    {"", "Mean", mean},
    {"", "Min", variadic<Min>},
    {"", "Mod", mod},
    {"", "Mul", arithmetic<Mul>},
    {"", "Or", logic<Or>},
    {"", "Pow", pow},
    {"", "PRelu", prelu},
    {"", "Sub", arithmetic<Sub>},
    {"", "Sum", variadic<Add>},
    {"", "Where", where_elements, nullptr, HalfTypes::kNative},
    {"", "Xor", logic<Xor>},
};

}  // namespace

std::span<const KernelEntry> binary_kernels() { return kBinaryKernels; }

}  // namespace tilewright
