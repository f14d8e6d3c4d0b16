// Folders that a command writes. Each holds a list of the files we wrote, with digests (kManifestFile): only
// files that we wrote and that have not been changed since are replaced or removed later.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace tilewright {

inline constexpr const char* kManifestFile = ".tilewright";

// Whether `maker` (a verb, e.g. "generate") may write into `folder`: it is not there, empty, or holds what
// this maker wrote. Files that somebody added stay. Errors (invalid input), all in one: not a folder; a
// folder with content that this maker did not write; our files were changed since.
void check_folder_target(const std::filesystem::path& folder, const std::string& maker);

// A folder that appears complete or not at all: it is written next to `target` and replaces it at commit() in
// one step, keeping all files that were added there since we wrote it last. Without commit() nothing is left
// behind; a process that is killed leaves the old or the new folder whole, and perhaps a second one named
// TARGET.XXXXXX.
class FolderWriter {
 public:
  // Errors: those of check_folder_target; a folder that cannot be made.
  FolderWriter(const std::filesystem::path& target, std::string maker);
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;
  ~FolderWriter();

  const std::filesystem::path& path() const { return partial_; }  // write here
  // Errors: those of check_folder_target; something added that has the name of a file written now, or that is
  // neither file, folder nor link; cannot be written.
  void commit();

 private:
  std::filesystem::path target_, partial_;
  std::string maker_;
};

// A folder that is written in place, because tools run in it for hours and leave logs there. Files that were
// in it before and are not ours still count as the user's at the end.
class FolderClaim {
 public:
  // Makes the folder. Errors: those of check_folder_target; a folder that cannot be made.
  FolderClaim(std::filesystem::path folder, std::string maker);
  FolderClaim(const FolderClaim&) = delete;
  FolderClaim& operator=(const FolderClaim&) = delete;
  ~FolderClaim();

 private:
  std::filesystem::path folder_;
  std::string maker_;
  std::set<std::string> others_;  // paths in the folder that are not ours
};

}  // namespace tilewright
