// Operators whose attributes moved to inputs (or back) between opsets: Clip, Pad, Slice, Squeeze, Unsqueeze,
// Split, TopK and the reductions.
#include <fmt/format.h>

#include <limits>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {

// Opset 11: the bounds became inputs.
void convert_clip(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 11) return;
  const ElementType type = conversion.type(node.inputs[0]);
  const float low = node.float_or("min", std::numeric_limits<float>::lowest());
  const float high = node.float_or("max", std::numeric_limits<float>::max());
  node.attributes.erase("min");
  node.attributes.erase("max");
  if (low != std::numeric_limits<float>::lowest()) {
    input_slot(node, 1) = conversion.constant("min", scalar_of(type, low));
  }
  if (high != std::numeric_limits<float>::max()) {
    input_slot(node, 2) = conversion.constant("max", scalar_of(type, high));
  }
}

// Opset 11: pads and value became inputs; 18: axes.
void convert_pad(Node& node, NodeConversion& conversion) {
  const int opset = conversion.opset();
  if (node.string_or("mode", "constant") == "wrap") return conversion.unsupported("pads by wrapping around");
  const Shape x_shape = conversion.shape(node.inputs[0]);
  if (opset < 11) {
    const float value = node.float_or("value", 0.0f);
    node.attributes.erase("value");
    ints_attribute_to_input(node, conversion, "pads", 1);
    if (value != 0.0f)
      input_slot(node, 2) = conversion.constant("value", scalar_of(conversion.type(node.inputs[0]), value));
    return;
  }
  if (opset < 18 || !node.has_input(3)) return;
  const auto axes_tensor = conversion.constant_of(node.inputs[3]);
  const auto pads_tensor = conversion.constant_of(node.input(1));
  if (!axes_tensor || !pads_tensor) {
    return conversion.unsupported("its pads or axes are not constant");
  }
  const std::vector<int64_t> pads = pads_tensor->to_integers();
  const int rank = x_shape.rank();
  const auto axes = checked_axes(conversion, axes_tensor->to_integers(), rank);
  if (!axes) return;
  if (pads.size() != 2 * axes->size()) {
    return conversion.invalid(fmt::format("has {} pads for {} axes", pads.size(), axes->size()));
  }
  std::vector<int64_t> all(2 * size_t(rank), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    all[size_t((*axes)[i])] = pads[i];
    all[size_t(rank + (*axes)[i])] = pads[axes->size() + i];
  }
  node.inputs[1] = conversion.constant("pads", int64_list(all));
  node.inputs[3] = kNoValue;
}

void convert_slice(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 10) return;
  ints_attribute_to_input(node, conversion, "starts", 1);
  ints_attribute_to_input(node, conversion, "ends", 2);
  ints_attribute_to_input(node, conversion, "axes", 3);
}

void convert_squeeze(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 13) ints_attribute_to_input(node, conversion, "axes", 1);
}

// Opset 13: the sizes became an input; 18: num_outputs, whose last part may be smaller.
void convert_split(Node& node, NodeConversion& conversion) {
  const int opset = conversion.opset();
  if (opset < 13) return ints_attribute_to_input(node, conversion, "split", 1);
  if (opset < 18) return;
  const int64_t parts = node.int_or("num_outputs", int64_t(node.outputs.size()));
  node.attributes.erase("num_outputs");
  if (node.has_input(1)) return;
  if (parts != int64_t(node.outputs.size())) {
    return conversion.invalid(
        fmt::format("num_outputs is {}, but it has {} outputs", parts, node.outputs.size()));
  }
  const Shape shape = conversion.shape(node.inputs[0]);
  const int64_t size = shape[normalize_axis(node.int_or("axis", 0), shape.rank())];
  if (size % parts == 0) return;
  const int64_t part = size / parts + 1;
  const int64_t last = size - part * (parts - 1);
  if (last < 0) return conversion.invalid(fmt::format("cannot split {} into {} parts", size, parts));
  std::vector<int64_t> sizes(size_t(parts), part);
  sizes.back() = last;
  input_slot(node, 1) = conversion.constant("split", int64_list(sizes));
}

void convert_top_k(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 10) ints_attribute_to_input(node, conversion, "k", 1);
}

// ReduceSum takes its axes as an input from opset 13 on, as in 17.
void convert_reduce_sum(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 13) ints_attribute_to_input(node, conversion, "axes", 1);
}

// The other reductions take them as an input from 18 on, as an attribute in 17.
void convert_reduction(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 18) return;
  const bool keeps_without_axes = node.int_or("noop_with_empty_axes", 0) != 0;
  node.attributes.erase("noop_with_empty_axes");
  if (node.has_input(1) && !int_input_to_attribute(node, conversion, "axes", 1)) return;
  if (!node.ints_or("axes", {}).empty()) return;
  node.attributes.erase("axes");
  if (!keeps_without_axes) return;
  // Nothing is reduced, yet the element-wise part of the operator stays.
  const std::string op = node.op;
  node.attributes.clear();
  node.inputs.resize(1);
  if (op == "ReduceL1" || op == "ReduceL2") {
    node.op = "Abs";
  } else if (op == "ReduceSumSquare") {
    node.op = "Mul";
    node.inputs.push_back(node.inputs[0]);
  } else if (op == "ReduceLogSum") {
    node.op = "Log";
  } else {
    node.op = "Identity";
  }
}

}  // namespace tilewright
