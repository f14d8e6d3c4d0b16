#include "tilewright/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Closes the descriptor on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, const std::string& hint = {}) {
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("cannot {} '{}': {}", what, path.string(), std::strerror(errno)), hint);
}

template <typename Container>
Container read_all(const std::filesystem::path& path, size_t max_bytes) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) fail("open", path);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) fail("read", path);
  if (S_ISDIR(info.st_mode)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("cannot read '{}': it is a folder", path.string()));
  }
  Container content;
  if (info.st_size > 0 && size_t(info.st_size) <= max_bytes) content.resize(size_t(info.st_size));
  size_t used = 0;
  while (true) {  // grows, so that pipes and /proc files are read whole as well
    if (used == content.size()) content.resize(std::min(max_bytes + 1, used + (size_t{1} << 16)));
    ssize_t got = ::read(file.fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    used += size_t(got);
    if (used > max_bytes) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("'{}' is larger than the {} bytes read here", path.string(), max_bytes));
    }
  }
  content.resize(used);
  return content;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_all<std::vector<std::byte>>(path, max_bytes);
}

std::string read_text_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_all<std::string>(path, max_bytes);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::error_code ignored;
  // A device such as /dev/stdout cannot be replaced by a rename: write to it directly.
  const bool direct =
      std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  std::string target = direct ? path.string() : path.string() + ".XXXXXX";
  Descriptor file{direct ? ::open(target.c_str(), O_WRONLY | O_CLOEXEC) : ::mkstemp(target.data())};
  if (file.fd < 0) fail("write", path, "is the folder there and writable?");
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = ::write(file.fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int reason = errno;
      if (!direct) ::unlink(target.c_str());
      errno = reason;
      fail("write", path, "the old file, if any, is unchanged");
    }
    done += size_t(put);
  }
  if (direct) return;
  ::fchmod(file.fd, 0644);
  if (::rename(target.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(target.c_str());
    errno = reason;
    fail("write", path);
  }
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

void create_folder(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!failure && !std::filesystem::is_directory(path, failure) && !failure) {
    failure = std::make_error_code(std::errc::not_a_directory);
  }
  if (failure) {
    throw Error(ErrorKind::kInvalidInput,
                "cannot create folder '" + path.string() + "': " + failure.message(),
                "give the path of a folder that can be written");
  }
}

}  // namespace tilewright
