// The folder of an exploration. `study.json` is the question, written once; `candidates.jsonl` grows by a
// line for every candidate that was worked on, so a run that is killed at any moment loses only what its
// workers were doing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/tune/explore/exploration.h"
#include "tilewright/tune/fleet/folder_lock.h"

namespace tilewright::tune {

class Study {
 public:
  // Takes the folder for this process; makes it, with `question` (a JSON object), if there is none. Errors
  // (invalid input): another process works on it; it holds another question (names the fields that differ);
  // files that cannot be read or written.
  Study(const std::filesystem::path& folder, const std::string& question);

  // Lines of candidates.jsonl so far; of a point that occurs twice, the last.
  const KnownResults& known() const { return known_; }
  // Durable on return.
  void keep(const std::vector<CandidateResult>& results);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  FolderLock lock_;
  KnownResults known_;
};

// What a study holds, without taking it: the question, and the candidates in the order of their lines. Errors
// (invalid input): no study; files that cannot be read.
std::string read_question(const std::filesystem::path& folder);
std::vector<CandidateResult> read_candidates(const std::filesystem::path& folder);

// The known results whose hardware is unchanged, by `content` of the backend; the others have to be measured
// again.
KnownResults unchanged(const KnownResults& known, const ExplorationBackend& backend);

}  // namespace tilewright::tune
