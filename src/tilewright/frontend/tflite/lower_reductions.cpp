// Reductions. Axes count in the file's layout; where the result is the same in either layout - dimensions
// kept, or both spatial axes dropped - the one in which the input is there is taken.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

const char* onnx_reduction(const std::string& op) {
  return op == "MEAN"         ? "ReduceMean"
         : op == "SUM"        ? "ReduceSum"
         : op == "REDUCE_MAX" ? "ReduceMax"
         : op == "REDUCE_MIN" ? "ReduceMin"
                              : "ReduceProd";
}

}  // namespace

void lower_reduction(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  const int rank = l.shape(0).rank();
  std::set<int64_t> axes;
  for (const int64_t axis : l.constant_integers(1, "axes")) axes.insert(normalize_axis(axis, rank));
  const bool keeps = l.options().keeps_dimensions;
  const bool is_spatial = axes == std::set<int64_t>{1, 2};
  const TensorLayout layout = keeps || is_spatial ? l.layout_of(0) : TensorLayout::kFile;
  if (axes.empty()) return l.finish(0, l.value(0, layout), layout);
  std::vector<int64_t> onnx_axes;
  for (const int64_t axis : axes) onnx_axes.push_back(l.axis_in(layout, axis, rank));
  std::sort(onnx_axes.begin(), onnx_axes.end());
  const char* op = onnx_reduction(l.op().op);
  std::vector<ValueId> inputs = {l.value(0, layout)};
  Attributes attributes = {{"keepdims", int64_t{keeps}}};
  if (l.op().op == "SUM") {
    inputs.push_back(l.integers_value("axes", onnx_axes));
  } else {
    attributes["axes"] = onnx_axes;
  }
  const ValueId y = l.emit(op, std::move(inputs), std::move(attributes));
  l.finish(0, y, keeps ? layout : TensorLayout::kFile);
}

void lower_arg(TfliteLowering& l) {
  l.require(2, 1);
  const int rank = l.shape(0).rank();
  const int64_t axis = normalize_axis(l.constant_integer(1, "axes"), rank);
  const char* op = l.op().op == "ARG_MAX" ? "ArgMax" : "ArgMin";
  const ValueId y = l.emit(op, {l.value(0, TensorLayout::kFile)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  l.finish(0, y, TensorLayout::kFile);
}

}  // namespace tilewright
