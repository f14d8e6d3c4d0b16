#include "fuzz/media_files.h"

#include <png.h>
#include <turbojpeg.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright {
namespace {

constexpr int kHeight = 9, kWidth = 7;

std::vector<std::byte> copied(const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

}  // namespace

std::vector<std::byte> small_png(bool deep) {
  std::array<uint16_t, size_t{kHeight} * kWidth * 3> pixels{};
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint16_t(i * 977);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = kWidth;
  image.height = kHeight;
  image.format = deep ? PNG_FORMAT_LINEAR_RGB : PNG_FORMAT_RGB;
  std::array<std::byte, 4096> file{};
  png_alloc_size_t size = file.size();
  png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
  return copied(file.data(), size);
}

std::vector<std::byte> small_jpeg(bool progressive) {
  std::array<unsigned char, size_t{kHeight} * kWidth * 3> pixels{};
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(i * 37);
  tjhandle encoder = tjInitCompress();
  unsigned char* file = nullptr;
  unsigned long size = 0;
  tjCompress2(encoder, pixels.data(), kWidth, 0, kHeight, TJPF_RGB, &file, &size, TJSAMP_420, 80,
              progressive ? TJFLAG_PROGRESSIVE : 0);
  const std::vector<std::byte> bytes = copied(file, size);
  tjFree(file);
  tjDestroy(encoder);
  return bytes;
}

std::vector<std::byte> small_wav() {
  constexpr std::string_view kHead(
      "RIFF\x7c\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0data\x58\0\0\0", 44);
  std::vector<std::byte> bytes = copied(kHead.data(), kHead.size());
  for (int i = 0; i < 88; ++i) bytes.push_back(std::byte(i * 31));
  return bytes;
}

}  // namespace tilewright
