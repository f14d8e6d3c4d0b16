// The folder of hardware presets: one YAML file each, which says what it describes in a line `kind: array`.
// Without that line it is an overlay.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright {

// Names (file stems) of the presets of one kind, sorted; none when there is no such folder.
std::vector<std::string> preset_names(const std::filesystem::path& folder, const std::string& kind);

}  // namespace tilewright
