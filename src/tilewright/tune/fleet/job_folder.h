// The files of jobs: FOLDER/jobs/ID.json and FOLDER/results/ID.json, each complete or absent, and
// FOLDER/logs. Coordinator and workers communicate only through these files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tilewright/tune/fleet/job.h"

namespace tilewright::tune {

class JobFolder {
 public:
  // Makes the folders that are missing. Errors (invalid input): cannot.
  explicit JobFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path logs() const { return folder_ / "logs"; }

  // Writes the job for the workers, unless it is there. Errors (invalid input): the id, cannot write.
  void write_job(const Job& job) const;
  // Errors (invalid input): no such job, an unreadable one.
  Job read_job(const std::string& id) const;
  // Durable on return. Errors (invalid input): cannot write (a full disk); then nothing is left behind.
  void write_result(const Job& job, const JobResult& result) const;
  // Nothing: no such file, a damaged one, or one that answers another request under the same id.
  std::optional<JobResult> read_result(const Job& job) const;
  // A result that submit() need not compute again. A failure of an earlier run is removed, as it
  // may have been the worker's (a tool of another version): the request is tried again.
  std::optional<JobResult> take_over(const Job& job) const;
  // Removes temporary files that killed processes left more than an hour ago.
  void sweep() const;

 private:
  std::filesystem::path folder_;
};

// Whether both are the same piece of work.
bool same_work(const Job& a, const Job& b);

}  // namespace tilewright::tune
