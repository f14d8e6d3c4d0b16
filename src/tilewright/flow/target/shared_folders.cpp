// An installed folder goes before the source tree's, which may be gone or another version.
#include "tilewright/flow/target/shared_folders.h"

#include <cstdlib>
#include <system_error>

namespace tilewright {

SharedFolders find_shared_folders(const std::filesystem::path& prefix,
                                  const std::filesystem::path& source_tree) {
  const auto find = [&](const char* name) {
    std::error_code ignored;
    const std::filesystem::path installed = prefix / "share/tilewright" / name;
    return std::filesystem::exists(installed, ignored) ? installed : source_tree / name;
  };
  return {find("hardware"), find("rtl"), find("dataflows"), find("models")};
}

std::filesystem::path user_cache() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) return std::filesystem::path(cache) / "tilewright";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != 0) return std::filesystem::path(home) / ".cache/tilewright";
  return {};
}

}  // namespace tilewright
