// The operator table, put together from its families, and the small vocabulary around it.
#include "tilewright/graph/operators/operators.h"

#include <algorithm>
#include <utility>

#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

std::pair<std::string_view, std::string_view> key(const Operator& op) { return {op.domain, op.name}; }

std::vector<Operator> build_table() {
  std::vector<Operator> table;
  add_elementwise_operators(table);
  add_convolution_operators(table);
  add_pooling_operators(table);
  add_matmul_operators(table);
  add_normalization_operators(table);
  add_reduction_operators(table);
  add_shape_operators(table);
  add_indexing_operators(table);
  add_constant_operators(table);
  add_quantized_operators(table);
  add_sampling_operators(table);
  add_scatter_operators(table);
  add_tilewright_operators(table);
  add_fixed_point_operators(table);
  std::sort(table.begin(), table.end(), [](const Operator& a, const Operator& b) { return key(a) < key(b); });
  return table;
}

constexpr std::pair<int64_t, ElementType> kOnnxTypes[] = {
    {1, ElementType::kF32},   {2, ElementType::kU8},   {3, ElementType::kI8},   {4, ElementType::kU16},
    {5, ElementType::kI16},   {6, ElementType::kI32},  {7, ElementType::kI64},  {9, ElementType::kBool},
    {10, ElementType::kF16},  {11, ElementType::kF64}, {12, ElementType::kU32}, {13, ElementType::kU64},
    {16, ElementType::kBF16}, {21, ElementType::kU4},  {22, ElementType::kI4},
};

}  // namespace

std::string to_string(const TypedShape& typed) { return to_string(typed.type, typed.shape); }

const char* describe(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "an integer";
    case AttributeKind::kFloat:
      return "a float";
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kInts:
      return "a list of integers";
    case AttributeKind::kFloats:
      return "a list of floats";
    case AttributeKind::kStrings:
      return "a list of strings";
    case AttributeKind::kTensor:
      return "a tensor";
  }
  return "";
}

AttributeKind kind_of(const Attribute& attribute) { return AttributeKind(attribute.index()); }

std::span<const Operator> all_operators() {
  static const std::vector<Operator> table = build_table();
  return table;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  const std::span<const Operator> table = all_operators();
  const auto wanted = std::pair(domain, name);
  const auto found = std::lower_bound(table.begin(), table.end(), wanted,
                                      [](const Operator& op, const auto& k) { return key(op) < k; });
  return found != table.end() && key(*found) == wanted ? &*found : nullptr;
}

std::optional<ElementType> element_type_of_onnx(int64_t code) {
  for (const auto& [number, type] : kOnnxTypes) {
    if (number == code) return type;
  }
  return std::nullopt;
}

std::optional<int64_t> onnx_code_of(ElementType type) {
  for (const auto& [number, known] : kOnnxTypes) {
    if (known == type) return number;
  }
  return std::nullopt;
}

}  // namespace tilewright
