// Operators that read a feature map at computed places: GridSample, RoiAlign; and the determinant.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operator_families.h"

namespace tilewright {
namespace {

void require_choice(const OperatorContext& context, const char* attribute, const char* fallback,
                    std::initializer_list<const char*> choices) {
  const std::string value = context.node().string_or(attribute, fallback);
  if (std::ranges::find(choices, value) != choices.end()) return;
  reject_unsupported(context, fmt::format("attribute '{}' is '{}'", attribute, value),
                     fmt::format("'{}' is supported", fallback));
}

std::vector<TypedShape> infer_grid_sample(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  require_same_type(context, 0, 1);
  for (const int i : {0, 1}) {
    if (context.shape(i).rank() == 4) continue;
    reject_unsupported(
        context, fmt::format("{} has shape {}", describe_input(context, i), to_string(context.shape(i))),
        "images of 4 axes are supported");
  }
  const Shape &x = context.shape(0), &grid = context.shape(1);
  if (grid[0] != x[0] || grid[3] != 2) {
    reject(context, fmt::format("the grid {} does not fit the images {}", to_string(grid), to_string(x)),
           "it needs one pair of coordinates per place and the same batch");
  }
  if (x[2] < 1 || x[3] < 1) reject(context, fmt::format("the images {} are empty", to_string(x)));
  require_choice(context, "mode", "bilinear", {"bilinear", "nearest", "bicubic"});
  require_choice(context, "padding_mode", "zeros", {"zeros", "border", "reflection"});
  return only(context.type(0), {x[0], x[1], grid[1], grid[2]});
}

std::vector<TypedShape> infer_roi_align(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  require_same_type(context, 0, 1);
  require_class(context, 2, TypeClass::kIndex);
  require_rank(context, 0, 4);
  require_rank(context, 1, 2);
  const Shape &x = context.shape(0), &rois = context.shape(1);
  if (rois[1] != 4) reject(context, fmt::format("the regions are {}, not [regions,4]", to_string(rois)));
  require_vector(context, 2, rois[0]);
  if (x[2] < 1 || x[3] < 1) reject(context, fmt::format("the images {} are empty", to_string(x)));
  require_choice(context, "mode", "avg", {"avg"});
  require_choice(context, "coordinate_transformation_mode", "half_pixel",
                 {"half_pixel", "output_half_pixel"});
  constexpr int64_t kMost = 4096;
  for (const char* name : {"output_height", "output_width"}) require_integer(context, name, 1, 1, kMost);
  require_integer(context, "sampling_ratio", 0, 0, 64);
  return only(context.type(0), {rois[0], x[1], context.node().int_or("output_height", 1),
                                context.node().int_or("output_width", 1)});
}

std::vector<TypedShape> infer_det(const OperatorContext& context) {
  require_class(context, 0, TypeClass::kFloat);
  const Shape& x = context.shape(0);
  const int rank = x.rank();
  if (rank < 2 || x[rank - 1] != x[rank - 2]) {
    reject(context, fmt::format("{} has shape {}, square matrices are needed", describe_input(context, 0),
                                to_string(x)));
  }
  return only(context.type(0), Shape({x.begin(), x.end() - 2}));
}

}  // namespace

void add_sampling_operators(std::vector<Operator>& table) {
  constexpr auto kInt = AttributeKind::kInt, kFloat = AttributeKind::kFloat, kString = AttributeKind::kString;
  table.push_back({"",
                   "GridSample",
                   2,
                   2,
                   1,
                   1,
                   {{"align_corners", kInt}, {"mode", kString}, {"padding_mode", kString}},
                   infer_grid_sample});
  table.push_back({"",
                   "RoiAlign",
                   3,
                   3,
                   1,
                   1,
                   {{"coordinate_transformation_mode", kString},
                    {"mode", kString},
                    {"output_height", kInt},
                    {"output_width", kInt},
                    {"sampling_ratio", kInt},
                    {"spatial_scale", kFloat}},
                   infer_roi_align});
  table.push_back({"", "Det", 1, 1, 1, 1, {}, infer_det});
}

}  // namespace tilewright
