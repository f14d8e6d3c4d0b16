// libpng reports errors by a jump. Between setjmp and that jump stand only calls of libpng, in functions
// without objects that would have to be destroyed.
#include "tilewright/flow/samples/png_file.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace tilewright {
namespace {

// What deflate can make of a byte at most; a header that claims more is damaged.
constexpr size_t kMostPngInflation = 1040;

struct PngReading {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const std::byte* at = nullptr;
  size_t left = 0;
  std::array<char, 200> problem{};

  PngReading() = default;
  PngReading(const PngReading&) = delete;
  PngReading& operator=(const PngReading&) = delete;
  ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void stop_png(png_structp png, png_const_charp message) {
  auto* reading = static_cast<PngReading*>(png_get_error_ptr(png));
  std::strncpy(reading->problem.data(), message, reading->problem.size() - 1);
  png_longjmp(png, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

void give_png_bytes(png_structp png, png_bytep target, size_t count) {
  auto* reading = static_cast<PngReading*>(png_get_io_ptr(png));
  if (count > reading->left) png_error(png, "it is truncated");
  std::memcpy(target, reading->at, count);
  reading->at += count;
  reading->left -= count;
}

bool read_png_header(PngReading& reading) {
  if (setjmp(png_jmpbuf(reading.png))) return false;
  png_set_read_fn(reading.png, &reading, give_png_bytes);
  png_read_info(reading.png, reading.info);
  png_set_expand(reading.png);
  if (std::endian::native == std::endian::little) png_set_swap(reading.png);
  png_set_interlace_handling(reading.png);
  png_read_update_info(reading.png, reading.info);
  return true;
}

bool read_png_rows(PngReading& reading, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reading.png))) return false;
  png_read_image(reading.png, rows);
  png_read_end(reading.png, nullptr);
  return true;
}

[[noreturn]] void png_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable PNG picture: " + message);
}

// The channels without the last one, which has to be opaque.
template <typename T>
Tensor without_alpha(const Tensor& picture) {
  const int64_t channels = picture.shape()[2], kept = channels - 1;
  Tensor result(picture.type(), Shape{picture.shape()[0], picture.shape()[1], kept});
  const std::span<const T> from = picture.data<T>();
  const std::span<T> to = result.mutable_data<T>();
  for (int64_t pixel = 0; pixel * channels < picture.size(); ++pixel) {
    if (from[size_t(pixel * channels + kept)] != T(-1)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("pixel {}, {} (row, column) is transparent", pixel / picture.shape()[1],
                              pixel % picture.shape()[1]),
                  "draw the picture on a background and save it without an alpha channel");
    }
    std::copy_n(&from[size_t(pixel * channels)], kept, &to[size_t(pixel * kept)]);
  }
  return result;
}

}  // namespace

Tensor parse_png(std::span<const std::byte> bytes) {
  PngReading reading;
  reading.at = bytes.data();
  reading.left = bytes.size();
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, stop_png, ignore_png_warning);
  if (reading.png != nullptr) reading.info = png_create_info_struct(reading.png);
  if (reading.info == nullptr) png_fail("there is no memory for it");
  if (!read_png_header(reading)) png_fail(reading.problem.data());
  const int64_t height = png_get_image_height(reading.png, reading.info);
  const int64_t width = png_get_image_width(reading.png, reading.info);
  const int64_t channels = png_get_channels(reading.png, reading.info);
  if (height * width > kMostPixels)
    png_fail(fmt::format("it has {} x {} pixels, over {}", height, width, kMostPixels));
  // One bit per pixel is the least that a file holds of it.
  if (size_t(height * width) / 8 / kMostPngInflation > bytes.size()) png_fail("it is truncated");
  const bool deep = png_get_bit_depth(reading.png, reading.info) == 16;
  Tensor picture(deep ? ElementType::kU16 : ElementType::kU8, Shape{height, width, channels});
  const size_t row_bytes = size_t(width * channels) * (deep ? 2 : 1);
  TILEWRIGHT_CHECK(png_get_rowbytes(reading.png, reading.info) == row_bytes, "a PNG row has another size");
  std::vector<png_bytep> rows;
  for (int64_t row = 0; row < height; ++row) {
    rows.push_back(reinterpret_cast<png_bytep>(picture.mutable_bytes().data()) + size_t(row) * row_bytes);
  }
  if (!read_png_rows(reading, rows.data())) png_fail(reading.problem.data());
  if (channels % 2 == 1) return picture;
  return deep ? without_alpha<uint16_t>(picture) : without_alpha<uint8_t>(picture);
}

}  // namespace tilewright
