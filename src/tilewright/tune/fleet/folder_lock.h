// One coordinator at a time on a folder: an advisory lock (flock) that the kernel releases however its holder
// ends, so there is never a stale one to remove.
#pragma once

#include <filesystem>
#include <string>

namespace tilewright::tune {

class FolderLock {
 public:
  // Takes FOLDER/coordinator.lock; `what` names the folder in messages ("study"). Errors (invalid input):
  // another process holds it (says which, where and since when), the file cannot be written, the file system
  // has no locks.
  FolderLock(const std::filesystem::path& folder, const std::string& what);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int fd_ = -1;
};

// The name of this machine, for messages and logs.
std::string host_name();

}  // namespace tilewright::tune
