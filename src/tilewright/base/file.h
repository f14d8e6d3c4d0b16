// Whole-file reading and atomic writing. A file that we write appears complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// The bytes of `path`. Errors (invalid input): missing, a folder, unreadable, larger than `max_bytes`.
std::vector<std::byte> read_file(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 36);
std::string read_text_file(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 30);

// Writes to a temporary file beside `path`, then renames it. Errors (invalid input): not writable, disk full;
// then nothing is left behind.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_text_file(const std::filesystem::path& path, std::string_view text);

// Makes `path` a folder, with those above it; one that is there already stays. Errors (invalid input):
// cannot.
void create_folder(const std::filesystem::path& path);

}  // namespace tilewright
