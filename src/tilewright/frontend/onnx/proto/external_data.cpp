// Each file is located and checked to lie in the model's folder once. Sizes are held against the file before
// the caller allocates anything. A file is open only while it is read: models may have thousands of them.
#include "tilewright/frontend/onnx/proto/external_data.h"

#include <fmt/format.h>

#include <fstream>

#include "tilewright/base/confined_path.h"
#include "tilewright/base/error.h"

namespace tilewright {
namespace fs = std::filesystem;

const ExternalData::File& ExternalData::locate(const std::string& location) {
  const auto [found, is_new] = files_.try_emplace(location);
  File& file = found->second;
  if (!is_new) return file;

  if (location.empty() || location.find('\0') != std::string::npos) {
    file.refused = "has no usable location";
  } else if (folder_.empty()) {
    file.refused = "cannot be found: the model was not read from a folder";
  }
  if (!file.refused.empty()) return file;

  std::error_code error;
  try {
    file.path = confined_path(folder_, location);
  } catch (const Error&) {
    file.refused = "lies outside the model's folder";
    return file;
  }
  file.missing = !fs::exists(file.path, error) || error;
  if (file.missing) return file;
  if (!fs::is_regular_file(file.path, error)) {
    file.refused = "is not a file";
    return file;
  }
  file.size = fs::file_size(file.path, error);
  if (error || !std::ifstream(file.path, std::ios::binary)) file.refused = "cannot be opened";
  return file;
}

ExternalStatus ExternalData::find(const ExternalLocation& location, uint64_t size_bytes,
                                  std::string& message) {
  const File& file = locate(location.location);
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
  std::ifstream stream(locate(location.location).path, std::ios::binary);
  stream.seekg(std::streamoff(location.offset));
  stream.read(reinterpret_cast<char*>(destination.data()), std::streamsize(destination.size()));
  return stream && size_t(stream.gcount()) == destination.size();
}

}  // namespace tilewright
