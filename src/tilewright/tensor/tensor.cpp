// Types of 8 bits and more are read and written as their storage type, packed ones by shift and mask; a lane
// never crosses a byte. Floats that become integers saturate, and NaN becomes 0.
#include "tilewright/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tilewright/tensor/tensor_memory.h"

namespace tilewright {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 40;

int64_t saturate(double value, ElementType type) {
  if (std::isnan(value)) return 0;
  const double low = double(lowest(type)), high = double(highest(type));
  if (value <= low) return lowest(type);
  if (value >= high) return highest(type);
  return int64_t(std::nearbyint(value));
}

// Lane `index` of packed `bits`-wide lanes.
uint32_t packed_at(const std::byte* bytes, int64_t index, int bits) {
  const int64_t bit = index * bits;
  return (uint32_t(bytes[bit / 8]) >> (bit % 8)) & ((1u << bits) - 1);
}

void set_packed(std::byte* bytes, int64_t index, int bits, uint32_t value) {
  const int64_t bit = index * bits;
  const uint32_t mask = ((1u << bits) - 1) << (bit % 8);
  bytes[bit / 8] = std::byte((uint32_t(bytes[bit / 8]) & ~mask) | ((value << (bit % 8)) & mask));
}

// Calls f with a null pointer of the storage type of a byte-sized-or-larger element type.
template <typename F>
auto visit_storage(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32:
      return f(static_cast<float*>(nullptr));
    case ElementType::kF64:
      return f(static_cast<double*>(nullptr));
    case ElementType::kF16:
      return f(static_cast<Half*>(nullptr));
    case ElementType::kBF16:
      return f(static_cast<BFloat16*>(nullptr));
    case ElementType::kI64:
      return f(static_cast<int64_t*>(nullptr));
    case ElementType::kI32:
      return f(static_cast<int32_t*>(nullptr));
    case ElementType::kI16:
      return f(static_cast<int16_t*>(nullptr));
    case ElementType::kI8:
      return f(static_cast<int8_t*>(nullptr));
    case ElementType::kU64:
      return f(static_cast<uint64_t*>(nullptr));
    case ElementType::kU32:
      return f(static_cast<uint32_t*>(nullptr));
    case ElementType::kU16:
      return f(static_cast<uint16_t*>(nullptr));
    case ElementType::kBool:
    case ElementType::kU8:
      return f(static_cast<uint8_t*>(nullptr));
    default:
      break;
  }
  check_failed("storage type", __FILE__, __LINE__, "packed element type has no storage type");
}

template <typename T>
double widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return double(to_float(value));
  } else {
    return double(value);
  }
}

}  // namespace

void Tensor::set_type(ElementType type, Shape shape) {
  type_ = type;
  shape_ = std::move(shape);
  count_ = shape_.element_count();
  size_bytes_ = (size_t(count_) * size_t(bit_width(type)) + 7) / 8;
  if (size_bytes_ > kMaxBytes) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("a tensor {} does not fit", to_string(type, shape_)));
  }
}

void Tensor::allocate(bool zero_filled) {
  buffer_ = tensor_memory(size_bytes_, zero_filled);
  if (buffer_ == nullptr) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("no memory for a tensor {}", to_string(type_, shape_)));
  }
}

Tensor::Tensor(ElementType type, Shape shape) {
  set_type(type, std::move(shape));
  allocate(true);
}

Tensor Tensor::uninitialized(ElementType type, Shape shape) {
  Tensor tensor;
  tensor.set_type(type, std::move(shape));
  tensor.allocate(false);
  return tensor;
}

Tensor Tensor::over(ElementType type, Shape shape, std::shared_ptr<const std::byte[]> buffer) {
  Tensor tensor;
  tensor.set_type(type, std::move(shape));
  tensor.buffer_ = std::const_pointer_cast<std::byte[]>(std::move(buffer));
  tensor.foreign_ = true;
  return tensor;
}

