// The list of tests known not to be covered: lines "REASON:" each followed by indented test names.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace tilewright {

// A reason that starts so is about a test that runs and gives other values than the published ones.
inline constexpr const char* kDiffersOnPurpose = "differs on purpose";

// By test name, the reason. Errors (invalid input): a line that is neither, a name listed twice.
std::map<std::string, std::string> read_not_covered(const std::filesystem::path& path);

}  // namespace tilewright
