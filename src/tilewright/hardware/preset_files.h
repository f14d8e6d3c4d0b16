// The folder of hardware presets: one YAML file each, which says what it describes in a line `kind: array`.
// Without that line it is an overlay.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {

// Names (file stems) of the presets of one kind, sorted; none when there is no such folder.
std::vector<std::string> preset_names(const std::filesystem::path& folder, const std::string& kind);

// The error (invalid input) that `name` is neither a preset of `kind` ("array") nor a file: it says which
// preset was probably meant, which there are, and whether it is a preset of another kind.
Error no_such_preset(const std::string& name, const std::string& kind, const std::filesystem::path& folder);

}  // namespace tilewright
