// Resizing, and blocks of pixels to channels and back; all of them channels-first.
#include <fmt/format.h>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

using enum TensorLayout;

}  // namespace

void lower_resize(TfliteLowering& l) {
  l.require(2, 1);
  l.require_options();
  const Shape x = l.shape(0);
  const std::vector<int64_t> size = l.constant_integers(1, "sizes");
  if (x.rank() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("resizes {} to {} sizes", to_string(x), size.size()));
  }
  const TfliteOperatorOptions& options = l.options();
  const std::string mapping = options.align_corners        ? "align_corners"
                              : options.half_pixel_centers ? "half_pixel"
                                                           : "asymmetric";
  Attributes attributes = {{"coordinate_transformation_mode", mapping}};
  if (l.op().op == "RESIZE_BILINEAR") {
    attributes["mode"] = std::string("linear");
  } else {
    attributes["mode"] = std::string("nearest");
    // With half-pixel centres TFLite rounds the position down before it takes off the half.
    attributes["nearest_mode"] = std::string(mapping == "asymmetric" ? "floor" : "round_prefer_ceil");
  }
  const ValueId sizes = l.integers_value("sizes", {x[0], x[3], size[0], size[1]});
  const ValueId y =
      l.emit("Resize", {l.value(0, kChannelsFirst), kNoValue, kNoValue, sizes}, std::move(attributes));
  l.finish(0, y, kChannelsFirst);
}

void lower_depth_space(TfliteLowering& l) {
  l.require(1, 1);
  l.require_options();
  const bool to_depth = l.op().op == "SPACE_TO_DEPTH";
  const ValueId y = l.emit(to_depth ? "SpaceToDepth" : "DepthToSpace", {l.value(0, kChannelsFirst)},
                           {{"blocksize", l.options().block_size}});
  l.finish(0, y, kChannelsFirst);
}

}  // namespace tilewright
