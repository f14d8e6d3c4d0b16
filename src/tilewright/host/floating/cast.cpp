// Cast: between all element types. Floats become integers by truncation (saturating, where ONNX leaves the
// result open), integers wrap, anything but zero is true.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/graph/operators/operators.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

// As visit_number, and f16, bf16 and bool (as bytes) too.
template <typename F>
void visit_stored(ElementType type, F&& f) {
  if (type == ElementType::kF16) return f(Half{});
  if (type == ElementType::kBF16) return f(BFloat16{});
  visit_number(type == ElementType::kBool ? ElementType::kU8 : type, f);
}

template <typename Wide, typename T>
Wide load(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return Wide(to_float(value));
  } else {
    return Wide(value);
  }
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(float(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(float(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(value);
  } else {
    if (std::isnan(value)) return T(0);
    // Every integer limit plus one is a power of two, exact in f64.
    constexpr double kEnd =
        2.0 * double(std::make_unsigned_t<T>(1) << (sizeof(T) * 8 - (std::is_signed_v<T> ? 2 : 1)));
    constexpr double kLow = std::is_signed_v<T> ? -kEnd : 0.0;
    const double whole = std::trunc(value);
    return whole >= kEnd  ? std::numeric_limits<T>::max()
           : whole < kLow ? std::numeric_limits<T>::lowest()
                          : T(whole);
  }
}

template <typename T>
T from_integer(int64_t value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> || std::is_floating_point_v<T>) {
    return from_double<T>(double(value));
  } else {
    return T(value);
  }
}

// In blocks through one wide type, so that there are as many loops as types and not as pairs of types.
template <typename Wide>
void convert(const Tensor& in, Tensor& out) {
  constexpr int64_t kBlock = 512;
  std::array<Wide, kBlock> block;
  for (int64_t begin = 0; begin < in.size(); begin += kBlock) {
    const int64_t count = std::min(kBlock, in.size() - begin);
    visit_stored(in.type(), [&](auto tag) {
      using T = decltype(tag);
      const T* source = storage<T>(in) + begin;
      for (int64_t i = 0; i < count; ++i) block[size_t(i)] = load<Wide>(source[i]);
    });
    if (out.type() == ElementType::kBool) {
      uint8_t* target = mutable_storage<uint8_t>(out) + begin;
      for (int64_t i = 0; i < count; ++i) target[i] = uint8_t(block[size_t(i)] != Wide(0));
      continue;
    }
    visit_stored(out.type(), [&](auto tag) {
      using T = decltype(tag);
      T* target = mutable_storage<T>(out) + begin;
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Wide, double>) {
          target[i] = from_double<T>(block[size_t(i)]);
        } else {
          target[i] = from_integer<T>(block[size_t(i)]);
        }
      }
    });
  }
}

std::vector<Tensor> cast(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Tensor& data = required_input(inputs, 0);
  const int64_t code = node.int_or("to", 0);
  const std::optional<ElementType> to = element_type_of_onnx(code);
  if (!to)
    throw Error(ErrorKind::kUnsupported, fmt::format("cast to ONNX data type {} is not supported", code));
  if (*to == data.type()) return {data};
  if (bit_width(*to) < 8 || bit_width(data.type()) < 8) return {data.cast(*to)};
  Tensor result(*to, data.shape());
  // u64 to f64 loses what to f32 it would lose anyway; between integers nothing may be lost.
  const bool integers = !is_float(data.type()) && !(data.type() == ElementType::kU64 && is_float(*to));
  integers ? convert<int64_t>(data, result) : convert<double>(data, result);
  return {result};
}

constexpr KernelEntry kCastKernels[] = {{"", "Cast", cast, nullptr, HalfTypes::kNative}};

}  // namespace

std::span<const KernelEntry> cast_kernels() { return kCastKernels; }

}  // namespace tilewright
