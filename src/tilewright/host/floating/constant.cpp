// Operators that make tensors out of nothing: Constant, ConstantOfShape, Range.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"

namespace tilewright {
namespace {

std::vector<Tensor> constant(const Node& node, KernelInputs, const HostOptions&) {
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* tensor = std::get_if<Tensor>(&attribute)) return {*tensor};
    if (const auto* value = std::get_if<float>(&attribute)) return {Tensor::scalar(*value)};
    if (const auto* value = std::get_if<int64_t>(&attribute)) return {Tensor::scalar(*value)};
    if (const auto* list = std::get_if<std::vector<float>>(&attribute)) {
      return {Tensor(Shape{int64_t(list->size())}, std::span<const float>(*list))};
    }
    if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
      return {Tensor(Shape{int64_t(list->size())}, std::span<const int64_t>(*list))};
    }
  }
  throw Error(ErrorKind::kUnsupported, "a Constant needs a tensor or a number as its value");
}

// Copies one element's bytes over the whole tensor; for types of 8 bits and more.
void fill(Tensor& tensor, const Tensor& element) {
  const std::span<const std::byte> source = element.bytes();
  const std::span<std::byte> target = tensor.mutable_bytes();
  for (size_t offset = 0; offset < target.size(); offset += source.size()) {
    std::memcpy(target.data() + offset, source.data(), source.size());
  }
}

std::vector<Tensor> constant_of_shape(const Node& node, KernelInputs inputs, const HostOptions&) {
  const Shape shape(integer_list(required_input(inputs, 0), "the shape"));
  const auto found = node.attributes.find("value");
  if (found == node.attributes.end()) return {bounded_tensor(ElementType::kF32, shape)};
  const Tensor* value = std::get_if<Tensor>(&found->second);
  if (value == nullptr || value->size() != 1) {
    throw Error(ErrorKind::kInvalidInput, "attribute 'value' is not a tensor of one element");
  }
  if (bit_width(value->type()) < 8) throw_unsupported_type(value->type());
  Tensor result = bounded_tensor(value->type(), shape);
  fill(result, *value);
  return {result};
}

template <typename T>
Tensor range_of(T start, T limit, T delta) {
  if (delta == T(0)) throw Error(ErrorKind::kInvalidInput, "the step of a Range is 0");
  const double steps = std::ceil((double(limit) - double(start)) / double(delta));
  if (!(steps < 0x1p40)) throw Error(ErrorKind::kInvalidInput, "a Range has too many or undefined elements");
  const int64_t count = std::max<int64_t>(int64_t(steps), 0);
  Tensor result = bounded_tensor(element_type_of<T>::value, Shape{count});
  const std::span<T> out = result.mutable_data<T>();
  for (int64_t i = 0; i < count; ++i) out[size_t(i)] = T(start + T(i) * delta);
  return result;
}

std::vector<Tensor> range(const Node&, KernelInputs inputs, const HostOptions&) {
  const Tensor &start = required_input(inputs, 0), &limit = required_input(inputs, 1),
               &delta = required_input(inputs, 2);
  for (const Tensor* tensor : {&start, &limit, &delta}) {
    if (tensor->size() != 1 || tensor->type() != start.type()) {
      throw Error(ErrorKind::kInvalidInput, "start, limit and delta of a Range must be scalars of one type");
    }
  }
  const auto make = [&](auto tag) {
    using T = decltype(tag);
    return std::vector<Tensor>{range_of(start.data<T>()[0], limit.data<T>()[0], delta.data<T>()[0])};
  };
  switch (start.type()) {
    case ElementType::kF32:
      return make(float{});
    case ElementType::kF64:
      return make(double{});
    case ElementType::kI64:
      return make(int64_t{});
    case ElementType::kI32:
      return make(int32_t{});
    case ElementType::kI16:
      return make(int16_t{});
    default:
      throw_unsupported_type(start.type());
  }
}

constexpr KernelEntry kConstantKernels[] = {
    {"", "Constant", constant, nullptr, HalfTypes::kNative},
    {"", "ConstantOfShape", constant_of_shape, nullptr, HalfTypes::kNative},
    {"", "Range", range},
};

}  // namespace

std::span<const KernelEntry> constant_kernels() { return kConstantKernels; }

}  // namespace tilewright
