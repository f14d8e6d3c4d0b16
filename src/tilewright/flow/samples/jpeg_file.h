// JPEG pictures as libjpeg-turbo decodes them: the exact integer DCT, smooth upsampling of colours.
#pragma once

#include <cstddef>
#include <span>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// u8 [height, width, channels] with one channel (grey) or three (red, green, blue). The orientation that a
// camera notes is not applied. Errors (invalid input): no JPEG, damaged, truncated, over kMostPixels of
// png_file.h; (unsupported) CMYK.
Tensor parse_jpeg(std::span<const std::byte> bytes);

}  // namespace tilewright
