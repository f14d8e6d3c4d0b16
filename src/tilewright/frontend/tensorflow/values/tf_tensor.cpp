// Raw little-endian bytes are copied as they are. A list of values may be shorter than the tensor: its last
// value fills the rest, and an empty list means zeros.
#include "tilewright/frontend/tensorflow/values/tf_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

struct TypeEntry {
  int code;
  const char* name;
  std::optional<ElementType> type;
};

constexpr int kReferenceOffset = 100;
const TypeEntry kTypes[] = {{1, "DT_FLOAT", ElementType::kF32},   {2, "DT_DOUBLE", ElementType::kF64},
                            {3, "DT_INT32", ElementType::kI32},   {4, "DT_UINT8", ElementType::kU8},
                            {5, "DT_INT16", ElementType::kI16},   {6, "DT_INT8", ElementType::kI8},
                            {7, "DT_STRING", std::nullopt},       {8, "DT_COMPLEX64", std::nullopt},
                            {9, "DT_INT64", ElementType::kI64},   {10, "DT_BOOL", ElementType::kBool},
                            {11, "DT_QINT8", std::nullopt},       {12, "DT_QUINT8", std::nullopt},
                            {13, "DT_QINT32", std::nullopt},      {14, "DT_BFLOAT16", ElementType::kBF16},
                            {17, "DT_UINT16", ElementType::kU16}, {19, "DT_HALF", ElementType::kF16},
                            {20, "DT_RESOURCE", std::nullopt},    {21, "DT_VARIANT", std::nullopt},
                            {22, "DT_UINT32", ElementType::kU32}, {23, "DT_UINT64", ElementType::kU64}};

const TypeEntry* find_type(int code) {
  if (code > kReferenceOffset) code -= kReferenceOffset;
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeEntry& t) { return t.code == code; });
  return found == std::end(kTypes) ? nullptr : found;
}

template <typename Values>
void fill(Tensor& tensor, const Values& values, bool is_bits, int64_t& budget_bytes) {
  const int64_t given = values.size();
  if (given > tensor.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("holds {} values for {} elements", given, tensor.size()));
  }
  if (given < tensor.size()) budget_bytes -= int64_t(tensor.size_bytes());
  if (given == 0) return;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto value = values.Get(int(std::min(i, given - 1)));
    if (is_bits) {
      const uint16_t bits = uint16_t(value);
      std::memcpy(tensor.mutable_bytes().data() + 2 * i, &bits, sizeof bits);
    } else if (is_float(tensor.type())) {
      tensor.set_number(i, double(value));
    } else {
      tensor.set_integer(i, int64_t(value));
    }
  }
}

void fill_listed(Tensor& tensor, const graphdef::TensorValue& value, int64_t& budget) {
  switch (tensor.type()) {
    case ElementType::kF32:
      return fill(tensor, value.float_val(), false, budget);
    case ElementType::kF64:
      return fill(tensor, value.double_val(), false, budget);
    case ElementType::kF16:
    case ElementType::kBF16:
      return fill(tensor, value.half_val(), true, budget);
    case ElementType::kI64:
      return fill(tensor, value.int64_val(), false, budget);
    case ElementType::kU32:
      return fill(tensor, value.uint32_val(), false, budget);
    case ElementType::kU64:
      return fill(tensor, value.uint64_val(), false, budget);
    case ElementType::kBool:
      return fill(tensor, value.bool_val(), false, budget);
    default:
      return fill(tensor, value.int_val(), false, budget);
  }
}

}  // namespace

std::optional<ElementType> element_type_of_tensorflow(int code) {
  const TypeEntry* entry = find_type(code);
  return entry == nullptr ? std::nullopt : entry->type;
}

std::string tensorflow_type_name(int code) {
  const TypeEntry* entry = find_type(code);
  return entry == nullptr ? fmt::format("type {}", code) : entry->name;
}

TfShape tf_shape(const graphdef::TensorShape& shape) {
  TfShape result;
  result.has_rank = !shape.unknown_rank();
  for (const graphdef::Dim& dim : shape.dim()) result.dims.push_back(dim.size() < 0 ? -1 : dim.size());
  return result;
}

Tensor read_tf_tensor(const graphdef::TensorValue& value, int64_t& budget_bytes) {
  const std::optional<ElementType> type = element_type_of_tensorflow(value.dtype());
  if (!type) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("holds elements of {}", tensorflow_type_name(value.dtype())));
  }
  const TfShape declared = tf_shape(value.shape());
  if (!declared.has_rank || std::count(declared.dims.begin(), declared.dims.end(), -1) != 0) {
    throw Error(ErrorKind::kInvalidInput, "holds a tensor of unknown shape");
  }
  const Shape shape(declared.dims);
  const int64_t bytes = shape.element_count() * (bit_width(*type) / 8);
  if (value.content().empty()) {
    if (bytes > budget_bytes) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("expands to {} bytes, which are not in the file", bytes));
    }
    Tensor tensor(*type, shape);
    fill_listed(tensor, value, budget_bytes);
    return tensor;
  }
  if (int64_t(value.content().size()) != bytes) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("holds {} bytes for {}, which takes {}", value.content().size(),
                            to_string(*type, shape), bytes));
  }
  Tensor tensor(*type, shape);
  std::memcpy(tensor.mutable_bytes().data(), value.content().data(), value.content().size());
  return tensor;
}

}  // namespace tilewright
