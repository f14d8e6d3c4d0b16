// Resize in its five versions, and Upsample, which it replaced; the other samplers that changed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"

namespace tilewright {
namespace {

// Resize as Upsample and Resize-10 defined it: the coordinate divided by the scale, rounded down.
void set_asymmetric(Node& node, ValueId scales) {
  node.op = "Resize";
  const std::string mode = node.string_or("mode", "nearest");
  node.attributes.clear();
  node.attributes["mode"] = mode == "bilinear" ? std::string("linear") : mode;
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attributes["nearest_mode"] = std::string("floor");
  node.inputs = {node.inputs[0], kNoValue, scales};
}

void drop_if_empty(Node& node, NodeConversion& conversion, int index) {
  if (!node.has_input(index)) return;
  const Shape shape = conversion.shape(node.inputs[size_t(index)]);
  if (shape.rank() == 1 && shape[0] == 0) node.inputs[size_t(index)] = kNoValue;
}

// Sizes for a subset of the axes made complete, or scales; the other axes keep theirs.
void expand_axes(Node& node, NodeConversion& conversion) {
  const Shape shape = conversion.shape(node.inputs[0]);
  const auto axes = checked_axes(conversion, node.ints_or("axes", {}), shape.rank());
  if (!axes) return;
  node.attributes.erase("axes");
  if (node.has_input(1) && node.string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    return conversion.unsupported("crops some axes only (axes with tf_crop_and_resize)");
  }
  if (node.has_input(1)) node.inputs[1] = kNoValue;
  const int index = node.has_input(2) ? 2 : 3;
  const auto given = conversion.constant_of(node.input(index));
  if (!given) return conversion.unsupported("its scales or sizes are not constant");
  if (given->size() != int64_t(axes->size())) {
    return conversion.invalid(fmt::format("has {} scales or sizes for {} axes", given->size(), axes->size()));
  }
  Tensor complete(given->type(), Shape{shape.rank()});
  for (int axis = 0; axis < shape.rank(); ++axis)
    complete.set_number(axis, index == 2 ? 1.0 : double(shape[axis]));
  for (size_t i = 0; i < axes->size(); ++i) complete.set_number((*axes)[i], given->number_at(int64_t(i)));
  node.inputs[size_t(index)] = conversion.constant(index == 2 ? "scales" : "sizes", std::move(complete));
}

// Opset 18: sizes that only bound the result, which keeps the proportions of the input.
void resolve_aspect_policy(Node& node, NodeConversion& conversion, const std::string& policy) {
  const Shape shape = conversion.shape(node.inputs[0]);
  const auto given = conversion.constant_of(node.input(3));
  if (!given) return conversion.unsupported("its sizes are not constant");
  std::vector<int64_t> axes = node.ints_or("axes", {});
  if (axes.empty()) {
    for (int axis = 0; axis < shape.rank(); ++axis) axes.push_back(axis);
  }
  const auto checked = checked_axes(conversion, axes, shape.rank());
  if (!checked) return;
  if (given->size() != int64_t(checked->size())) {
    return conversion.invalid(fmt::format("has {} sizes for {} axes", given->size(), checked->size()));
  }
  std::vector<double> scales;
  for (size_t i = 0; i < checked->size(); ++i) {
    scales.push_back(double(given->integer_at(int64_t(i))) /
                     double(std::max<int64_t>(1, shape[(*checked)[i]])));
  }
  if (scales.empty()) return;
  const double scale = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                              : *std::max_element(scales.begin(), scales.end());
  std::vector<int64_t> sizes;
  for (const int axis : *checked) sizes.push_back(int64_t(std::floor(scale * double(shape[axis]) + 0.5)));
  node.inputs[3] = conversion.constant("sizes", int64_list(sizes));
}

// It lies half a pixel after half_pixel, which another way of rounding makes up for.
void replace_half_pixel_for_nn(Node& node, NodeConversion& conversion) {
  const std::string rounding = node.string_or("nearest_mode", "round_prefer_floor");
  const bool is_floor = rounding == "floor";
  if (node.string_or("mode", "nearest") != "nearest" || (!is_floor && rounding != "round_prefer_floor")) {
    return conversion.unsupported(
        fmt::format("maps coordinates by 'tf_half_pixel_for_nn' and rounds by '{}'", rounding),
        "export the model with half_pixel");
  }
  node.attributes["coordinate_transformation_mode"] = std::string("half_pixel");
  node.attributes["nearest_mode"] = std::string(is_floor ? "round_prefer_ceil" : "ceil");
}

}  // namespace

void convert_upsample(Node& node, NodeConversion& conversion) {
  if (conversion.opset() >= 10) return conversion.unsupported("does not exist in opset 10 and later");
  if (conversion.opset() >= 9) {
    if (!node.has_input(1)) return conversion.invalid("has no scales");
    return set_asymmetric(node, node.inputs[1]);
  }
  const std::vector<float> scales = node.floats_or("scales", {});
  if (scales.empty()) return conversion.invalid("has no scales");
  set_asymmetric(node, conversion.constant(
                           "scales", Tensor(Shape{int64_t(scales.size())}, std::span<const float>(scales))));
}

void convert_resize(Node& node, NodeConversion& conversion) {
  const int opset = conversion.opset();
  if (opset < 11) {
    if (!node.has_input(1)) return conversion.invalid("has no scales");
    return set_asymmetric(node, node.inputs[1]);
  }
  for (const int index : {1, 2, 3}) drop_if_empty(node, conversion, index);
  const std::string coordinates = node.string_or("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_half_pixel_for_nn") return replace_half_pixel_for_nn(node, conversion);
  if (coordinates == "half_pixel_symmetric") {
    return conversion.unsupported(fmt::format("maps coordinates by '{}'", coordinates));
  }
  if (opset < 18) return;
  if (node.int_or("antialias", 0) != 0) return conversion.unsupported("has antialias");
  node.attributes.erase("antialias");
  const std::string policy = node.string_or("keep_aspect_ratio_policy", "stretch");
  node.attributes.erase("keep_aspect_ratio_policy");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    return conversion.unsupported(fmt::format("has keep_aspect_ratio_policy '{}'", policy));
  }
  if (policy != "stretch" && node.has_input(3)) resolve_aspect_policy(node, conversion, policy);
  if (node.has("axes")) expand_axes(node, conversion);
}

// Opset 20 renamed the modes.
void convert_grid_sample(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 20) return;
  const std::string mode = node.string_or("mode", "linear");
  node.attributes["mode"] = mode == "linear" ? std::string("bilinear") : mode == "cubic" ? "bicubic" : mode;
}

// Opset 16 introduced the half-pixel offset and made it the default.
void convert_roi_align(Node& node, NodeConversion& conversion) {
  if (conversion.opset() < 16) {
    node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
  }
}

}  // namespace tilewright
