// PNG pictures as they are stored: no gamma, no colour profile is applied.
#pragma once

#include <cstddef>
#include <span>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// The most pixels of a picture that is read, PNG or JPEG.
constexpr int64_t kMostPixels = int64_t{1} << 27;

// [height, width, channels] with one channel (grey) or three (red, green, blue), u8, or u16 of a file of 16
// bits. Greys of 1, 2 and 4 bits are spread to 0..255, palettes replaced by their colours, an alpha channel
// left out where it is opaque. Errors (invalid input): no PNG, damaged, truncated, over kMostPixels;
// (unsupported) transparent pixels.
Tensor parse_png(std::span<const std::byte> bytes);

}  // namespace tilewright
