// The other side of an executor, in the worker process: takes jobs from the folder, answers them with the
// handler of their kind, and puts the results into the folder.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace tilewright::tune {

// A request in, a reply out. An Error becomes JobStatus::kFailed with its text; an InterruptedError and
// std::bad_alloc say nothing about the request, and the job is tried again.
using JobHandler = std::function<std::string(const std::string& request)>;
struct JobKind {
  std::string name;
  JobHandler handler;
};

struct WorkerOptions {
  std::filesystem::path folder;
  std::vector<std::string> job_ids;  // these alone; empty: those that the stream of ids names, a line each
  int attempt = 1;                   // how often the jobs were begun, for their results
};

// What a worker hears and says: standard input, output and error of its process.
struct WorkerStreams {
  std::istream& ids;
  std::ostream& endings;
  std::ostream& errors;
};

// What `tilewright worker` does; returns the exit code. With ids on the stream (a local executor): says to
// `endings`, a JSON line each, how every job ended; this process ends when `ids` does, in the middle of a job
// too, and is killed when its parent dies. With `job_ids` (a job of Slurm): ends itself when a job takes
// longer than its limit, and reports to `errors` why one has no result.
int serve_jobs(const WorkerOptions& options, const std::vector<JobKind>& kinds, const WorkerStreams& streams);

// Exit codes that tell an executor how a worker ended.
inline constexpr int kWorkerTimedOut = 124, kWorkerCannotStore = 123, kWorkerInterrupted = 122;

}  // namespace tilewright::tune
