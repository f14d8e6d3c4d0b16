// Reductions over axes that input 1 names, and positions of the largest and smallest element.
#include <fmt/format.h>

#include <map>

#include "tilewright/frontend/tensorflow/tf_operation.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

std::vector<int64_t> reduced_axes(TfOperation& operation) {
  std::vector<int64_t> axes = operation.integers(1, "axes");
  for (int64_t& axis : axes) axis = normalize_axis(axis, operation.rank(0));
  return axes;
}

void convert_reduction(TfOperation& operation) {
  static const std::map<std::string, const char*> kTwins = {
      {"Mean", "ReduceMean"}, {"Max", "ReduceMax"}, {"Min", "ReduceMin"}, {"Prod", "ReduceProd"}};
  const std::vector<int64_t> axes = reduced_axes(operation);
  if (axes.empty()) return operation.output(0, operation.input(0));
  const int64_t keep = operation.node().bool_or("keep_dims", operation.node().bool_or("keepdims", false));
  operation.output(0, operation.emit(kTwins.at(operation.node().op), {operation.input(0)},
                                     {{"axes", axes}, {"keepdims", keep}}));
}

void convert_sum(TfOperation& operation) {
  const std::vector<int64_t> axes = reduced_axes(operation);
  if (axes.empty()) return operation.output(0, operation.input(0));
  const int64_t keep = operation.node().bool_or("keep_dims", operation.node().bool_or("keepdims", false));
  const ValueId list = operation.constant("axes", int64_tensor(axes));
  operation.output(0, operation.emit("ReduceSum", {operation.input(0), list}, {{"keepdims", keep}}));
}

void convert_arg(TfOperation& operation) {
  std::vector<int64_t> axes = {0};
  if (operation.input_count() > 1) axes = operation.integers(1, "axes");
  if (axes.size() != 1) invalid_node("needs one axis");
  const ValueId index = operation.emit(
      operation.node().op, {operation.input(0)},
      {{"axis", int64_t{normalize_axis(axes[0], operation.rank(0))}}, {"keepdims", int64_t{0}}});
  const auto type = element_type_of_tensorflow(operation.node().type_or("output_type", 9));
  operation.output(0, as_type(operation, index, type.value_or(ElementType::kI64)));
}

}  // namespace

std::vector<TfTableEntry> tf_reduction_converters() {
  return {{"ArgMax", convert_arg},     {"ArgMin", convert_arg},    {"Max", convert_reduction},
          {"Mean", convert_reduction}, {"Min", convert_reduction}, {"Prod", convert_reduction},
          {"Sum", convert_sum}};
}

}  // namespace tilewright
