// What a file of samples is, by its first bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tilewright {

enum class SampleFormat { kUnknown, kNpy, kIdx, kNpz, kPng, kJpeg, kWav };

constexpr size_t kFormatBytes = 12;  // that tell it
SampleFormat sample_format(std::span<const std::byte> bytes);
// Of a file. Errors (invalid input): those of reading.
SampleFormat sample_format(const std::filesystem::path& path);

constexpr bool is_picture(SampleFormat format) {
  return format == SampleFormat::kPng || format == SampleFormat::kJpeg;
}
constexpr bool is_media(SampleFormat format) { return is_picture(format) || format == SampleFormat::kWav; }

}  // namespace tilewright
