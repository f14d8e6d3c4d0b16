// Names for what is written beside its place until it is complete.
#pragma once

#include <filesystem>

namespace tilewright {

// `path` with a dot and six random letters behind it, which nothing has as its name yet.
std::filesystem::path unused_path_beside(const std::filesystem::path& path);

}  // namespace tilewright
