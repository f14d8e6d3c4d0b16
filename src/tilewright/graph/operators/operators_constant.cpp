// Operators that make tensors out of attributes and numbers: Constant, ConstantOfShape, Range.
#include "tilewright/graph/operators/operators_constant.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

std::vector<TypedShape> infer_constant(const OperatorContext& context) {
  const auto& attributes = context.node().attributes;
  if (attributes.size() != 1) {
    reject(context, fmt::format("{} attributes", attributes.size()),
           "exactly one attribute must hold the value");
  }
  const Attribute& value = attributes.begin()->second;
  if (const auto* tensor = std::get_if<Tensor>(&value)) return only(tensor->type(), tensor->shape());
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return only(ElementType::kI64, {int64_t(list->size())});
  }
  if (const auto* list = std::get_if<std::vector<float>>(&value)) {
    return only(ElementType::kF32, {int64_t(list->size())});
  }
  return only(std::holds_alternative<float>(value) ? ElementType::kF32 : ElementType::kI64, Shape{});
}

std::vector<TypedShape> infer_constant_of_shape(const OperatorContext& context) {
  const Shape shape(known_integers(context, 0, "the shape"));
  for (int64_t size : shape) {
    if (size < 0) reject(context, fmt::format("shape {} has a negative size", to_string(shape)));
  }
  const auto value = context.node().attributes.find("value");
  if (value == context.node().attributes.end()) return only(ElementType::kF32, shape);
  const Tensor& tensor = std::get<Tensor>(value->second);
  if (tensor.size() != 1) {
    reject(context, fmt::format("attribute 'value' has {} elements", tensor.size()), "one is needed");
  }
  return only(tensor.type(), shape);
}

std::vector<TypedShape> infer_range(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  for (int i : {0, 1, 2}) {
    require_same_type(context, 0, i);
    require_single_element(context, i);
    if (context.known(i) == nullptr) {
      reject_unsupported(context,
                         fmt::format("{} is not constant: the size of the output depends on the data",
                                     describe_input(context, i)),
                         "shapes must follow from the shapes of the graph inputs");
    }
  }
  const std::optional<int64_t> count = range_length(*context.known(0), *context.known(1), *context.known(2));
  if (!count) reject(context, "the steps do not lead from start to limit", "delta must be finite and not 0");
  return only(context.type(0), {*count});
}

}  // namespace

std::optional<int64_t> range_length(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (is_float(start.type())) {
    const double steps = std::ceil((limit.number_at(0) - start.number_at(0)) / delta.number_at(0));
    if (!(steps < double(kMost))) return std::nullopt;
    return steps > 0 ? int64_t(steps) : 0;
  }
  const int64_t step = delta.integer_at(0);
  if (step == 0) return std::nullopt;
  const __int128 distance = __int128(limit.integer_at(0)) - start.integer_at(0);
  if (distance == 0 || (distance > 0) != (step > 0)) return 0;
  const __int128 count = (distance + step + (step > 0 ? -1 : 1)) / step;
  if (count > kMost) return std::nullopt;
  return int64_t(count);
}

void add_constant_operators(std::vector<Operator>& table) {
  table.push_back({"",
                   "Constant",
                   0,
                   0,
                   1,
                   1,
                   {{"value", AttributeKind::kTensor},
                    {"value_float", AttributeKind::kFloat},
                    {"value_floats", AttributeKind::kFloats},
                    {"value_int", AttributeKind::kInt},
                    {"value_ints", AttributeKind::kInts}},
                   infer_constant});
  table.push_back(
      {"", "ConstantOfShape", 1, 1, 1, 1, {{"value", AttributeKind::kTensor}}, infer_constant_of_shape});
  table.push_back({"", "Range", 3, 3, 1, 1, {}, infer_range});
}

}  // namespace tilewright
