// Recognises file systems on other machines. SQLite's locks and shared memory do not work there, so databases
// of records are refused on them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tilewright::tune {

// The name of the network file system that has statfs type `magic`, empty for a local one. `type` is its name
// in the mount table ("fuse.sshfs"), which alone tells file systems in user space apart.
std::string network_file_system(int64_t magic, const std::string& type);

// Of the place where `path` lies, or would.
std::string network_file_system_of(const std::filesystem::path& path);

}  // namespace tilewright::tune
