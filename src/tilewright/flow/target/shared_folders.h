// The location of the files that come with Tilewright: the library does not search for them itself.
#pragma once

#include <filesystem>

namespace tilewright {

struct SharedFolders {
  std::filesystem::path hardware, rtl, dataflows, models;

  std::filesystem::path devices() const { return hardware / "devices"; }
};

}  // namespace tilewright
