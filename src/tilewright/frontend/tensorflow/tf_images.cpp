// Operators over whole images: resizing, blocks of pixels to channels and back.
#include <fmt/format.h>

#include "tilewright/frontend/tensorflow/tf_layout.h"

namespace tilewright {
namespace {

// ResizeBilinear gives f32 whatever it reads, ResizeNearestNeighbor what it reads.
// Nearest: position floor(i * scale) by default; half-pixel centres and aligned corners round to the nearest,
// halves up.
void emit_resize(TfOperation& operation, const std::string& mode) {
  const TfNode& node = operation.node();
  const TfLayout layout(node);
  const std::vector<int64_t> sizes = operation.integers(1, "sizes");
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) invalid_node("needs two sizes of 1 or more");
  ValueId x = to_channels_first(operation, layout, operation.input(0));
  if (mode == "linear") x = as_type(operation, x, ElementType::kF32);
  const Shape from = operation.value(x).shape;
  const bool aligned = node.bool_or("align_corners", false);
  const bool centred = node.bool_or("half_pixel_centers", false);
  Attributes attributes = {{"mode", mode},
                           {"coordinate_transformation_mode", std::string(aligned   ? "align_corners"
                                                                          : centred ? "half_pixel"
                                                                                    : "asymmetric")}};
  if (mode == "nearest") {
    attributes["nearest_mode"] = std::string(aligned || centred ? "round_prefer_ceil" : "floor");
  }
  const ValueId target = operation.constant("sizes", int64_tensor({from[0], from[1], sizes[0], sizes[1]}));
  const ValueId y = operation.emit("Resize", {x, kNoValue, kNoValue, target}, std::move(attributes));
  operation.output(0, from_channels_first(operation, layout, y));
}

void emit_blocks(TfOperation& operation, const char* op) {
  const TfNode& node = operation.node();
  const TfLayout layout(node);
  Attributes attributes = {{"blocksize", node.int_or("block_size", 0)}};
  if (std::string(op) == "DepthToSpace") attributes["mode"] = std::string("DCR");
  const ValueId x = to_channels_first(operation, layout, operation.input(0));
  operation.output(0, from_channels_first(operation, layout, operation.emit(op, {x}, std::move(attributes))));
}

}  // namespace

std::vector<TfTableEntry> tf_image_converters() {
  return {{"ResizeBilinear", [](TfOperation& operation) { emit_resize(operation, "linear"); }},
          {"ResizeNearestNeighbor", [](TfOperation& operation) { emit_resize(operation, "nearest"); }},
          {"DepthToSpace", [](TfOperation& operation) { emit_blocks(operation, "DepthToSpace"); }},
          {"SpaceToDepth", [](TfOperation& operation) { emit_blocks(operation, "SpaceToDepth"); }}};
}

}  // namespace tilewright
