// Names for files that are written next to their destination until they are complete.
#pragma once

#include <filesystem>

namespace tilewright {

// `path` with a dot and six random letters appended, a name that nothing has yet.
std::filesystem::path unused_path_beside(const std::filesystem::path& path);

}  // namespace tilewright
