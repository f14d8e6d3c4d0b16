// Names of files inside files. Whoever wrote a program, a bundle or a study need not be trusted, so what it
// names stays inside the folder that it lies in, unless the user allows more (--allow-outside).
#pragma once

#include <filesystem>

namespace tilewright {

enum class Confinement { kInside, kNone };

// `folder` / `name`, for reading or writing. Errors (invalid input), unless the confinement is kNone: `name`,
// which need not exist, leads out of `folder` - as an absolute path, by "..", or over symbolic links - or
// over a link that leads nowhere.
std::filesystem::path confined_path(const std::filesystem::path& folder, const std::filesystem::path& name,
                                    Confinement confinement = Confinement::kInside);

}  // namespace tilewright
