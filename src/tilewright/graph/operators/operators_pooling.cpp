// Pools over windows and over everything.
#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/window.h"

namespace tilewright {
namespace {

Shape pooled_shape(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  const Window window = pool_window(context.node(), x);
  return window.output_shape(x[0], x[1]);
}

std::vector<TypedShape> infer_average_pool(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  return only(context.type(0), pooled_shape(context));
}

std::vector<TypedShape> infer_max_pool(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  const Shape shape = pooled_shape(context);
  return {{context.type(0), shape}, {ElementType::kI64, shape}};
}

template <TypeClass wanted>
std::vector<TypedShape> infer_global_pool(const OperatorContext& context) {
  require_class(context, 0, wanted);
  const Shape& x = context.shape(0);
  const Window window = global_window(context.node(), x);
  return only(context.type(0), window.output_shape(x[0], x[1]));
}

}  // namespace

void add_pooling_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kInts = AttributeKind::kInts, kString = AttributeKind::kString;
  const std::vector<AttributeRule> window{{"auto_pad", kString},
                                          {"ceil_mode", kInt},
                                          {"kernel_shape", kInts, true},
                                          {"pads", kInts},
                                          {"strides", kInts}};
  std::vector<AttributeRule> average = window, largest = window;
  average.push_back({"count_include_pad", kInt});
  largest.push_back({"dilations", kInts});
  largest.push_back({"storage_order", kInt});
  table.push_back({"", "AveragePool", 1, 1, 1, 1, average, infer_average_pool});
  table.push_back({"", "MaxPool", 1, 1, 1, 2, largest, infer_max_pool});
  table.push_back({"", "GlobalAveragePool", 1, 1, 1, 1, {}, infer_global_pool<TypeClass::kFloat>});
  table.push_back({"", "GlobalMaxPool", 1, 1, 1, 1, {}, infer_global_pool<TypeClass::kNumber>});
}

}  // namespace tilewright
