// A folder that exists for the life of the object.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "tilewright/base/file.h"

namespace tilewright {

class TemporaryFolder {
 public:
  // PARENT/NAME-PROCESS-COUNTER. Errors (invalid input): it cannot be made.
  TemporaryFolder(const std::filesystem::path& parent, const std::string& name) {
    static std::atomic<int> counter{0};
    path_ = parent / fmt::format("{}-{}-{}", name, ::getpid(), counter++);
    create_folder(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tilewright
