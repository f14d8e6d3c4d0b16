// Weights that an ONNX file keeps in separate files (TensorProto.external_data).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

// Where the bytes of one tensor lie; `length` is absent when the file leaves it out.
struct ExternalLocation {
  std::string location;  // relative to the folder of the model
  int64_t offset = 0;
  std::optional<int64_t> length;
};

enum class ExternalStatus { kFound, kMissingFile, kRefused };

class ExternalData {
 public:
  // `folder` is the folder of the model file; an empty one means that the model came from memory.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Whether `size_bytes` can be read at `location`; nothing is allocated before this is known. kMissingFile:
  // the file is not there. kRefused: it lies outside the model's folder, is too short, or another length
  // is stated. `message` then says so, naming the file.
  ExternalStatus find(const ExternalLocation& location, uint64_t size_bytes, std::string& message);
  // Fills `destination` after find() gave kFound for its size; false when the file cannot be read after all.
  bool read(const ExternalLocation& location, std::span<std::byte> destination);

 private:
  struct File {
    std::filesystem::path path;
    uint64_t size = 0;
    std::string refused;  // why it must not be read
    bool missing = false;
  };
  const File& locate(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;
};

}  // namespace tilewright
