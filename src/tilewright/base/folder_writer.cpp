// Two folders change places with one system call (RENAME_EXCHANGE). Where a file system has no such call the
// old folder moves aside first: then a kill in between leaves both, under other names.
#include "tilewright/base/folder_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/unused_path.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTitle =
    "# Files that 'tilewright {}' wrote, with digest and size; it replaces no others.";

[[noreturn]] void folder_fail(const std::string& what, const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("cannot {} '{}': {}", what, path.string(), reason));
}

// Digest and size of a file as the manifest has them.
std::string fingerprint(const fs::path& file) {
  const std::string bytes = read_text_file(file);
  return fmt::format("{:016x} {}", fnv1a(bytes), bytes.size());
}

// Everything in a folder that is no folder, by its path in it; links are not followed.
std::map<std::string, fs::file_status> entries(const fs::path& folder) {
  std::map<std::string, fs::file_status> found;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const fs::file_status status = it->symlink_status(failed);
    if (failed) break;
    if (status.type() != fs::file_type::directory)
      found.emplace(it->path().lexically_relative(folder).generic_string(), status);
  }
  if (failed) folder_fail("read the folder", folder, failed.message());
  return found;
}

struct Manifest {
  bool there = false;
  std::string title;
  std::map<std::string, std::string> files;  // fingerprints by path
};

Manifest read_manifest(const fs::path& folder) {
  Manifest manifest;
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(folder / kManifestFile, ignored))) return manifest;
  std::istringstream lines(read_text_file(folder / kManifestFile, size_t{1} << 26));
  manifest.there = true;
  std::getline(lines, manifest.title);
  for (std::string line; std::getline(lines, line);) {
    const size_t path = line.find(' ', line.find(' ') + 1);
    if (path != std::string::npos) manifest.files[line.substr(path + 1)] = line.substr(0, path);
  }
  return manifest;
}

void write_manifest(const fs::path& folder, const std::string& maker, const std::set<std::string>& others) {
  std::string text = fmt::format(fmt::runtime(kTitle), maker) + "\n";
  for (const auto& [path, status] : entries(folder)) {
    if (path == kManifestFile || status.type() != fs::file_type::regular || others.count(path) != 0) continue;
    text += fingerprint(folder / path) + " " + path + "\n";
  }
  write_text_file(folder / kManifestFile, text);
}

std::string join(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? ", " : "") + names[i];
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

// What is in `folder` beside what we wrote. Errors: those of check_folder_target.
std::map<std::string, fs::file_status> additions(const fs::path& folder, const std::string& maker) {
  std::error_code ignored;
  const fs::file_status status = fs::status(folder, ignored);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is not a folder", folder.string()),
                "give a folder that can be created");
  }
  std::map<std::string, fs::file_status> others = entries(folder);
  if (others.empty()) return {};
  const Manifest manifest = read_manifest(folder);
  if (!manifest.there || manifest.title != fmt::format(fmt::runtime(kTitle), maker)) {
    std::vector<std::string> names;
    for (const auto& entry : others) names.push_back(entry.first);
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the folder '{}' holds something that '{}' did not write ({})", folder.string(),
                            maker, join(names)),
                "give another folder, or empty this one");
  }
  others.erase(kManifestFile);
  std::vector<std::string> changed;
  for (const auto& [path, written] : manifest.files) {
    const auto found = others.find(path);
    if (found == others.end()) continue;  // removed
    if (found->second.type() != fs::file_type::regular || fingerprint(folder / path) != written)
      changed.push_back(path);
    others.erase(found);
  }
  if (!changed.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' contains files that '{}' wrote and that were changed afterwards ({})",
                            folder.string(), maker, join(changed)),
                "move these files away to keep them, or remove them; or give another folder");
  }
  return others;
}

// Brings what was added to the old folder into the new one. Hard links, so that it is the same files in both.
void keep(const fs::path& old_folder, const std::map<std::string, fs::file_status>& others,
          const fs::path& folder) {
  std::vector<std::string> taken, strange;
  for (const auto& [path, status] : others) {
    std::error_code failed;
    const fs::path from = old_folder / path, to = folder / path;
    fs::create_directories(to.parent_path(), failed);
    if (fs::exists(fs::symlink_status(to, failed)) || !fs::is_directory(to.parent_path(), failed)) {
      taken.push_back(path);
    } else if (status.type() == fs::file_type::symlink) {
      fs::copy_symlink(from, to, failed);
      if (failed) folder_fail("keep", from, failed.message());
    } else if (status.type() == fs::file_type::regular) {
      fs::create_hard_link(from, to, failed);
      if (failed) fs::copy_file(from, to, failed);  // a file system without links
      if (failed) folder_fail("keep", from, failed.message());
    } else {
      strange.push_back(path);
    }
  }
  if (!taken.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' holds other files under names that are about to be written ({})",
                            old_folder.string(), join(taken)),
                "move them away, or give another folder");
  }
  if (!strange.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' holds something other than files, folders and links ({})",
                            old_folder.string(), join(strange)),
                "move it away, or give another folder");
  }
}

