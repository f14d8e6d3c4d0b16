// Operators that address single elements by index tensors, and those along or beside a diagonal:
// GatherElements, GatherND, ScatterElements, ScatterND, CumSum, Trilu, EyeLike.
#include <fmt/format.h>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

// Indices of the rank of the data, no longer than it on any axis but `axis`.
void require_indices_within(const OperatorContext& context, int axis) {
  require_class(context, 1, TypeClass::kIndex);
  const Shape &data = context.shape(0), &indices = context.shape(1);
  bool fits = indices.rank() == data.rank();
  for (int i = 0; fits && i < data.rank(); ++i) fits = i == axis || indices[i] <= data[i];
  if (fits) return;
  reject(context, fmt::format("{} of shape {} does not lie within {} of shape {}", describe_input(context, 1),
                              to_string(indices), describe_input(context, 0), to_string(data)));
}

std::vector<TypedShape> infer_gather_elements(const OperatorContext& context) {
  require_indices_within(context,
                         checked_axis(context, context.node().int_or("axis", 0), context.shape(0).rank()));
  return only(context.type(0), context.shape(1));
}

void require_reduction(const OperatorContext& context) {
  const std::string reduction = context.node().string_or("reduction", "none");
  if (reduction != "none" && reduction != "add" && reduction != "mul") {
    reject_unsupported(context, fmt::format("attribute 'reduction' is '{}'", reduction),
                       "supported: none, add, mul");
  }
  require_same_type(context, 0, 2);
}

std::vector<TypedShape> infer_scatter_elements(const OperatorContext& context) {
  require_reduction(context);
  require_indices_within(context,
                         checked_axis(context, context.node().int_or("axis", 0), context.shape(0).rank()));
  if (!(context.shape(2) == context.shape(1))) {
    reject(context, fmt::format("updates of shape {} for indices of shape {}", to_string(context.shape(2)),
                                to_string(context.shape(1))));
  }
  return only(context.type(0), context.shape(0));
}

// indices[..., :] address slices of the data after `batch_dims` shared axes; the shape of all slices
// together.
Shape slices_shape(const OperatorContext& context, int64_t batch_dims) {
  require_class(context, 1, TypeClass::kIndex);
  const Shape &data = context.shape(0), &indices = context.shape(1);
  const int64_t depth = indices.rank() == 0 ? 0 : indices[indices.rank() - 1];
  bool fits = indices.rank() > 0 && depth > 0 && batch_dims >= 0 && batch_dims < indices.rank() &&
              batch_dims + depth <= data.rank();
  for (int i = 0; fits && i < batch_dims; ++i) fits = indices[i] == data[i];
  if (!fits) {
    reject(context, fmt::format("indices of shape {} do not address data of shape {} with {} batch axes",
                                to_string(indices), to_string(data), batch_dims));
  }
  std::vector<int64_t> dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + batch_dims + depth, data.end());
  return Shape(std::move(dims));
}

std::vector<TypedShape> infer_gather_nd(const OperatorContext& context) {
  return only(context.type(0), slices_shape(context, context.node().int_or("batch_dims", 0)));
}

std::vector<TypedShape> infer_scatter_nd(const OperatorContext& context) {
  require_reduction(context);
  const Shape wanted = slices_shape(context, 0);
  if (!(context.shape(2) == wanted)) {
    reject(context,
           fmt::format("updates of shape {}, {} is needed", to_string(context.shape(2)), to_string(wanted)));
  }
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_cum_sum(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kNumber);
  require_class(context, 1, TypeClass::kIndex);
  require_single_element(context, 1);
  if (const Tensor* axis = context.known(1))
    checked_axis(context, axis->integer_at(0), context.shape(0).rank());
  return only(context.type(0), context.shape(0));
}

void require_matrix(const OperatorContext& context, bool exactly) {
  const int rank = context.shape(0).rank();
  if (exactly ? rank == 2 : rank >= 2) return;
  reject(context, fmt::format("{} has shape {}, a matrix is needed", describe_input(context, 0),
                              to_string(context.shape(0))));
}

std::vector<TypedShape> infer_trilu(const OperatorContext& context) {
  require_matrix(context, false);
  if (context.has(1)) {
    require_type(context, 1, ElementType::kI64);
    require_single_element(context, 1);
  }
  return only(context.type(0), context.shape(0));
}

std::vector<TypedShape> infer_eye_like(const OperatorContext& context) {
  require_matrix(context, true);
  if (!context.node().has("dtype")) return only(context.type(0), context.shape(0));
  const auto type = element_type_of_onnx(context.node().int_or("dtype", 0));
  if (!type) reject_unsupported(context, "attribute 'dtype' is not a supported element type");
  return only(*type, context.shape(0));
}

}  // namespace

void add_scatter_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kString = AttributeKind::kString;
  table.push_back({"", "GatherElements", 2, 2, 1, 1, {{"axis", kInt}}, infer_gather_elements});
  table.push_back({"", "GatherND", 2, 2, 1, 1, {{"batch_dims", kInt}}, infer_gather_nd});
  table.push_back(
      {"", "ScatterElements", 3, 3, 1, 1, {{"axis", kInt}, {"reduction", kString}}, infer_scatter_elements});
  table.push_back({"", "ScatterND", 3, 3, 1, 1, {{"reduction", kString}}, infer_scatter_nd});
  table.push_back({"", "CumSum", 2, 2, 1, 1, {{"exclusive", kInt}, {"reverse", kInt}}, infer_cum_sum});
  table.push_back({"", "Trilu", 1, 2, 1, 1, {{"upper", kInt}}, infer_trilu});
  table.push_back({"", "EyeLike", 1, 1, 1, 1, {{"dtype", kInt}, {"k", kInt}}, infer_eye_like});
}

}  // namespace tilewright
