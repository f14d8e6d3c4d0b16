// The signatures of the formats. idx has none but its two zero bytes, so it comes last.
#include "tilewright/flow/samples/sample_format.h"

#include <algorithm>
#include <string_view>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"

namespace tilewright {

SampleFormat sample_format(std::span<const std::byte> bytes) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\x93NUMPY")) return SampleFormat::kNpy;
  if (text.starts_with("PK\3\4") || text.starts_with("PK\5\6")) return SampleFormat::kNpz;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return SampleFormat::kPng;
  if (text.starts_with("\xff\xd8\xff")) return SampleFormat::kJpeg;
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WAVE") return SampleFormat::kWav;
  if (is_gzip(bytes) || text.starts_with("\0\0"sv)) return SampleFormat::kIdx;
  return SampleFormat::kUnknown;
}

SampleFormat sample_format(const std::filesystem::path& path) {
  return sample_format(read_file_start(path, kFormatBytes));
}

}  // namespace tilewright
