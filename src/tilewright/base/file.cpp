// Reads take the stated size as a first guess and go on to the real end, since pipes and /proc files state
// none. Writes go to a temporary file with a random name beside the target, and a rename puts it in place;
// the durable form syncs the file before the rename and the folder after it. Symbolic links stay: what they
// name is written. unused_path.h is implemented here, too.
#include "tilewright/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/unused_path.h"
#include "tilewright/base/words/nearest_word.h"

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

// What a path that is not there was probably meant to be, from the names in its folder.
std::string path_hint(const std::filesystem::path& path) {
  constexpr size_t kMostNames = 10'000;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed))
    return fmt::format("there is no folder '{}'; check the path", folder.string());
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (names.size() < kMostNames) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return did_you_mean(path.filename().string(), names) + "check the path";
}

// Opens without waiting: a named pipe that nobody writes to would hold us up.
int open_to_read(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno != ENOENT) fail("open", path);
  if (fd < 0) {
    const std::string hint = path_hint(path);
    errno = ENOENT;
    fail("open", path, hint);
  }
  return fd;
}

// Folders, devices and named pipes are not read. A pipe that the caller handed over open is.
void require_readable(int fd, const struct stat& info, const std::filesystem::path& path) {
  const std::string name = path.string();
  const bool handed_over = name == "/dev/stdin" || name.starts_with("/dev/fd/");
  if (S_ISDIR(info.st_mode)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("cannot read '{}': it is a folder", name));
  }
  if (!S_ISREG(info.st_mode) && !(S_ISFIFO(info.st_mode) && handed_over)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("cannot read '{}': it is not a regular file", name),
                "devices and named pipes cannot be read; read a pipe as /dev/stdin");
  }
  if (::fcntl(fd, F_SETFL, 0) != 0) fail("read", path);
}

// The first `max_bytes` bytes; `more`: whether there are others.
template <typename Container>
Container read_start(const std::filesystem::path& path, size_t max_bytes, bool& more) {
  const Descriptor file{open_to_read(path)};
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) fail("read", path);
  require_readable(file.fd, info, path);
  Container content;
  content.resize(std::min(size_t(info.st_size), max_bytes));
  size_t used = 0;
  while (true) {  // one byte more than wanted; grows, so that pipes and /proc files are read whole
    if (used == content.size()) content.resize(std::min(max_bytes + 1, used + (size_t{1} << 16)));
    ssize_t got = ::read(file.fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    used += size_t(got);
    if (got == 0 || used > max_bytes) break;
  }
  more = used > max_bytes;
  content.resize(std::min(used, max_bytes));
  return content;
}

template <typename Container>
Container read_all(const std::filesystem::path& path, size_t max_bytes) {
  bool more = false;
  Container content = read_start<Container>(path, max_bytes, more);
  if (more) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' is larger than the {} bytes read here", path.string(), max_bytes));
  }
  return content;
}

// Where a path leads.
struct Destination {
  std::filesystem::path path;  // no symbolic link
  bool of_the_system = false;  // by a link such as /dev/stdout or one in /proc
  int descriptor = -1;         // that this process has open, if the path is a name of one
};

// Folders of devices and processes, whose links are not ours to replace.
bool is_of_the_system(const std::filesystem::path& folder) {
  const auto lies_in = [&](const std::filesystem::path& outer) {
    return std::mismatch(outer.begin(), outer.end(), folder.begin(), folder.end()).first == outer.end();
  };
  return lies_in("/proc") || (lies_in("/dev") && !lies_in("/dev/shm"));
}

Destination follow_links(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as the system follows
  Destination result{.path = path};
  std::error_code failed;
  for (int links = 0; std::filesystem::is_symlink(result.path, failed); ++links) {
    if (links == kMostLinks) {
      errno = ELOOP;
      fail("write", path);
    }
    const std::filesystem::path above = result.path.parent_path();
    const std::filesystem::path folder = std::filesystem::canonical(above.empty() ? "." : above, failed);
    const std::string name = result.path.filename().string();
    result.of_the_system = result.of_the_system || is_of_the_system(folder);
    if (folder == fmt::format("/proc/{}/fd", ::getpid())) {
      std::from_chars(name.data(), name.data() + name.size(), result.descriptor);
      break;
    }
    result.path = above / std::filesystem::read_symlink(result.path, failed);
  }
  return result;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_all<std::vector<std::byte>>(path, max_bytes);
}

std::vector<std::byte> read_file_start(const std::filesystem::path& path, size_t bytes) {
  bool more = false;
  return read_start<std::vector<std::byte>>(path, bytes, more);
}

std::string read_text_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_all<std::string>(path, max_bytes);
}

FileWriter::FileWriter(std::filesystem::path path) : path_(std::move(path)) {
  const Destination destination = follow_links(path_);
  std::error_code ignored;
  // A device such as /dev/full cannot be replaced by a rename, nor can what a link of the system's names:
  // they are written to directly.
  direct_ = destination.of_the_system ||
            (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored));
  if (destination.descriptor >= 0) {  // another one of the same file, to go on where others ended
    target_ = path_.string();
    fd_ = ::fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 0);
  } else if (direct_) {
    target_ = path_.string();
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    path_ = destination.path;
    do {
      target_ = unused_path_beside(path_).string();
      fd_ = ::open(target_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EEXIST);
  }
  if (fd_ < 0) fail("write", path_, "does the folder exist, and is it writable?");
}

FileWriter::~FileWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!direct_) ::unlink(target_.c_str());
}

void FileWriter::fail_to_write() {
  const int reason = errno;
  ::close(std::exchange(fd_, -1));
  if (!direct_) ::unlink(target_.c_str());
  errno = reason;
  fail("write", path_, "the old file, if any, is unchanged");
}

void FileWriter::append(std::span<const std::byte> bytes) {
  constexpr size_t kBuffer = size_t{1} << 18;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBuffer) flush();
}

void FileWriter::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t put = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_to_write();
    done += size_t(put);
  }
  buffer_.clear();
}

void FileWriter::take_place() {
  if (!direct_) {
    struct stat replaced {};  // whose mode the new file keeps; without one it has what the umask leaves
    if (::stat(path_.c_str(), &replaced) == 0) ::fchmod(fd_, replaced.st_mode & 0777);
    if (::rename(target_.c_str(), path_.c_str()) != 0) fail_to_write();
  }
  ::close(std::exchange(fd_, -1));
}

void FileWriter::commit() {
  flush();
  take_place();
}

void FileWriter::commit_durably() {
  flush();
  if (!direct_ && ::fsync(fd_) != 0) fail_to_write();
  take_place();
  const std::filesystem::path above = path_.parent_path();
  const Descriptor folder{::open(above.empty() ? "." : above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // EINVAL: a file system that cannot, and need not, sync folders.
  if (folder.fd < 0 || (::fsync(folder.fd) != 0 && errno != EINVAL)) fail("sync the folder of", path_);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  FileWriter writer(path);
  writer.append(bytes);
  writer.commit();
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

void write_text_file_durably(const std::filesystem::path& path, std::string_view text) {
  FileWriter writer(path);
  writer.append(text);
  writer.commit_durably();
}

std::filesystem::path unused_path_beside(const std::filesystem::path& path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string name;
  struct stat there {};
  do {
    name = path.string() + ".";
    for (int i = 0; i < 6; ++i) name += kLetters[random() % kLetters.size()];
  } while (::lstat(name.c_str(), &there) == 0);
  return name;
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
                "give the path of a writable folder");
  }
}

}  // namespace tilewright
