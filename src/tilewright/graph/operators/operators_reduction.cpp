// Reductions along axes, arg-max and the k largest.
#include <fmt/format.h>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

Shape reduced_shape(const OperatorContext& context, const std::vector<int64_t>& axes, bool all_if_empty) {
  const Shape& x = context.shape(0);
  std::vector<bool> reduced(size_t(x.rank()), axes.empty() && all_if_empty);
  for (int axis : checked_axes(context, axes, x.rank())) reduced[size_t(axis)] = true;
  const bool keep = context.node().int_or("keepdims", 1) != 0;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!reduced[size_t(axis)]) {
      dims.push_back(x[axis]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  return Shape(std::move(dims));
}

std::vector<TypedShape> infer_reduce(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  return only(context.type(0), reduced_shape(context, context.node().ints_or("axes", {}), true));
}

std::vector<TypedShape> infer_reduce_sum(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  const bool identity_if_empty = context.node().int_or("noop_with_empty_axes", 0) != 0;
  const std::vector<int64_t> axes =
      context.has(1) ? known_integers(context, 1, "the list of axes") : std::vector<int64_t>{};
  return only(context.type(0), reduced_shape(context, axes, !identity_if_empty));
}

std::vector<TypedShape> infer_arg(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  return only(ElementType::kI64, reduced_shape(context, {context.node().int_or("axis", 0)}, false));
}

std::vector<TypedShape> infer_top_k(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  Shape shape = context.shape(0);
  const int axis = checked_axis(context, context.node().int_or("axis", -1), shape.rank());
  require_single_element(context, 1);
  const int64_t k = known_integers(context, 1, "the number of elements")[0];
  if (k < 0 || k > shape[axis]) {
    reject(context, fmt::format("{} elements are wanted of axis {} with size {}", k, axis, shape[axis]));
  }
  shape[axis] = k;
  return {{context.type(0), shape}, {ElementType::kI64, shape}};
}

}  // namespace

void add_reduction_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kInts = AttributeKind::kInts;
  for (const char* name :
       {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    table.push_back({"", name, 1, 1, 1, 1, {{"axes", kInts}, {"keepdims", kInt}}, infer_reduce});
  }
  table.push_back(
      {"", "ReduceSum", 1, 2, 1, 1, {{"keepdims", kInt}, {"noop_with_empty_axes", kInt}}, infer_reduce_sum});
  for (const char* name : {"ArgMax", "ArgMin"}) {
    table.push_back(
        {"", name, 1, 1, 1, 1, {{"axis", kInt}, {"keepdims", kInt}, {"select_last_index", kInt}}, infer_arg});
  }
  table.push_back(
      {"", "TopK", 2, 2, 2, 2, {{"axis", kInt}, {"largest", kInt}, {"sorted", kInt}}, infer_top_k});
}

}  // namespace tilewright
