// One table, indexed by the numbers of TensorProto.DataType; everything here is a look-up in it.
#include "tilewright/frontend/onnx/proto/onnx_types.h"

#include <array>

namespace tilewright {
namespace {

struct TypeRow {
  const char* name;
  std::optional<ElementType> type;
};

// Indexed by TensorProto.DataType. Older headers of the ONNX library end at 16, so numbers stand here.
const std::array<TypeRow, 24>& type_rows() {
  static const std::array<TypeRow, 24> rows = {{
      {"UNDEFINED", std::nullopt},      {"FLOAT", ElementType::kF32},     {"UINT8", ElementType::kU8},
      {"INT8", ElementType::kI8},       {"UINT16", ElementType::kU16},    {"INT16", ElementType::kI16},
      {"INT32", ElementType::kI32},     {"INT64", ElementType::kI64},     {"STRING", std::nullopt},
      {"BOOL", ElementType::kBool},     {"FLOAT16", ElementType::kF16},   {"DOUBLE", ElementType::kF64},
      {"UINT32", ElementType::kU32},    {"UINT64", ElementType::kU64},    {"COMPLEX64", std::nullopt},
      {"COMPLEX128", std::nullopt},     {"BFLOAT16", ElementType::kBF16}, {"FLOAT8E4M3FN", std::nullopt},
      {"FLOAT8E4M3FNUZ", std::nullopt}, {"FLOAT8E5M2", std::nullopt},     {"FLOAT8E5M2FNUZ", std::nullopt},
      {"UINT4", ElementType::kU4},      {"INT4", ElementType::kI4},       {"FLOAT4E2M1", std::nullopt},
  }};
  return rows;
}

}  // namespace

std::optional<ElementType> element_type_from_onnx(int data_type) {
  if (data_type < 0 || data_type >= int(type_rows().size())) return std::nullopt;
  return type_rows()[size_t(data_type)].type;
}

bool has_onnx_type(ElementType type) {
  for (const TypeRow& row : type_rows()) {
    if (row.type == type) return true;
  }
  return false;
}

int onnx_storage_type(ElementType type) {
  ElementType stored = type;
  if (!has_onnx_type(type)) {
    stored = type == ElementType::kU2 || type == ElementType::kU1 ? ElementType::kU8 : ElementType::kI8;
  }
  int number = 0;
  while (type_rows()[size_t(number)].type != stored) ++number;
  return number;
}

std::optional<ElementType> element_type_from_note(const std::string& doc_string) {
  const std::string prefix = kElementTypeNote;
  if (doc_string.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  const auto type = parse_element_type(doc_string.substr(prefix.size()));
  return type && !has_onnx_type(*type) ? type : std::nullopt;
}

std::string onnx_type_name(int data_type) {
  if (data_type < 0 || data_type >= int(type_rows().size()))
    return "type number " + std::to_string(data_type);
  return type_rows()[size_t(data_type)].name;
}

}  // namespace tilewright
