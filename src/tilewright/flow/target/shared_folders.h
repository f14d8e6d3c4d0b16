// Where the files lie that come with Tilewright: the library looks for nothing by itself.
#pragma once

#include <filesystem>

namespace tilewright {

struct SharedFolders {
  std::filesystem::path hardware, rtl, dataflows, models;

  std::filesystem::path devices() const { return hardware / "devices"; }
};

}  // namespace tilewright
