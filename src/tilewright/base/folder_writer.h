// Folders that a command writes. A list of what we wrote, with digests, lies in each of them (kManifestFile):
// what is replaced or removed later is what we wrote and nobody has touched since, and nothing else.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace tilewright {

inline constexpr const char* kManifestFile = ".tilewright";

// Whether `maker` (a verb, e.g. "generate") may write into `folder`: it is not there, empty, or holds what
// this maker wrote. Files that somebody added stay there. Errors (invalid input), all in one: no folder; a
// folder that holds something and that this maker did not write; files of ours that were changed since.
void check_folder_target(const std::filesystem::path& folder, const std::string& maker);

// A folder that appears complete or not at all: it is written beside `target`, which it takes the place of at
// commit() in one step, with all that was added there since we wrote it last. Without commit() nothing is
// left behind; a process that is killed leaves the old or the new folder whole, and perhaps a second one
// named TARGET.XXXXXX.
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

// A folder that is written in place, because tools run in it for hours and leave logs there. What was in it
// before and is none of ours counts as the user's at the end, too.
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
