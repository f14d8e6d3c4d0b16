// Names of files inside files. The author of a program, a bundle or a study may not be trusted, so the files
// it names must lie inside its own folder, unless the user allows more (--allow-outside).
#pragma once

#include <filesystem>

namespace tilewright {

enum class Confinement { kInside, kNone };

// `folder` / `name`, for reading or writing. Errors (invalid input), unless the confinement is kNone: `name`,
// which need not exist, leads outside `folder` - as an absolute path, by "..", or through symbolic links - or
// through a dangling link.
std::filesystem::path confined_path(const std::filesystem::path& folder, const std::filesystem::path& name,
                                    Confinement confinement = Confinement::kInside);

}  // namespace tilewright
