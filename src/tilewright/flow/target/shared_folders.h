// The location of the files that come with Tilewright: presets, Verilog, dataflows and trained models.
#pragma once

#include <filesystem>

namespace tilewright {

struct SharedFolders {
  std::filesystem::path hardware, rtl, dataflows, models;

  std::filesystem::path devices() const { return hardware / "devices"; }
};

// Each folder as it is installed below `prefix` (share/tilewright) or, where it is not, in the source tree.
SharedFolders find_shared_folders(const std::filesystem::path& prefix,
                                  const std::filesystem::path& source_tree);

// Where this user's compiled RTL models are kept; empty where the system names no place.
std::filesystem::path user_cache();

}  // namespace tilewright
