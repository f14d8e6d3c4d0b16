// Samples made from samples: moved by a pixel, mixed with others.
#pragma once

#include <span>

#include "tilewright/base/random.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {

// Whether a value of this shape is a picture: N x C x height x width, 8 or more each way.
bool is_picture(const Shape& shape);

// Moved by -1, 0 or 1 each way; the border repeats. from and to: of `shape`, a picture.
void shift_picture(std::span<const float> from, const Shape& shape, Random& random, std::span<float> to);

}  // namespace tilewright
