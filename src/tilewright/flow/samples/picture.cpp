// The weights of the triangle are the ones of Pillow's ImagingResample, which is what training pipelines use.
#include "tilewright/flow/samples/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tilewright {
namespace {

constexpr int kWeightBits = 22;

// What a new pixel takes of the old ones from `first` on.
template <typename Weight>
struct PixelWeights {
  int64_t first = 0;
  std::vector<Weight> weights;
};

template <typename Weight>
std::vector<PixelWeights<Weight>> pixel_weights(int64_t old_size, int64_t new_size) {
  const double step = double(old_size) / double(new_size);
  const double reach = std::max(step, 1.0);  // of the triangle to each side, in old pixels
  std::vector<PixelWeights<Weight>> result;
  for (int64_t i = 0; i < new_size; ++i) {
    const double centre = (double(i) + 0.5) * step;
    const int64_t first = std::max<int64_t>(int64_t(centre - reach + 0.5), 0);
    const int64_t end = std::min<int64_t>(int64_t(centre + reach + 0.5), old_size);
    std::vector<double> shares;
    double sum = 0;
    for (int64_t x = first; x < end; ++x) {
      const double distance = std::abs((double(x) - centre + 0.5) * (1.0 / reach));
      shares.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
      sum += shares.back();
    }
    PixelWeights<Weight> pixel{first, {}};
    for (double share : shares) {
      if (sum != 0.0) share /= sum;
      pixel.weights.push_back(std::is_integral_v<Weight> ? Weight(0.5 + share * double(1 << kWeightBits))
                                                         : Weight(share));
    }
    result.push_back(std::move(pixel));
  }
  return result;
}

template <typename T, typename Weight>
T weighted(const T* pixels, int64_t stride, const std::vector<Weight>& weights) {
  Weight sum = std::is_integral_v<Weight> ? Weight(1 << (kWeightBits - 1)) : Weight(0);
  for (const Weight weight : weights) {
    sum += Weight(*pixels) * weight;
    pixels += stride;
  }
  if constexpr (std::is_integral_v<Weight>) {
    return T(std::clamp<Weight>(sum >> kWeightBits, 0, std::numeric_limits<T>::max()));
  } else {
    return T(std::clamp<double>(std::floor(sum + 0.5), 0, std::numeric_limits<T>::max()));
  }
}

// Along axis 0 or 1.
template <typename T, typename Weight>
Tensor resize_axis(const Tensor& picture, int axis, int64_t new_size) {
  if (picture.shape()[axis] == new_size) return picture;
  Shape shape = picture.shape();
  shape[axis] = new_size;
  Tensor result(picture.type(), shape);
  const std::vector<PixelWeights<Weight>> pixels = pixel_weights<Weight>(picture.shape()[axis], new_size);
  const int64_t outer = shape.count(0, axis), inner = shape.count(axis + 1, 3);
  const T* from = picture.data<T>().data();
  T* to = result.mutable_data<T>().data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const PixelWeights<Weight>& pixel : pixels) {
      const T* start = from + (o * picture.shape()[axis] + pixel.first) * inner;
      for (int64_t i = 0; i < inner; ++i) *to++ = weighted(start + i, inner, pixel.weights);
    }
  }
  return result;
}

template <typename T>
Tensor recoloured(const Tensor& picture, Colour colour) {
  const int64_t pixels = picture.size() / picture.shape()[2], channels = channels_of(colour);
  const bool is_grey = picture.shape()[2] == 1;
  Tensor result(picture.type(), Shape{picture.shape()[0], picture.shape()[1], channels});
  const T* from = picture.data<T>().data();
  T* to = result.mutable_data<T>().data();
  for (int64_t i = 0; i < pixels; ++i) {
    const T red = *from, green = is_grey ? red : from[1], blue = is_grey ? red : from[2];
    from += is_grey ? 1 : 3;
    if (channels == 1) {
      *to++ = T((uint64_t{red} * 19595 + uint64_t{green} * 38470 + uint64_t{blue} * 7471 + 0x8000) >> 16);
    } else {
      *to++ = colour == Colour::kRgb ? red : blue;
      *to++ = green;
      *to++ = colour == Colour::kRgb ? blue : red;
    }
  }
  return result;
}

bool is_deep(const Tensor& picture) { return picture.type() == ElementType::kU16; }

int64_t crop_start(int64_t left_out) { return left_out / 2 + (left_out % 4 == 3); }

}  // namespace

Tensor to_colour(const Tensor& picture, Colour colour) {
  if (picture.shape()[2] == channels_of(colour) && colour != Colour::kBgr) return picture;
  return is_deep(picture) ? recoloured<uint16_t>(picture, colour) : recoloured<uint8_t>(picture, colour);
}

Tensor resize_picture(const Tensor& picture, int64_t height, int64_t width) {
  if (is_deep(picture))
    return resize_axis<uint16_t, double>(resize_axis<uint16_t, double>(picture, 1, width), 0, height);
  return resize_axis<uint8_t, int32_t>(resize_axis<uint8_t, int32_t>(picture, 1, width), 0, height);
}

Tensor crop_picture(const Tensor& picture, int64_t height, int64_t width) {
  const Shape& shape = picture.shape();
  TILEWRIGHT_CHECK(height <= shape[0] && width <= shape[1], "a picture is cropped to more than it has");
  const int64_t top = crop_start(shape[0] - height), left = crop_start(shape[1] - width);
  Tensor result(picture.type(), Shape{height, width, shape[2]});
  const size_t pixel = size_t(shape[2] * bit_width(picture.type()) / 8);
  for (int64_t row = 0; row < height; ++row) {
    std::memcpy(result.mutable_bytes().data() + size_t(row * width) * pixel,
                picture.bytes().data() + size_t((top + row) * shape[1] + left) * pixel,
                size_t(width) * pixel);
  }
  return result;
}

}  // namespace tilewright
