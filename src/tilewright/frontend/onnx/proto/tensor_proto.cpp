// A TensorProto holds its elements as raw little-endian bytes, in one of five typed lists, or in another
// file. The number of bytes present is held against the dimensions before anything is allocated.
#include "tilewright/frontend/onnx/proto/tensor_proto.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tilewright/frontend/onnx/proto/onnx_tensor.h"
#include "tilewright/frontend/onnx/proto/onnx_types.h"

namespace tilewright {
namespace {

constexpr int kMaxRank = 64;

struct Problem {
  ErrorKind kind = ErrorKind::kInvalidInput;
  std::string message;
  std::string hint;
};

Problem invalid(std::string message) { return {ErrorKind::kInvalidInput, std::move(message), ""}; }

// The shape and packed size of a tensor, or why there is none.
std::optional<Problem> read_shape(const onnx::TensorProto& proto, ElementType type, Shape& shape,
                                  uint64_t& size_bytes) {
  if (proto.dims_size() > kMaxRank) return invalid(fmt::format("has {} dimensions", proto.dims_size()));
  uint64_t count = 1;
  std::vector<int64_t> dims;
  bool is_empty = false;
  for (const int64_t dim : proto.dims()) {
    if (dim < 0) return invalid(fmt::format("has a dimension of {}", dim));
    dims.push_back(dim);
    is_empty |= dim == 0;
  }
  for (const int64_t dim : dims) {
    if (is_empty) continue;
    if (uint64_t(dim) > (uint64_t{1} << 40) / count) {
      return invalid(fmt::format("of shape {} is too large", to_string(Shape(dims))));
    }
    count *= uint64_t(dim);
  }
  shape = Shape(std::move(dims));
  size_bytes = is_empty ? 0 : (count * uint64_t(bit_width(type)) + 7) / 8;
  return std::nullopt;
}

// The elements of one of the typed lists.
template <typename List>
std::optional<Problem> fill_from_list(const List& list, const char* list_name, Tensor& tensor) {
  const ElementType type = tensor.type();
  std::byte* out = tensor.mutable_bytes().data();
  for (int64_t i = 0; i < int64_t(list.size()); ++i) {
    const auto value = list.Get(int(i));
    switch (type) {
      case ElementType::kF16:
      case ElementType::kBF16: {  // the bit pattern, in an integer
        const uint16_t bits = uint16_t(int64_t(value));
        std::memcpy(out + i * 2, &bits, 2);
        break;
      }
      case ElementType::kI4:
      case ElementType::kU4:  // one byte, two elements
        out[i] = std::byte(uint8_t(int64_t(value)));
        break;
      case ElementType::kF32:
      case ElementType::kF64:
        tensor.set_number(i, double(value));
        break;
      case ElementType::kU64: {
        const uint64_t wide = uint64_t(value);
        std::memcpy(out + i * 8, &wide, 8);
        break;
      }
      default:
        if (int64_t(value) < lowest(type) || int64_t(value) > highest(type)) {
          return invalid(
              fmt::format("has the value {} in {}, which {} cannot hold", value, list_name, name(type)));
        }
        tensor.set_integer(i, int64_t(value));
    }
  }
  return std::nullopt;
}

template <typename List>
std::optional<Problem> read_list(const List& list, const char* list_name, ElementType type,
                                 const Shape& shape, uint64_t size_bytes, std::optional<Tensor>& tensor) {
  const bool is_packed = type == ElementType::kI4 || type == ElementType::kU4;
  const uint64_t wanted = is_packed ? size_bytes : size_bytes / uint64_t(bit_width(type) / 8);
  if (uint64_t(list.size()) != wanted) {
    return invalid(fmt::format("of shape {} has {} entries in {} instead of {}", to_string(shape),
                               list.size(), list_name, wanted));
  }
  tensor.emplace(type, shape);
  return fill_from_list(list, list_name, *tensor);
}

std::optional<Problem> read_typed(const onnx::TensorProto& proto, ElementType type, const Shape& shape,
                                  uint64_t size_bytes, std::optional<Tensor>& tensor) {
  switch (type) {
    case ElementType::kF32:
      return read_list(proto.float_data(), "float_data", type, shape, size_bytes, tensor);
    case ElementType::kF64:
      return read_list(proto.double_data(), "double_data", type, shape, size_bytes, tensor);
    case ElementType::kI64:
      return read_list(proto.int64_data(), "int64_data", type, shape, size_bytes, tensor);
    case ElementType::kU64:
    case ElementType::kU32:
      return read_list(proto.uint64_data(), "uint64_data", type, shape, size_bytes, tensor);
    default:
      return read_list(proto.int32_data(), "int32_data", type, shape, size_bytes, tensor);
  }
}

std::optional<Problem> read_raw(const std::string& raw, ElementType type, const Shape& shape,
                                uint64_t size_bytes, std::optional<Tensor>& tensor) {
  if (raw.size() != size_bytes) {
    return invalid(fmt::format("of type {} has {} bytes of raw data instead of {}", to_string(type, shape),
                               raw.size(), size_bytes));
  }
  tensor.emplace(type, shape);
  std::copy_n(reinterpret_cast<const std::byte*>(raw.data()), raw.size(), tensor->mutable_bytes().begin());
  return std::nullopt;
}

bool parse_integer(const std::string& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Problem> read_location(const onnx::TensorProto& proto, ExternalLocation& location) {
  for (const auto& entry : proto.external_data()) {
    int64_t number = 0;
    if (entry.key() == "location") location.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    if (!parse_integer(entry.value(), number) || number < 0) {
      return invalid(fmt::format("has external data with {} '{}'", entry.key(), entry.value()));
    }
    if (entry.key() == "offset") location.offset = number;
    if (entry.key() == "length") location.length = number;
  }
  return std::nullopt;
}

std::optional<Problem> read_external(const onnx::TensorProto& proto, const std::string& where,
                                     ElementType type, const Shape& shape, uint64_t size_bytes,
                                     TensorProtoOptions& options, Diagnostics& diagnostics,
                                     std::optional<Tensor>& tensor) {
  if (options.external == nullptr) {
    return Problem{ErrorKind::kUnsupported, "keeps its data in another file", "store it in the file itself"};
  }
  ExternalLocation location;
  if (auto problem = read_location(proto, location)) return problem;
  std::string message;
  switch (options.external->find(location, size_bytes, message)) {
    case ExternalStatus::kFound:
      break;
    case ExternalStatus::kRefused:
      return invalid(message);
    case ExternalStatus::kMissingFile:
      if (!options.allow_missing_weights) {
        return Problem{ErrorKind::kInvalidInput, message,
                       "put it next to the model, or fill such weights (--fill-weights GAIN)"};
      }
      if (options.zero_fill_budget_bytes < int64_t(size_bytes)) {
        return invalid(message + "; the missing weights of this model are too large to be filled");
      }
      options.zero_fill_budget_bytes -= int64_t(size_bytes);
      tensor.emplace(type, shape);
      diagnostics.warn(where, "", message + "; its weights are zero");
      return std::nullopt;
  }
  tensor.emplace(type, shape);
  if (!options.external->read(location, tensor->mutable_bytes())) {
    return invalid(fmt::format("external data file '{}' cannot be read", location.location));
  }
  return std::nullopt;
}

// The true type of a tensor that was stored widened, from the note the writer left.
std::optional<Problem> narrow_as_noted(const std::string& note, Tensor& tensor) {
  const auto type = element_type_from_note(note);
  if (!type) return std::nullopt;
  if (tensor.type() != ElementType::kI8 && tensor.type() != ElementType::kU8) {
    return invalid(fmt::format("is noted as {} but stored as {}", name(*type), name(tensor.type())));
  }
  Tensor narrow = tensor.cast(*type);
  if (narrow.to_integers() != tensor.to_integers()) {
    return invalid(fmt::format("has values that {} cannot hold", name(*type)));
  }
  tensor = std::move(narrow);
  return std::nullopt;
}

std::optional<Problem> read_tensor(const onnx::TensorProto& proto, const std::string& where,
                                   TensorProtoOptions& options, Diagnostics& diagnostics,
                                   std::optional<Tensor>& tensor) {
  const auto type = element_type_from_onnx(proto.data_type());
  if (!type) {
    return Problem{proto.data_type() == 0 ? ErrorKind::kInvalidInput : ErrorKind::kUnsupported,
                   fmt::format("has the element type {}", onnx_type_name(proto.data_type())), ""};
  }
  if (proto.has_segment()) return Problem{ErrorKind::kUnsupported, "is one segment of a larger tensor", ""};
  Shape shape;
  uint64_t size_bytes = 0;
  if (auto problem = read_shape(proto, *type, shape, size_bytes)) return problem;
  std::optional<Problem> problem;
  if (proto.data_location() == onnx::TensorProto_DataLocation_EXTERNAL) {
    problem = read_external(proto, where, *type, shape, size_bytes, options, diagnostics, tensor);
  } else if (proto.has_raw_data()) {
    problem = read_raw(proto.raw_data(), *type, shape, size_bytes, tensor);
  } else {
    problem = read_typed(proto, *type, shape, size_bytes, tensor);
  }
  if (problem) return problem;
  if (*type == ElementType::kBool) {
    for (std::byte& value : tensor->mutable_bytes()) value = std::byte(value != std::byte{0});
  }
  if (bit_width(*type) == 4 && tensor->size() % 2 == 1) tensor->mutable_bytes().back() &= std::byte{0x0F};
  return narrow_as_noted(proto.doc_string(), *tensor);
}

}  // namespace

std::optional<Tensor> tensor_from_proto(const onnx::TensorProto& proto, const std::string& where,
                                        TensorProtoOptions& options, Diagnostics& diagnostics) {
  std::optional<Tensor> tensor;
  if (auto problem = read_tensor(proto, where, options, diagnostics, tensor)) {
    diagnostics.error(problem->kind, where, "", problem->message, problem->hint);
    return std::nullopt;
  }
  return tensor;
}

void tensor_to_proto(const Tensor& tensor, onnx::TensorProto& proto) {
  const int number = onnx_storage_type(tensor.type());
  const bool is_widened = !has_onnx_type(tensor.type());
  const Tensor stored = is_widened ? tensor.cast(*element_type_from_onnx(number)) : tensor;
  if (is_widened) proto.set_doc_string(std::string(kElementTypeNote) + name(tensor.type()));
  proto.set_data_type(number);
  for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
  proto.set_raw_data(stored.bytes().data(), stored.size_bytes());
}

Tensor parse_onnx_tensor(std::span<const std::byte> bytes, std::string* tensor_name) {
  onnx::TensorProto proto;
  if (bytes.size() > size_t(INT32_MAX) || !proto.ParseFromArray(bytes.data(), int(bytes.size()))) {
    throw Error(ErrorKind::kInvalidInput, "not an ONNX tensor (TensorProto)");
  }
  Diagnostics diagnostics;
  TensorProtoOptions options;
  const auto tensor =
      tensor_from_proto(proto, fmt::format("tensor '{}'", proto.name()), options, diagnostics);
  diagnostics.raise_if_any();
  if (tensor_name != nullptr) *tensor_name = proto.name();
  return *tensor;
}

std::vector<std::byte> format_onnx_tensor(const Tensor& tensor, const std::string& tensor_name) {
  onnx::TensorProto proto;
  proto.set_name(tensor_name);
  tensor_to_proto(tensor, proto);
  std::vector<std::byte> bytes(proto.ByteSizeLong());
  proto.SerializeToArray(bytes.data(), int(bytes.size()));
  return bytes;
}

}  // namespace tilewright
