// The size of an axis after a Resize by scales, shared by shape inference and every implementation of the
// operator.
#pragma once

#include <cmath>
#include <cstdint>

namespace tilewright {

// Elements that a Resize by `scale` makes of `size` elements, rounded down. In float32, like ONNX Runtime:
// 10 * 0.7f is 7. region: the share of the axis that tf_crop_and_resize keeps, 1 for the other modes.
// Arguments that are negative or not finite give such results.
inline float resized_size(int64_t size, float scale, float region = 1) {
  return std::floor(float(size) * (scale * region));
}

}  // namespace tilewright