bool same(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::is_symlink(fs::symlink_status(a, failed))) {
    const fs::path to = fs::read_symlink(a, failed);
    return !failed && fs::read_symlink(b, failed) == to && !failed;
  }
  return (fs::equivalent(a, b, failed) && !failed) || fingerprint(a) == fingerprint(b);
}

// Removes the folder that was replaced: of its files those that we wrote and those that are in the new
// folder. What came into it at the last moment stays.
void remove_replaced(const fs::path& replaced, const fs::path& folder) {
  try {
    const Manifest manifest = read_manifest(replaced);
    std::error_code ignored;
    for (const auto& [path, status] : entries(replaced)) {
      const auto ours = manifest.files.find(path);
      const bool known =
          path == kManifestFile ||
          (ours != manifest.files.end() && status.type() == fs::file_type::regular &&
           fingerprint(replaced / path) == ours->second) ||
          (fs::exists(fs::symlink_status(folder / path, ignored)) && same(replaced / path, folder / path));
      if (known) fs::remove(replaced / path, ignored);
    }
    std::vector<fs::path> folders{replaced};
    for (const auto& entry : fs::recursive_directory_iterator(replaced)) folders.push_back(entry.path());
    for (auto it = folders.rbegin(); it != folders.rend(); ++it) ::rmdir(it->c_str());
  } catch (const std::exception&) {
    // The new folder is in its place: what cannot be removed of the old one is only in the way.
  }
}

// The new folder takes the place of the old one, which gets its name.
void exchange(const fs::path& partial, const fs::path& target) {
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) folder_fail("replace", target, std::strerror(errno));
  const fs::path aside = unused_path_beside(target);
  if (::rename(target.c_str(), aside.c_str()) != 0) folder_fail("replace", target, std::strerror(errno));
  if (::rename(partial.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    ::rename(aside.c_str(), target.c_str());
    folder_fail("replace", target, std::strerror(reason));
  }
  ::rename(aside.c_str(), partial.c_str());
}

}  // namespace

void check_folder_target(const fs::path& folder, const std::string& maker) { additions(folder, maker); }

FolderWriter::FolderWriter(const fs::path& target, std::string maker) : maker_(std::move(maker)) {
  check_folder_target(target, maker_);
  std::error_code failed;
  target_ = fs::weakly_canonical(fs::absolute(target), failed);  // a link to a folder stays a link
  if (failed) folder_fail("write the folder", target, failed.message());
  if (!target_.has_filename()) target_ = target_.parent_path();
  create_folder(target_.parent_path());
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  partial_ = unused_path_beside(target_);
  if (::mkdir(partial_.c_str(), 0777) != 0) folder_fail("create folder", target, std::strerror(errno));
  if (replaces) ::chmod(partial_.c_str(), old.st_mode & 07777);
}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
}

void FolderWriter::commit() {
  write_manifest(partial_, maker_, {});
  const std::map<std::string, fs::file_status> others = additions(target_, maker_);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(target_, ignored))) {
    if (::rename(partial_.c_str(), target_.c_str()) != 0)
      folder_fail("write the folder", target_, std::strerror(errno));
  } else {
    keep(target_, others, partial_);
    exchange(partial_, target_);
    remove_replaced(partial_, target_);
  }
  partial_.clear();
}

FolderClaim::FolderClaim(fs::path folder, std::string maker)
    : folder_(std::move(folder)), maker_(std::move(maker)) {
  for (const auto& entry : additions(folder_, maker_)) others_.insert(entry.first);
  create_folder(folder_);
  // One that ends early has written nothing that counts as ours: it stays.
  write_text_file(folder_ / kManifestFile, fmt::format(fmt::runtime(kTitle), maker_) + "\n");
}

FolderClaim::~FolderClaim() {
  try {
    write_manifest(folder_, maker_, others_);
  } catch (const std::exception&) {
    // Then all counts as added: it stays where it is.
  }
}

}  // namespace tilewright
