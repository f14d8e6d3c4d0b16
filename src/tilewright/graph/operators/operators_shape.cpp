// Operators that change a shape and keep or repeat the elements: reshaping, permuting, padding, resizing.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"
#include "tilewright/graph/resized_size.h"

namespace tilewright {
namespace {

std::vector<TypedShape> infer_reshape(const OperatorContext& context) {
  const std::vector<int64_t> wanted = known_integers(context, 1, "the shape");
  const Shape& x = context.shape(0);
  const bool zero_is_zero = context.node().int_or("allowzero", 0) != 0;
  std::vector<int64_t> dims;
  int unknown = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t size = wanted[i];
    if (size == 0 && !zero_is_zero) {
      if (int(i) >= x.rank()) {
        reject(context, fmt::format("shape {} copies axis {}, the input has shape {}", fmt::join(wanted, "x"),
                                    i, to_string(x)));
      }
      size = x[int(i)];
    } else if (size == -1 && unknown < 0) {
      unknown = int(i);
      size = 1;
    } else if (size < 0) {
      reject(context, fmt::format("shape {}", fmt::join(wanted, "x")), "at most one size may be -1");
    }
    dims.push_back(size);
  }
  const int64_t have = saturating_count(x), known = saturating_count(Shape(dims));
  if (unknown >= 0 && known > 0 && have % known == 0) {
    dims[size_t(unknown)] = have / known;
  } else if (unknown >= 0 || known != have) {
    reject(context, fmt::format("{} elements of shape {} do not fit shape {}", have, to_string(x),
                                fmt::join(wanted, "x")));
  }
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_flatten(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  const int64_t wanted = context.node().int_or("axis", 1);
  const int axis = wanted == x.rank() ? x.rank() : checked_axis(context, wanted, x.rank());
  return only(context.type(0), Shape{saturating_count(Shape({x.begin(), x.begin() + axis})),
                                     saturating_count(Shape({x.begin() + axis, x.end()}))});
}

std::vector<TypedShape> infer_transpose(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  std::vector<int64_t> backwards;
  for (int axis = x.rank() - 1; axis >= 0; --axis) backwards.push_back(axis);
  const std::vector<int64_t> perm = context.node().ints_or("perm", backwards);
  if (int(perm.size()) != x.rank()) {
    reject(context, fmt::format("attribute 'perm' lists {} axes, the input has {}", perm.size(), x.rank()));
  }
  std::vector<int64_t> dims;
  for (int axis : checked_axes(context, perm, x.rank())) dims.push_back(x[axis]);
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_squeeze(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  std::vector<bool> dropped(size_t(x.rank()), false);
  if (context.has(1)) {
    for (int axis : checked_axes(context, known_integers(context, 1, "the list of axes"), x.rank())) {
      if (x[axis] != 1) reject(context, fmt::format("axis {} of {} is not 1", axis, to_string(x)));
      dropped[size_t(axis)] = true;
    }
  } else {
    for (int axis = 0; axis < x.rank(); ++axis) dropped[size_t(axis)] = x[axis] == 1;
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!dropped[size_t(axis)]) dims.push_back(x[axis]);
  }
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_unsqueeze(const OperatorContext& context) {
  const Shape& x = context.shape(0);
  const std::vector<int64_t> axes = known_integers(context, 1, "the list of axes");
  const int rank = x.rank() + int(axes.size());
  std::vector<int64_t> dims(size_t(rank), -1);
  for (int axis : checked_axes(context, axes, rank)) dims[size_t(axis)] = 1;
  int from = 0;
  for (int64_t& size : dims) size = size == 1 ? 1 : x[from++];
  return only(context.type(0), Shape(std::move(dims)));
}

std::vector<TypedShape> infer_expand(const OperatorContext& context) {
  const Shape wanted(known_integers(context, 1, "the shape"));
  for (int64_t size : wanted) {
    if (size < 0) reject(context, fmt::format("shape {} has a negative size", to_string(wanted)));
  }
  return only(context.type(0), broadcast_inputs(context, context.shape(0), wanted));
}

std::vector<TypedShape> infer_tile(const OperatorContext& context) {
  Shape shape = context.shape(0);
  const std::vector<int64_t> repeats = known_integers(context, 1, "the list of repeats");
  if (int(repeats.size()) != shape.rank()) {
    reject(context, fmt::format("{} repeats for {} axes", repeats.size(), shape.rank()));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (repeats[size_t(axis)] < 0) reject(context, fmt::format("{} repeats", repeats[size_t(axis)]));
    shape[axis] = saturating_multiply(shape[axis], repeats[size_t(axis)]);
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_pad(const OperatorContext& context) {
  Shape shape = context.shape(0);
  const std::vector<int64_t> pads = known_integers(context, 1, "the padding");
  const std::string mode = context.node().string_or("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    reject_unsupported(context, fmt::format("attribute 'mode' is '{}'", mode),
                       "use constant, reflect or edge");
  }
  if (pads.size() != 2 * size_t(shape.rank())) {
    reject(context, fmt::format("{} pads for {} axes", pads.size(), shape.rank()),
           "a begin and an end for each axis are needed");
  }
  if (context.has(2)) {
    require_same_type(context, 0, 2);
    require_single_element(context, 2);
  }
  constexpr int64_t kLimit = int64_t{1} << 40;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t begin = pads[size_t(axis)], end = pads[size_t(axis + shape.rank())];
    const int64_t size = shape[axis];
    if (std::min(begin, end) < -kLimit || std::max(begin, end) > kLimit) {
      reject(context, fmt::format("padding of {} + {}", begin, end));
    }
    if (mode == "reflect" && std::max(begin, end) > 0 && std::max(begin, end) >= size) {
      reject(context,
             fmt::format("axis {} of size {} cannot be reflected by {}", axis, size, std::max(begin, end)));
    }
    if (size + begin + end < 0 || (mode == "edge" && size == 0 && begin + end > 0)) {
      reject(context, fmt::format("axis {} of size {} cannot be padded by {} + {}", axis, size, begin, end));
    }
    shape[axis] = size + begin + end;
  }
  return only(context.type(0), shape);
}

std::vector<TypedShape> infer_depth_to_space(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape& x = context.shape(0);
  const int64_t block = context.node().int_or("blocksize", 0);
  const std::string mode = context.node().string_or("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    reject(context, fmt::format("attribute 'mode' is '{}'", mode), "use DCR or CRD");
  if (block < 1 || block > (int64_t{1} << 20) || x[1] % (block * block) != 0) {
    reject(context, fmt::format("{} channels do not divide into blocks of {} x {}", x[1], block, block));
  }
  return only(context.type(0), {x[0], x[1] / (block * block), saturating_multiply(x[2], block),
                                saturating_multiply(x[3], block)});
}

std::vector<TypedShape> infer_space_to_depth(const OperatorContext& context) {
  require_rank(context, 0, 4);
  const Shape& x = context.shape(0);
  const int64_t block = context.node().int_or("blocksize", 0);
  if (block < 1 || block > (int64_t{1} << 20) || x[2] % block != 0 || x[3] % block != 0) {
    reject(context, fmt::format("{} does not divide into blocks of {} x {}", to_string(x), block, block));
  }
  return only(context.type(0), {x[0], saturating_multiply(x[1], block * block), x[2] / block, x[3] / block});
}

Shape scaled_shape(const OperatorContext& context, bool crop) {
  Shape shape = context.shape(0);
  const Tensor* scales = context.known(2);
  if (scales == nullptr) {
    reject_unsupported(context, "the scales are not constant: the size of the output depends on the data",
                       "shapes must follow from the shapes of the graph inputs");
  }
  const Tensor* roi = context.known(1);
  if (crop && (roi == nullptr || roi->size() != 2 * shape.rank())) {
    reject(context, "tf_crop_and_resize needs a constant region of two numbers for each axis");
  }
  if (scales->size() != shape.rank()) {
    reject(context, fmt::format("{} scales for {} axes", scales->size(), shape.rank()));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const float scale = float(scales->number_at(axis));
    if (!(scale > 0)) reject(context, fmt::format("a scale of {}", scale));
    const float region = crop ? float(roi->number_at(axis + shape.rank()) - roi->number_at(axis)) : 1;
    const float size = resized_size(shape[axis], scale, region);
    if (!(size >= 0 && size < 0x1p40f))
      reject(context, fmt::format("axis {} would have size {}", axis, size));
    shape[axis] = int64_t(size);
  }
  return shape;
}

void check_resize_modes(const OperatorContext& context) {
  const auto check = [&](const char* attribute, const char* fallback,
                         std::initializer_list<const char*> covered) {
    const std::string value = context.node().string_or(attribute, fallback);
    if (std::find(covered.begin(), covered.end(), value) != covered.end()) return;
    reject_unsupported(context, fmt::format("attribute '{}' is '{}'", attribute, value),
                       fmt::format("use one of {}", fmt::join(covered, ", ")));
  };
  check("mode", "nearest", {"nearest", "linear", "cubic"});
  check("coordinate_transformation_mode", "half_pixel",
        {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"});
  check("nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

std::vector<TypedShape> infer_resize(const OperatorContext& context) {
  check_resize_modes(context);
  const Shape& x = context.shape(0);
  const bool has_scales = context.has(2) && context.shape(2) != Shape{0};
  const bool has_sizes = context.has(3) && context.shape(3) != Shape{0};
  if (has_scales == has_sizes) {
    reject(context, has_scales ? "both scales and sizes are given" : "neither scales nor sizes are given");
  }
  if (has_scales) {
    require_class(context, 2, TypeClass::kFloat);
    const bool crop = context.node().string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    return only(context.type(0), scaled_shape(context, crop));
  }
  const Shape sizes(known_integers(context, 3, "the size"));
  if (sizes.rank() != x.rank()) reject(context, fmt::format("{} sizes for {} axes", sizes.rank(), x.rank()));
  for (int64_t size : sizes) {
    if (size < 0) reject(context, fmt::format("shape {} has a negative size", to_string(sizes)));
  }
  return only(context.type(0), sizes);
}

std::vector<TypedShape> infer_shape(const OperatorContext& context) {
  const int64_t rank = context.shape(0).rank();
  const auto clamped = [&](const char* attribute, int64_t fallback) {
    const int64_t value = context.node().int_or(attribute, fallback);
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const int64_t start = clamped("start", 0), end = clamped("end", rank);
  return only(ElementType::kI64, {std::max<int64_t>(end - start, 0)});
}

std::vector<TypedShape> infer_size(const OperatorContext&) { return only(ElementType::kI64, Shape{}); }

}  // namespace

void add_shape_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kFloat = AttributeKind::kFloat, kString = AttributeKind::kString;
  table.push_back({"", "Reshape", 2, 2, 1, 1, {{"allowzero", kInt}}, infer_reshape});
  table.push_back({"", "Flatten", 1, 1, 1, 1, {{"axis", kInt}}, infer_flatten});
  table.push_back({"", "Transpose", 1, 1, 1, 1, {{"perm", AttributeKind::kInts}}, infer_transpose});
  table.push_back({"", "Squeeze", 1, 2, 1, 1, {}, infer_squeeze});
  table.push_back({"", "Unsqueeze", 2, 2, 1, 1, {}, infer_unsqueeze});
  table.push_back({"", "Expand", 2, 2, 1, 1, {}, infer_expand});
  table.push_back({"", "Tile", 2, 2, 1, 1, {}, infer_tile});
  table.push_back({"", "Pad", 2, 3, 1, 1, {{"mode", kString}}, infer_pad});
  table.push_back(
      {"", "DepthToSpace", 1, 1, 1, 1, {{"blocksize", kInt, true}, {"mode", kString}}, infer_depth_to_space});
  table.push_back({"", "SpaceToDepth", 1, 1, 1, 1, {{"blocksize", kInt, true}}, infer_space_to_depth});
  table.push_back({"",
                   "Resize",
                   1,
                   4,
                   1,
                   1,
                   {{"coordinate_transformation_mode", kString},
                    {"cubic_coeff_a", kFloat},
                    {"exclude_outside", kInt},
                    {"extrapolation_value", kFloat},
                    {"mode", kString},
                    {"nearest_mode", kString}},
                   infer_resize});
  table.push_back({"", "Shape", 1, 1, 1, 1, {{"end", kInt}, {"start", kInt}}, infer_shape});
  table.push_back({"", "Size", 1, 1, 1, 1, {}, infer_size});
}

}  // namespace tilewright
