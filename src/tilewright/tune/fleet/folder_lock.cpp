// The file's content, who holds it, is for the message alone; the lock itself is the kernel's.
#include "tilewright/tune/fleet/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"

namespace tilewright::tune {
namespace {

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

[[noreturn]] void refuse_lock(const std::filesystem::path& folder, const std::filesystem::path& file,
                              const std::string& what, int reason) {
  if (reason != EWOULDBLOCK) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cannot lock '{}': {}", file.string(), std::strerror(reason)),
                "the folder must be on a file system with locks");
  }
  std::string holder = read_text_file(file, 4096);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("the {} '{}' is in use by {}", what, folder.string(),
                          holder.empty() ? "another process" : holder),
              "wait for it, end it, or use another folder");
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& what) {
  create_folder(folder);
  const std::filesystem::path file = folder / "coordinator.lock";
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cannot write '{}': {}", file.string(), std::strerror(errno)),
                "is the folder writable?");
  }
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(fd_);
    refuse_lock(folder, file, what, reason);
  }
  const std::string holder = fmt::format("process {} on {} since {}\n", ::getpid(), host_name(), now_text());
  // A full disk leaves the name out; the lock holds all the same.
  if (::ftruncate(fd_, 0) == 0) {
    const ssize_t ignored = ::write(fd_, holder.data(), holder.size());
    (void)ignored;
  }
}

FolderLock::~FolderLock() { ::close(fd_); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace tilewright::tune
