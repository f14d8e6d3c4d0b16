// The container of a .twb bundle: named sections of bytes, each with its checksum.
//
//   "TWBUNDLE", u32 version, u32 section count, then per section: u32 name length, name, u64 offset, u64
//   size, u32 CRC-32 of the content; u32 CRC-32 of everything before it; then the contents. Little-endian.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

using Sections = std::map<std::string, std::vector<std::byte>>;

std::vector<std::byte> format_container(const Sections& sections);
// Errors (invalid input): not a bundle, another version, truncated, or a section whose checksum does not
// match.
Sections parse_container(std::span<const std::byte> bytes);

// Whether the file begins like a bundle; false for one that cannot be read.
bool is_container(const std::filesystem::path& path);

}  // namespace tilewright
