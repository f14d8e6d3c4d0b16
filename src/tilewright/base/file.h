// Whole-file reading and atomic writing. A file that we write appears complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// The bytes of `path`. Errors (invalid input): missing, a folder, a device or a named pipe, unreadable,
// larger than `max_bytes`. A pipe that is open already, as /dev/stdin or /dev/fd/N, is read to its end.
std::vector<std::byte> read_file(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 36);
// Its first `bytes` bytes, or all of them if it has fewer; reads at most one byte more. Errors: the
// same.
std::vector<std::byte> read_file_start(const std::filesystem::path& path, size_t bytes);
std::string read_text_file(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 30);

// A file written piece by piece: to a temporary file next to `path`, which replaces it at commit(). Without
// commit nothing is left behind. Errors (invalid input) of all: not writable, disk full. Devices are written
// directly; for a symbolic link, the file that it names is written.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text.data(), text.size()))); }
  void commit();
  // The same, and the file also survives a loss of power: waits for the disk.
  void commit_durably();

 private:
  void flush();
  void take_place();
  [[noreturn]] void fail_to_write();

  std::filesystem::path path_;
  std::string target_;
  bool direct_ = false;
  int fd_ = -1;
  std::vector<std::byte> buffer_;
};

// The same in one go.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_text_file(const std::filesystem::path& path, std::string_view text);
void write_text_file_durably(const std::filesystem::path& path, std::string_view text);

// Makes the folder `path` and its parents; an existing one stays. Errors (invalid input): it cannot be made.
void create_folder(const std::filesystem::path& path);

}  // namespace tilewright
