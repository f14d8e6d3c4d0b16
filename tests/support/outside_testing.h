// The folder of real models and data that the tests of label `outside` and some figures read in place. Its
// place is the environment variable TILEWRIGHT_OUTSIDE, read when they run: the build knows nothing beside
// the clone.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace tilewright {

// $TILEWRIGHT_OUTSIDE, or a path that does not exist.
inline std::filesystem::path outside_folder() {
  const char* folder = std::getenv("TILEWRIGHT_OUTSIDE");
  return folder != nullptr && *folder != '\0' ? folder : "TILEWRIGHT_OUTSIDE-is-not-set";
}
inline std::filesystem::path outside_models() { return outside_folder() / "models"; }

}  // namespace tilewright