std::span<std::byte> Tensor::mutable_bytes() {
  if (foreign_ || buffer_.use_count() > 1) {
    Tensor copy = uninitialized(type_, shape_);
    std::memcpy(copy.buffer_.get(), buffer_.get(), size_bytes_);
    buffer_ = std::move(copy.buffer_);
    foreign_ = false;
  }
  return {buffer_.get(), size_bytes_};
}

double Tensor::number_at(int64_t index) const {
  if (bit_width(type_) < 8) return double(integer_at(index));
  return visit_storage(
      type_, [&](auto* tag) { return widen(reinterpret_cast<decltype(tag)>(buffer_.get())[index]); });
}

int64_t Tensor::integer_at(int64_t index) const {
  const int bits = bit_width(type_);
  if (bits < 8) {
    const uint32_t raw = packed_at(buffer_.get(), index, bits);
    if (type_ == ElementType::kBipolar) return raw ? 1 : -1;
    return is_signed(type_) ? int64_t(int32_t(raw << (32 - bits)) >> (32 - bits)) : int64_t(raw);
  }
  return visit_storage(type_, [&](auto* tag) -> int64_t {
    const auto value = reinterpret_cast<decltype(tag)>(buffer_.get())[index];
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      return int64_t(value);
    } else {
      const double number = widen(value);
      if (std::isnan(number)) return 0;
      return number <= -0x1p63 ? INT64_MIN : number >= 0x1p63 ? INT64_MAX : int64_t(number);
    }
  });
}

void Tensor::set_number(int64_t index, double value) {
  if (!is_float(type_)) return set_integer(index, saturate(value, type_));
  visit_storage(type_, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    auto* data = reinterpret_cast<T*>(mutable_bytes().data());
    if constexpr (std::is_same_v<T, Half>) {
      data[index] = to_half(float(value));
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      data[index] = to_bfloat16(float(value));
    } else {
      data[index] = T(value);
    }
  });
}

void Tensor::set_integer(int64_t index, int64_t value) {
  if (is_float(type_)) return set_number(index, double(value));
  value = std::clamp(value, lowest(type_), highest(type_));
  const int bits = bit_width(type_);
  if (bits < 8) {
    const uint32_t raw = type_ == ElementType::kBipolar ? (value > 0 ? 1u : 0u) : uint32_t(value);
    set_packed(mutable_bytes().data(), index, bits, raw);
    return;
  }
  visit_storage(type_, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    if constexpr (std::is_integral_v<T>) reinterpret_cast<T*>(mutable_bytes().data())[index] = T(value);
  });
}

std::vector<int64_t> Tensor::to_integers() const {
  std::vector<int64_t> values(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) values[size_t(i)] = integer_at(i);
  return values;
}

std::vector<float> Tensor::to_floats() const {
  if (type_ == ElementType::kF32) return {data<float>().begin(), data<float>().end()};
  std::vector<float> values(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) values[size_t(i)] = float(number_at(i));
  return values;
}

Tensor Tensor::cast(ElementType type) const {
  if (type == type_) return *this;
  Tensor result(type, shape_);
  const bool through_integers = !is_float(type) && !is_float(type_);
  for (int64_t i = 0; i < count_; ++i) {
    if (through_integers) {
      result.set_integer(i, integer_at(i));
    } else {
      result.set_number(i, number_at(i));
    }
  }
  return result;
}

Tensor Tensor::reshaped(Shape shape) const {
  TILEWRIGHT_CHECK(shape.element_count() == count_, "reshape changes the number of elements");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool Tensor::identical(const Tensor& other) const {
  return type_ == other.type_ && shape_ == other.shape_ &&
         std::memcmp(buffer_.get(), other.buffer_.get(), size_bytes_) == 0;
}

std::string to_string(ElementType type, const Shape& shape) {
  return fmt::format("{}[{}]", name(type), to_string(shape));
}

}  // namespace tilewright
