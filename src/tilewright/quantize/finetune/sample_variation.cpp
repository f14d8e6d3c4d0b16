// Plane by plane, all planes alike.
#include "tilewright/quantize/finetune/sample_variation.h"

#include <algorithm>

namespace tilewright {

bool is_picture(const Shape& shape) { return shape.rank() == 4 && shape[2] >= 8 && shape[3] >= 8; }

void shift_picture(std::span<const float> from, const Shape& shape, Random& random, std::span<float> to) {
  const int64_t down = random.between(-1, 1), right = random.between(-1, 1);
  const int64_t height = shape[2], width = shape[3];
  size_t next = 0;
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    for (int64_t y = 0; y < height; ++y) {
      const int64_t row = (plane * height + std::clamp<int64_t>(y + down, 0, height - 1)) * width;
      for (int64_t x = 0; x < width; ++x)
        to[next++] = from[size_t(row + std::clamp<int64_t>(x + right, 0, width - 1))];
    }
  }
}

}  // namespace tilewright
