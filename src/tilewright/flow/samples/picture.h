// What is done to the pixels of a picture before they become samples. A picture is [height, width, channels],
// u8 or u16; docs/guides/samples.md defines every step.
#pragma once

#include <cstdint>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

enum class Colour { kGrey, kRgb, kBgr };
constexpr int64_t channels_of(Colour colour) { return colour == Colour::kGrey ? 1 : 3; }

// From grey or RGB. Grey of colours is the luma of ITU-R BT.601 in 16 bits of fraction, rounded.
Tensor to_colour(const Tensor& picture, Colour colour);

// Bilinear: every new pixel is the mean of those below a triangle of the width of two new pixels, at least of
// two old ones. Rows first, then columns, each rounded to integers; the weights of 8 bits have 22 bits of
// fraction, those of 16 bits are doubles. The same pixels as Pillow's.
Tensor resize_picture(const Tensor& picture, int64_t height, int64_t width);

// The part in the middle. If an odd number of rows or columns is left out, the smaller half comes first where
// it is even, the larger where it is odd, as torchvision rounds. The picture is at least as large.
Tensor crop_picture(const Tensor& picture, int64_t height, int64_t width);

}  // namespace tilewright
