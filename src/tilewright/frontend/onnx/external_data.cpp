// Each file is located, checked to lie in the model's folder and opened once. Sizes are held against the file
// before the caller allocates anything.
#include "tilewright/frontend/onnx/external_data.h"

#include <fmt/format.h>

#include "tilewright/base/confined_path.h"
#include "tilewright/base/error.h"

namespace tilewright {
namespace fs = std::filesystem;

ExternalData::OpenFile& ExternalData::open(const std::string& location) {
  const auto [found, is_new] = files_.try_emplace(location);
  OpenFile& file = found->second;
  if (!is_new) return file;

  if (location.empty() || location.find('\0') != std::string::npos) {
    file.refused = "has no usable location";
  } else if (folder_.empty()) {
    file.refused = "cannot be looked for: the model was not read from a folder";
  }
  if (!file.refused.empty()) return file;

  std::error_code error;
  fs::path path;
  try {
    path = confined_path(folder_, location);
  } catch (const Error&) {
    file.refused = "lies outside of the model's folder";
    return file;
  }
  file.missing = !fs::exists(path, error) || error;
  if (file.missing) return file;
  if (!fs::is_regular_file(path, error)) {
    file.refused = "is not a file";
    return file;
  }
  file.size = fs::file_size(path, error);
  file.stream.open(path, std::ios::binary);
  if (error || !file.stream) file.refused = "cannot be opened";
  return file;
}

ExternalStatus ExternalData::find(const ExternalLocation& location, uint64_t size_bytes,
                                  std::string& message) {
  const OpenFile& file = open(location.location);
  const std::string named = fmt::format("external data file '{}'", location.location);
  if (file.missing) {
    message = fmt::format("{} is missing", named);
    return ExternalStatus::kMissingFile;
  }
  if (!file.refused.empty()) {
    message = fmt::format("{} {}", named, file.refused);
    return ExternalStatus::kRefused;
  }
  if (location.length && uint64_t(*location.length) != size_bytes) {
    message = fmt::format("{}: a length of {} is stated, the tensor needs {} bytes", named, *location.length,
                          size_bytes);
    return ExternalStatus::kRefused;
  }
  const uint64_t offset = uint64_t(location.offset);
  if (location.offset < 0 || offset > file.size || file.size - offset < size_bytes) {
    message = fmt::format("{} has {} bytes, the tensor needs {} from offset {}", named, file.size, size_bytes,
                          location.offset);
    return ExternalStatus::kRefused;
  }
  return ExternalStatus::kFound;
}

bool ExternalData::read(const ExternalLocation& location, std::span<std::byte> destination) {
  OpenFile& file = open(location.location);
  file.stream.clear();
  file.stream.seekg(std::streamoff(location.offset));
  file.stream.read(reinterpret_cast<char*>(destination.data()), std::streamsize(destination.size()));
  return size_t(file.stream.gcount()) == destination.size();
}

}  // namespace tilewright
